/* Matrix Market coordinate files (NIST, "The Matrix Market Exchange Formats"): a square matrix is a graph, and an entry
 * in row i and column j the edge from i to j, its weight the value (of a complex one the magnitude).
 *
 *     %%MatrixMarket matrix coordinate real|integer|complex|pattern general|symmetric|skew-symmetric|hermitian
 *     % COMMENT
 *     ROWS COLUMNS ENTRIES
 *     ROW COLUMN [VALUE [VALUE]]     exactly ENTRIES of them, from 1
 *
 * All but general matrices store one triangle; an entry off the diagonal is an edge each way, whose weight is negative
 * the other way where the matrix is skew-symmetric. */
#include "workload/graph/graph_read.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum symmetry { GENERAL, SYMMETRIC, SKEW_SYMMETRIC, HERMITIAN };

struct matrix {
    unsigned values; /* of an entry */
    enum symmetry symmetry;
    uint64_t entries;
};

static bool choose(const char *word, const char *const *names, unsigned *out)
{
    for (*out = 0; names[*out]; ++*out)
        if (!strcmp(word, names[*out]))
            return true;
    return false;
}

static enum pw_status read_banner(struct pw_graph_reader *r, struct matrix *m)
{
    static const char *const fields[] = {"pattern", "real", "integer", "complex", NULL};
    static const char *const symmetries[] = {"general", "symmetric", "skew-symmetric", "hermitian", NULL};
    char word[5][16];
    unsigned field, symmetry;
    for (int i = 0; i < 5; i++)
        pw_graph_word(r, word[i], sizeof word[i]);
    if (strcmp(word[0], "%%matrixmarket") != 0 || strcmp(word[1], "matrix") != 0 || strcmp(word[2], "coordinate") != 0)
        return pw_graph_fail(r, "a graph begins with '%%%%MatrixMarket matrix coordinate', not with '%s %s %s'",
                             word[0], word[1], word[2]);
    if (!choose(word[3], fields, &field))
        return pw_graph_fail(r, "values of kind '%s' are not pattern, real, integer or complex", word[3]);
    if (!choose(word[4], symmetries, &symmetry))
        return pw_graph_fail(r, "symmetry '%s' is not general, symmetric, skew-symmetric or hermitian", word[4]);
    if ((symmetry == HERMITIAN && field != 3) || (symmetry == SKEW_SYMMETRIC && !field))
        return pw_graph_fail(r, "a %s matrix cannot be %s", word[3], word[4]);
    m->values = field == 3 ? 2 : field > 0;
    m->symmetry = symmetry;
    r->weighted = m->values > 0;
    return pw_graph_next_line(r);
}

static enum pw_status read_size(struct pw_graph_reader *r, struct matrix *m)
{
    uint64_t columns;
    pw_graph_find_line(r, '%');
    enum pw_status status = pw_graph_nodes(r);
    if (status == PW_OK)
        status = pw_graph_number(r, "the number of columns", &columns);
    if (status == PW_OK && columns != r->nodes)
        status = pw_graph_fail(r, "a graph is a square matrix, not one of %llu rows and %llu columns",
                               (unsigned long long)r->nodes, (unsigned long long)columns);
    if (status == PW_OK)
        status = pw_graph_number(r, "the number of entries", &m->entries);
    return status == PW_OK ? pw_graph_next_line(r) : status;
}

static enum pw_status read_entry(struct pw_graph_reader *r, const struct matrix *m)
{
    uint32_t row, column;
    double value[2] = {0, 0};
    enum pw_status status = pw_graph_node(r, 1, &row);
    if (status == PW_OK)
        status = pw_graph_node(r, 1, &column);
    for (unsigned i = 0; status == PW_OK && i < m->values; i++)
        status = pw_graph_weight(r, "an entry's value", &value[i]);
    if (status == PW_OK && m->symmetry == SKEW_SYMMETRIC && row == column)
        status = pw_graph_fail(r, "a skew-symmetric matrix has no entries on its diagonal");
    if (m->values == 2)
        value[0] = fmin(sqrt(value[0] * value[0] + value[1] * value[1]), (double)FLT_MAX);
    if (status == PW_OK)
        status = pw_graph_append(r, row, column, value[0]);
    if (status == PW_OK && m->symmetry != GENERAL && row != column)
        status = pw_graph_append(r, column, row, m->symmetry == SKEW_SYMMETRIC ? -value[0] : value[0]);
    return status == PW_OK ? pw_graph_next_line(r) : status;
}

enum pw_status pw_graph_read_matrix_market(struct pw_graph_reader *r)
{
    struct matrix m = {0};
    uint64_t entries = 0;
    enum pw_status status = read_banner(r, &m);
    if (status == PW_OK)
        status = read_size(r, &m);
    for (; status == PW_OK && pw_graph_find_line(r, '%'); entries++)
        status = entries < m.entries ? read_entry(r, &m)
                                     : pw_graph_fail(r, "more than the %llu entries that were announced",
                                                     (unsigned long long)m.entries);
    if (status == PW_OK && entries < m.entries)
        status = pw_graph_fail(r, "the file ends after %llu of %llu entries", (unsigned long long)entries,
                               (unsigned long long)m.entries);
    return status;
}
