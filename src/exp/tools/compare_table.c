/* A comparison for people.
 *
 * What is the same in all rows is said once, above. Where all columns do not fit beside one another, the shares of
 * warps' time become a table of their own, as do numbers of demand paging; where that is not enough hit rates and waits
 * for translation do too, and in the end a table has as many columns as fit. */
#include "exp/tools/compare_internal.h"

#include <stdlib.h>
#include <string.h>

enum part { TIMES = 1, RATES = 2, PAGING = 4, SHARES = 8, WAITS = 16 };

static enum part part_of(struct pw_compare_column column)
{
    switch (column.kind) {
    case PW_COMPARE_SHARE:
        return SHARES;
    case PW_COMPARE_WAIT:
        return WAITS;
    case PW_COMPARE_L1_HITS:
    case PW_COMPARE_L2_HITS:
    case PW_COMPARE_WALKS:
        return RATES;
    case PW_COMPARE_MEMORY:
    case PW_COMPARE_TOUCHED:
    case PW_COMPARE_EVICTED:
        return PAGING;
    default:
        return TIMES;
    }
}

/* A share that is 0 everywhere needs no column, and where there is no demand paging its numbers need none. */
static bool is_shown(const struct pw_compare *c, struct pw_compare_column column)
{
    if (column.kind == PW_COMPARE_NANOSECONDS)
        return false;
    if (column.kind < PW_COMPARE_MEMORY)
        return true;
    for (size_t row = 0; row < c->row_count; row++) {
        double number = pw_compare_number(c, row, column);
        if (number > 0 || (number >= 0 && column.kind == PW_COMPARE_EVICTED))
            return true;
    }
    return false;
}

/* The columns of some parts; what translation costs is the first. */
static size_t choose_columns(const struct pw_compare *c, unsigned parts, struct pw_compare_column *out)
{
    size_t count = 0;
    for (int first = 1; first >= 0; first--)
        for (size_t i = 0; i < c->column_count; i++)
            if ((c->columns[i].kind == PW_COMPARE_DUE) == first && parts & part_of(c->columns[i]) &&
                is_shown(c, c->columns[i]))
                out[count++] = c->columns[i];
    return count;
}

/* What is the same in all rows. */
static void add_same(const struct pw_compare *c, struct pw_text *out)
{
    struct pw_text same = {0};
    if (c->spec.machine_count == 1)
        pw_text_print(&same, "machine %s", c->spec.machines[0]);
    if (c->spec.seed_count == 1)
        pw_text_print(&same, "%sseed %llu", same.length ? ", " : "", (unsigned long long)c->spec.seeds[0]);
    if (pw_compare_scatters(c))
        pw_text_print(&same, "%s%zu seeds", same.length ? ", " : "", c->spec.seed_count);
    for (size_t k = 0; k < c->setting_count; k++)
        if (c->settings[k].value_count == 1)
            pw_text_print(&same, "%s%s=%s", same.length ? ", " : "", c->settings[k].key, c->settings[k].values[0]);
    if (same.length) {
        pw_text_printable(out, same.bytes);
        pw_text_add(out, "\n");
    }
    pw_text_free(&same);
}

static void title(const struct pw_compare *c, struct pw_text *out)
{
    add_same(c, out);
    if (c->spec.reference_count)
        pw_text_add(out, "slowdown: cycles divided by the cycles of that design with all else the same\n");
    for (size_t i = 0; i < c->column_count; i++)
        if (c->columns[i].kind == PW_COMPARE_DUE)
            pw_text_add(out, "due to translation: the part of the cycles that ideal-tlb does not need\n");
    if (c->spec.alone)
        pw_text_add(out, "weighted speedup: sum of IPC / IPC alone; unfairness: largest IPC alone / IPC\n");
    if (pw_compare_scatters(c))
        pw_text_add(out, "±: 95% confidence interval of the mean over seeds (Student's t)\n");
    pw_text_add(out, "\n");
}

