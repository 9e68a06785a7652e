/* How a table is laid out in the columns there are.
 *
 * One that fits, or whose text has no width, has a line per row. Otherwise cells are broken at words:
 *
 * - text, a wide left-aligned last column, goes on below itself, or where the other columns leave it too little room on
 *   lines of its own under the row;
 * - a table of numbers has headings and labels broken, and where that is not enough comes in blocks of as many columns
 *   as fit, section by section, each with the labels at its front, the headings above it and a last column of units
 *   behind it.
 *
 * A cell that is wider than its column all the same, since it is one word, pushes the cells after it to the next line.
 * Trailing blanks are never written. */
#include "exp/format/table.h"

#include <stdlib.h>
#include <string.h>

enum { GAP = 2, TEXT_MIN = 32, UNIT_MAX = 16, TEXT_INDENT = 4 };

/* What a word of a left-aligned column may widen it to, from generous to narrow; half as much again in the first. */
enum { ANY_WORD = 1 << 20 };
static const size_t word_limits[] = {ANY_WORD, 16, 12, 8};

struct grid {
    const struct pw_table *t;
    struct pw_text *out;
    size_t indent, limit;
    size_t start;       /* length of `out` before the table */
    const char **cells; /* headings too */
    size_t natural[PW_TABLE_MAX_COLUMNS], word[PW_TABLE_MAX_COLUMNS], width[PW_TABLE_MAX_COLUMNS];
};

static bool is_right(const struct grid *g, size_t column)
{
    size_t given = strlen(g->t->align);
    return g->t->align[column < given ? column : given - 1] == 'r';
}

static bool is_heading(const struct grid *g, size_t cell)
{
    return g->cells[cell][0] == PW_TABLE_HEADING;
}

static size_t longest_word(const char *cell)
{
    size_t longest = 0;
    while (*cell) {
        size_t length = strcspn(cell, " "), columns = pw_text_columns_of(cell, length);
        longest = columns > longest ? columns : longest;
        cell += length;
        cell += strspn(cell, " ");
    }
    return longest;
}

/* Numbers are not broken, but the headings above them are. */
static void measure(struct grid *g)
{
    bool first = true;
    for (size_t i = 0; i < g->t->cells;) {
        if (is_heading(g, i)) {
            i++;
            continue;
        }
        for (size_t c = 0; c < g->t->columns && i < g->t->cells; c++, i++) {
            size_t columns = pw_text_columns(g->cells[i]);
            size_t word = first || !is_right(g, c) ? longest_word(g->cells[i]) : columns;
            g->natural[c] = columns > g->natural[c] ? columns : g->natural[c];
            g->word[c] = word > g->word[c] ? word : g->word[c];
        }
        first = false;
    }
}

/* Columns that the first `count` of the table take. */
static size_t total(const struct grid *g, size_t count)
{
    size_t sum = g->indent;
    for (size_t c = 0; c < count; c++)
        sum += g->width[c] + (c ? GAP : 0);
    return sum;
}

static size_t narrowest(const struct grid *g, size_t column, size_t word_limit)
{
    size_t word = g->word[column], most = column ? word_limit : word_limit + word_limit / 2;
    return is_right(g, column) || word < most ? word : most;
}

/* Makes the widest of the first `count` columns narrower until they fit in `room`; false when they cannot. */
static bool shrink(struct grid *g, size_t count, size_t room, size_t word_limit)
{
    memcpy(g->width, g->natural, sizeof g->width);
    while (total(g, count) > room) {
        size_t widest = count;
        for (size_t c = 0; c < count; c++)
            if (g->width[c] > narrowest(g, c, word_limit) && (widest == count || g->width[c] > g->width[widest]))
                widest = c;
        if (widest == count)
            return false;
        g->width[widest]--;
    }
    return true;
}

static void shrink_at_all_costs(struct grid *g, size_t count)
{
    for (size_t i = 0; i < sizeof word_limits / sizeof *word_limits; i++)
        if (shrink(g, count, g->limit, word_limits[i]))
            return;
}

/* Writes one line of what is left of a row's cells and takes it off them; whether any is left. */
static bool write_line(struct grid *g, const char **rest, const size_t *columns, size_t count)
{
    size_t start = g->indent, at = 0;
    bool left = false, pushed = false;
    for (size_t k = 0; k < count; k++) {
        size_t c = columns[k], width = g->width[c], length = pw_text_line(rest[k], width);
        size_t shown = pw_text_columns_of(rest[k], length);
        size_t target = start + (is_right(g, c) && shown < width ? width - shown : 0);
        start += width + GAP;
        pushed |= at > 0 && length > 0 && target < at + GAP;
        if (length > 0 && !pushed) {
            pw_text_fill(g->out, ' ', target - at);
            pw_text_append(g->out, rest[k], length);
            at = target + shown;
            rest[k] += length;
            rest[k] += strspn(rest[k], " ");
        }
        left |= *rest[k] != '\0';
    }
    pw_text_add(g->out, "\n");
    return left;
}

static void write_row(struct grid *g, size_t row, const size_t *columns, size_t count)
{
    const char *rest[PW_TABLE_MAX_COLUMNS];
    for (size_t k = 0; k < count; k++)
        rest[k] = g->cells[row + columns[k]];
    while (write_line(g, rest, columns, count))
        continue;
}

static void write_heading(struct grid *g, size_t cell)
{
    pw_text_add(g->out, g->out->length > g->start ? "\n" : "");
    if (g->limit)
        pw_text_prose(g->out, 0, 0, g->cells[cell] + 1);
    else
        pw_text_print(g->out, "%s\n", g->cells[cell] + 1);
}

