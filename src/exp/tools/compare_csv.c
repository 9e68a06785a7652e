/* A comparison as CSV: a line per row with every number of the table, unrounded, and every setting, also one that does
 * not vary (docs/compare.md). What is not known is empty. Of several seeds a number is three: its mean over them and
 * the ends of the mean's 95% interval. */
#include "exp/tools/compare.h"

#include <math.h>

static void real(struct pw_text *out, double value)
{
    pw_text_add(out, ",");
    if (isfinite(value))
        pw_text_real(out, value);
}

static void field(struct pw_text *out, const char *text)
{
    pw_text_add(out, ",");
    pw_text_csv_field(out, text);
}

/* "slowdown.ideal-tlb", "share.walk", "cycles", and what follows the name. */
static void name(const struct pw_compare *c, struct pw_compare_column column, const char *end, struct pw_text *out)
{
    struct pw_text text = {0};
    if (pw_compare_is_share(column))
        pw_text_add(&text, "share.");
    pw_text_add(&text, pw_compare_column_name(column));
    if (column.kind == PW_COMPARE_SLOWDOWN)
        pw_text_print(&text, ".%s", c->spec.references[column.number]);
    pw_text_add(&text, end);
    field(out, text.bytes ? text.bytes : "");
    pw_text_free(&text);
}

static void header(const struct pw_compare *c, struct pw_text *out)
{
    bool scatters = pw_compare_scatters(c);
    pw_text_print(out, "machine,design,workload,%s", scatters ? "n" : "seed");
    for (size_t k = 0; k < c->setting_count; k++)
        field(out, c->settings[k].key);
    for (size_t i = 0; i < c->column_count; i++) {
        name(c, c->columns[i], scatters ? ".mean" : "", out);
        if (scatters) {
            name(c, c->columns[i], ".low", out);
            name(c, c->columns[i], ".high", out);
        }
        if (scatters && c->columns[i].kind == PW_COMPARE_SLOWDOWN)
            name(c, c->columns[i], ".within", out);
    }
    pw_text_add(out, scatters ? ",previous,previous.mean,previous.low,previous.high,previous.within\n" : "\n");
}

static void interval(const struct pw_confidence *i, struct pw_text *out)
{
    real(out, i->mean);
    real(out, i->low);
    real(out, i->high);
}

/* Whether the interval of a ratio has 1; nothing where it is not known. */
static void within(const struct pw_confidence *i, bool known, struct pw_text *out)
{
    pw_text_add(out, !known || isnan(i->low) ? "," : pw_confidence_has(i, 1) ? ",true" : ",false");
}

static void intervals(const struct pw_compare *c, size_t row, struct pw_text *out)
{
    struct pw_compare_place p = pw_compare_place(c, row);
    for (size_t k = 0; k < c->column_count; k++) {
        struct pw_confidence i = pw_compare_interval(c, row, c->columns[k]);
        interval(&i, out);
        if (c->columns[k].kind == PW_COMPARE_SLOWDOWN)
            within(&i, !pw_compare_is_reference(c, row, c->columns[k].number), out);
    }
    struct pw_confidence step = pw_compare_step(c, row);
    field(out, p.design > 0 ? c->designs[p.design - 1] : "");
    interval(&step, out);
    within(&step, p.design > 0, out);
}

static void write_row(const struct pw_compare *c, size_t row, struct pw_text *out)
{
    struct pw_compare_place p = pw_compare_place(c, row);
    bool scatters = pw_compare_scatters(c);
    uint64_t seed = scatters ? pw_compare_interval(c, row, c->columns[0]).count : c->spec.seeds[p.seed];
    pw_text_csv_field(out, c->spec.machines[p.machine]);
    field(out, c->designs[p.design]);
    field(out, c->spec.workloads[p.workload]);
    pw_text_print(out, ",%llu", (unsigned long long)seed);
    for (size_t k = 0; k < c->setting_count; k++)
        field(out, pw_compare_shown_value(c, &p, k));
    if (scatters)
        intervals(c, row, out);
    for (size_t i = 0; !scatters && i < c->column_count; i++)
        real(out, pw_compare_number(c, row, c->columns[i]));
    pw_text_add(out, "\n");
}

void pw_compare_csv(const struct pw_compare *c, struct pw_text *out)
{
    header(c, out);
    for (size_t row = 0; row < c->row_count; row++)
        if (!pw_compare_repeats(c, row) && !(pw_compare_scatters(c) && pw_compare_place(c, row).seed))
            write_row(c, row, out);
}