static bool fits(const struct pw_text *t, size_t columns)
{
    const char *at = t->bytes ? t->bytes : "";
    while (*at) {
        char line[512];
        size_t length = strcspn(at, "\n");
        if (length >= sizeof line)
            return false;
        memcpy(line, at, length);
        line[length] = '\0';
        if (pw_text_columns(line) > columns)
            return false;
        at += length + (at[length] == '\n');
    }
    return true;
}

/* Writes a table of these columns, under its title, if it is no wider than there is room, or if it `has_to`. */
static bool write_columns(const struct pw_compare *c, const struct pw_compare_column *columns, size_t count,
                          const char *heading, bool has_to, struct pw_text *out)
{
    struct pw_text table = {.width = has_to ? out->width : 0};
    pw_compare_rows(c, columns, count, &table);
    out->failed |= table.failed;
    bool written = has_to || fits(&table, out->width ? out->width : PW_PROSE_COLUMNS);
    if (written && table.bytes) {
        bool first = out->length < 2 || !strcmp(out->bytes + out->length - 2, "\n\n");
        pw_text_print(out, "%s%s%s", first ? "" : "\n", heading, table.bytes);
    }
    pw_text_free(&table);
    return written;
}

/* As many columns as fit, and those that are left in further tables. */
static void write_some(const struct pw_compare *c, const struct pw_compare_column *columns, size_t count,
                       const char *heading, struct pw_text *out)
{
    while (count) {
        size_t some = count;
        while (!write_columns(c, columns, some, heading, some == 1, out))
            some--;
        columns += some;
        count -= some;
    }
}

/* Two parts in one table where that fits. */
static void write_group(const struct pw_compare *c, unsigned first, unsigned second, const char *const *titles,
                        struct pw_compare_column *columns, struct pw_text *out)
{
    size_t count = choose_columns(c, first | second, columns);
    if (write_columns(c, columns, count, titles[0], false, out))
        return;
    count = choose_columns(c, first, columns);
    write_some(c, columns, count, titles[0], out);
    count = choose_columns(c, second, columns);
    write_some(c, columns, count, titles[1], out);
}

/* Says of the marks that are there what they mean. */
static void explain_marks(const struct pw_compare *c, struct pw_text *out)
{
    bool like_last = false, like_reference = false;
    for (size_t row = 0; pw_compare_scatters(c) && row < c->row_count; row++)
        for (size_t i = 0; i < c->column_count; i++) {
            const char *mark = pw_compare_mark(c, row, c->columns[i]);
            like_last |= !strcmp(mark, PW_COMPARE_LIKE_LAST);
            like_reference |= !strcmp(mark, PW_COMPARE_LIKE_REFERENCE);
        }
    if (like_last || like_reference)
        pw_text_add(out, "\n");
    if (like_reference)
        pw_text_add(out, PW_COMPARE_LIKE_REFERENCE " the difference from the reference lies within the interval\n");
    if (like_last)
        pw_text_add(out, PW_COMPARE_LIKE_LAST " the difference from the design before it lies within the interval\n");
}

void pw_compare_table(const struct pw_compare *c, struct pw_text *out)
{
    static const char *const rates[] = {"", "TLBs and page walks\n"};
    static const char *const shares[] = {"Where the time of warps goes, %\n", "Of that, waits for translation, %\n"};
    struct pw_compare_column *columns = calloc(c->column_count + 1, sizeof *columns);
    if (!columns) {
        out->failed = true;
        return;
    }
    title(c, out);
    size_t count = choose_columns(c, TIMES | RATES | PAGING | SHARES | WAITS, columns);
    if (!out->failed && !write_columns(c, columns, count, "", false, out)) {
        write_group(c, TIMES, RATES, rates, columns, out);
        write_some(c, columns, choose_columns(c, PAGING, columns), "Demand paging\n", out);
        write_group(c, SHARES, WAITS, shares, columns, out);
    }
    explain_marks(c, out);
    pw_compare_notes(c, out);
    free(columns);
}