/* A line per row, or more where cells are broken; text on lines of its own is that of the last column. */
static void write_plain(struct grid *g, bool text_apart)
{
    size_t columns[PW_TABLE_MAX_COLUMNS] = {0};
    for (size_t c = 0; c < g->t->columns; c++)
        columns[c] = c;
    for (size_t i = 0; i < g->t->cells;) {
        if (is_heading(g, i)) {
            write_heading(g, i++);
            continue;
        }
        write_row(g, i, columns, g->t->columns - text_apart);
        i += g->t->columns;
        if (text_apart && g->cells[i - 1][0])
            pw_text_prose(g->out, g->indent + TEXT_INDENT, g->indent + TEXT_INDENT, g->cells[i - 1]);
    }
}

/* Which columns stand in every block, before and behind its own, and how the others are shared out. */
struct blocks {
    size_t end;    /* the columns from 1 up to here are shared out */
    size_t each;   /* so many a block */
    bool units;    /* the last column stands in every block */
    size_t titles; /* the row that stands above every block */
};

static size_t block_columns(const struct grid *g, const struct blocks *b, size_t first)
{
    size_t last = g->t->columns - 1;
    size_t used = g->indent + g->width[0] + (b->units ? GAP + g->width[last] : 0);
    for (size_t c = first; c < b->end && c < first + b->each; c++)
        used += GAP + g->width[c];
    return used;
}

static size_t widest_block(const struct grid *g, const struct blocks *b)
{
    size_t widest = 0;
    for (size_t first = 1; first < b->end; first += b->each) {
        size_t columns = block_columns(g, b, first);
        widest = columns > widest ? columns : widest;
    }
    return widest;
}

/* As few blocks as possible, of much the same size; labels get what is left over. */
static struct blocks share_out(struct grid *g)
{
    size_t last = g->t->columns - 1;
    struct blocks b = {.units = !is_right(g, last) && last > 1, .titles = is_heading(g, 0) ? 1 : 0};
    b.end = b.units ? last : last + 1;
    size_t shared = b.end - 1;
    for (size_t count = 1; count <= shared; count++) {
        b.each = (shared + count - 1) / count;
        if (widest_block(g, &b) <= g->limit)
            break;
    }
    while (g->width[0] < g->natural[0] && widest_block(g, &b) < g->limit)
        g->width[0]++;
    return b;
}

/* The rows from `from` to `to`, in blocks. */
static void write_blocks(struct grid *g, const struct blocks *b, size_t from, size_t to)
{
    for (size_t first = 1; first < b->end; first += b->each) {
        size_t columns[PW_TABLE_MAX_COLUMNS] = {0}, count = 1;
        for (size_t c = first; c < b->end && c < first + b->each; c++)
            columns[count++] = c;
        if (b->units)
            columns[count++] = g->t->columns - 1;
        pw_text_add(g->out, first > 1 ? "\n" : "");
        if (b->each + 1 < b->end || b->titles == from)
            write_row(g, b->titles, columns, count);
        for (size_t row = from; row < to; row += g->t->columns)
            if (row != b->titles)
                write_row(g, row, columns, count);
    }
}

static void write_sections(struct grid *g)
{
    size_t cells = g->t->cells;
    struct blocks b = share_out(g);
    for (size_t i = 0; i < cells;) {
        if (is_heading(g, i)) {
            write_heading(g, i++);
            continue;
        }
        size_t end = i;
        while (end < cells && !is_heading(g, end))
            end += g->t->columns;
        bool only_titles = i == b.titles && end == i + g->t->columns && end < cells;
        if (!only_titles) /* otherwise they stand above the blocks of each section */
            write_blocks(g, &b, i, end);
        i = end;
    }
}

static void lay_out(struct grid *g)
{
    size_t count = g->t->columns, last = count - 1;
    memcpy(g->width, g->natural, sizeof g->width);
    if (!g->limit || total(g, count) <= g->limit) {
        write_plain(g, false);
        return;
    }
    if (count > 1 && !is_right(g, last) && g->natural[last] > UNIT_MAX) {
        size_t wanted = GAP + (g->word[last] > TEXT_MIN ? g->word[last] : TEXT_MIN);
        bool beside = g->limit > wanted && shrink(g, last, g->limit - wanted, ANY_WORD);
        if (beside)
            g->width[last] = g->limit - GAP - total(g, last);
        else
            shrink_at_all_costs(g, last);
        write_plain(g, !beside);
        return;
    }
    for (size_t i = 0; i < 2; i++)
        if (shrink(g, count, g->limit, word_limits[i])) {
            write_plain(g, false);
            return;
        }
    write_sections(g);
}

void pw_table_finish(struct pw_table *t, struct pw_text *out)
{
    struct grid g = {
        .t = t, .out = out, .indent = t->indent ? strlen(t->indent) : 0, .limit = out->width, .start = out->length};
    g.cells = calloc(t->cells + 1, sizeof *g.cells);
    if (t->bytes.failed || !g.cells)
        out->failed = true;
    if (t->cells && !out->failed) {
        const char *cell = t->bytes.bytes;
        for (size_t i = 0; i < t->cells; i++, cell += strlen(cell) + 1)
            g.cells[i] = cell;
        measure(&g);
        lay_out(&g);
    }
    free(g.cells);
    pw_text_free(&t->bytes);
    t->cells = 0;
}
