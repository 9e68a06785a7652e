/* Reads a graph from a file: opens it, tells the format, and turns the edges that a reader has appended into rows.
 *
 * The format is told from the first bytes: the Matrix Market banner; '#' (SNAP), '%' (METIS) or a line of DIMACS; a
 * single number (Rodinia). Lines of several numbers are an edge list, unless the file's name ends as METIS files do.
 *
 * Edges come in file order and are sorted by source, stably, by counting; where sources only rise there is nothing to
 * sort. The row table has an entry per node, and only a header may say how many there are; so nodes without edges are
 * accepted in proportion to those with edges. */
#include "workload/graph/graph_read.h"

#include "workload/runtime/inputs.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BUFFER_BYTES = 1 << 20,
    MIN_EDGES_CAPACITY = 1024,
    FREE_NODES = 1 << 20, /* that a file may have without any edge */
    NODES_PER_EDGE = 64,  /* more, for each edge it has */
};

const char *const pw_graph_formats[] = {"auto", "rodinia", "metis", "dimacs", "matrix-market", "snap", NULL};
_Static_assert(sizeof pw_graph_formats / sizeof *pw_graph_formats == PW_GRAPH_FORMAT_COUNT + 1, "a name each");

static pw_graph_reader_fn *const readers[PW_GRAPH_FORMAT_COUNT] = {
    [PW_GRAPH_RODINIA] = pw_graph_read_rodinia, [PW_GRAPH_METIS] = pw_graph_read_metis,
    [PW_GRAPH_DIMACS] = pw_graph_read_dimacs,   [PW_GRAPH_MATRIX_MARKET] = pw_graph_read_matrix_market,
    [PW_GRAPH_SNAP] = pw_graph_read_snap,
};

static bool grow(void *array, uint64_t capacity, size_t element_bytes)
{
    uint64_t bytes;
    void *old, *larger = NULL;
    memcpy(&old, array, sizeof old);
    if (!__builtin_mul_overflow(capacity, element_bytes, &bytes))
        larger = realloc(old, bytes);
    if (larger)
        memcpy(array, &larger, sizeof larger);
    return larger != NULL;
}

static enum pw_status grow_edges(struct pw_graph_reader *r)
{
    uint64_t capacity = r->edges_capacity ? 2 * r->edges_capacity : MIN_EDGES_CAPACITY;
    if (!grow(&r->source, capacity, sizeof *r->source) || !grow(&r->target, capacity, sizeof *r->target) ||
        (r->weighted && !grow(&r->weight, capacity, sizeof *r->weight)))
        return pw_fail(r->err, PW_FAILED, "%s: out of memory after %llu edges", r->path, (unsigned long long)r->edges);
    r->edges_capacity = capacity;
    return PW_OK;
}

enum pw_status pw_graph_append(struct pw_graph_reader *r, uint32_t source, uint32_t target, double weight)
{
    if (r->edges == r->edges_capacity && grow_edges(r))
        return PW_FAILED;
    r->out_of_order |= r->edges && source < r->source[r->edges - 1];
    r->source[r->edges] = source;
    r->target[r->edges] = target;
    if (r->weighted)
        r->weight[r->edges] = (float)weight;
    r->edges++;
    return PW_OK;
}

enum pw_status pw_graph_append_both(struct pw_graph_reader *r, uint32_t source, uint32_t target, double weight)
{
    enum pw_status status = pw_graph_append(r, source, target, weight);
    if (status == PW_OK && source != target)
        status = pw_graph_append(r, target, source, weight);
    return status;
}

/* Sorts targets and weights by source. `first` holds the rows' beginnings and is left shifted: every row at its end. */
static enum pw_status sort_edges(struct pw_graph_reader *r, uint64_t *first)
{
    uint32_t *target = malloc((r->edges + 1) * sizeof *target);
    float *weight = r->weighted ? malloc((r->edges + 1) * sizeof *weight) : NULL;
    if (!target || (r->weighted && !weight)) {
        free(target);
        free(weight);
        return pw_fail(r->err, PW_FAILED, "%s: out of memory for sorting %llu edges", r->path,
                       (unsigned long long)r->edges);
    }
    for (uint64_t e = 0; e < r->edges; e++) {
        uint64_t at = first[r->source[e]]++;
        target[at] = r->target[e];
        if (weight)
            weight[at] = r->weight[e];
    }
    free(r->target);
    free(r->weight);
    r->target = target;
    r->weight = weight;
    return PW_OK;
}

static enum pw_status make_rows(struct pw_graph_reader *r, struct pw_graph *out)
{
    uint64_t *first = calloc(r->nodes + 1, sizeof *first);
    if (!first)
        return pw_fail(r->err, PW_FAILED, "%s: out of memory for %llu nodes", r->path, (unsigned long long)r->nodes);
    for (uint64_t e = 0; e < r->edges; e++)
        first[r->source[e] + 1]++;
    for (uint64_t v = 0; v < r->nodes; v++)
        first[v + 1] += first[v];
    if (r->out_of_order) {
        if (sort_edges(r, first)) {
            free(first);
            return PW_FAILED;
        }
        memmove(first + 1, first, r->nodes * sizeof *first);
        first[0] = 0;
    }
    *out = (struct pw_graph){.nodes = (uint32_t)r->nodes,
                             .source = r->first_node,
                             .edges = r->edges,
                             .first = first,
                             .target = r->target,
                             .weight = r->weight};
    r->target = NULL;
    r->weight = NULL;
    return PW_OK;
}

static enum pw_status check_nodes(struct pw_graph_reader *r)
{
    r->line = r->nodes_line ? r->nodes_line : r->line;
    if (!r->nodes)
        return pw_graph_fail(r, "the graph has no nodes");
    if (r->nodes > FREE_NODES && (r->nodes - FREE_NODES) / NODES_PER_EDGE > r->edges)
        return pw_graph_fail(r, "%llu nodes are announced, but only %llu edges follow", (unsigned long long)r->nodes,
                             (unsigned long long)r->edges);
    return PW_OK;
}

static bool begins(const struct pw_graph_reader *r, const char *bytes)
{
    size_t length = strlen(bytes);
    return (size_t)(r->end - r->next) >= length && !strncasecmp((const char *)r->next, bytes, length);
}

static bool name_ends(const char *path, const char *end)
{
    size_t length = strlen(path), wanted = strlen(end);
    return length > wanted && !strcasecmp(path + length - wanted, end);
}

/* Of a line that begins with a digit: one number, or several. */
static enum pw_graph_format tell_numbers(const struct pw_graph_reader *r, const unsigned char *line)
{
    const unsigned char *s = line;
    while (s < r->end && isdigit(*s))
        s++;
    while (s < r->end && (*s == ' ' || *s == '\t' || *s == '\r'))
        s++;
    if (s < r->end && *s == '\n')
        return PW_GRAPH_RODINIA;
    return name_ends(r->path, ".graph") || name_ends(r->path, ".metis") ? PW_GRAPH_METIS : PW_GRAPH_SNAP;
}

static enum pw_status tell_format(struct pw_graph_reader *r, enum pw_graph_format *format)
{
    static const char *const packed[] = {"\x1f\x8b", "BZh", "\3757zXZ", "\x28\xb5\x2f\xfd", "PK\x03\x04"};
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++)
        if (begins(r, packed[i]))
            return pw_graph_fail(r, "the file is compressed; unpack it first");
    if (*format != PW_GRAPH_AUTO)
        return PW_OK;
    const unsigned char *s = r->next;
    while (s < r->end && isspace(*s))
        s++;
    int c = s < r->end ? *s : -1, after = s + 1 < r->end ? s[1] : '\n';
    if (begins(r, "%%MatrixMarket"))
        *format = PW_GRAPH_MATRIX_MARKET;
    else if (c == '#')
        *format = PW_GRAPH_SNAP;
    else if (c == '%')
        *format = PW_GRAPH_METIS;
    else if ((c == 'c' || c == 'p') && isspace(after))
        *format = PW_GRAPH_DIMACS;
    else if (c >= '0' && c <= '9')
        *format = tell_numbers(r, s);
    else
        return pw_graph_fail(r, "%s",
                             c < 0 ? "the file is empty"
                                   : "this is no graph in Rodinia, METIS, DIMACS, Matrix Market or SNAP format");
    return PW_OK;
}

static enum pw_status open_file(struct pw_graph_reader *r)
{
    struct stat info;
    r->file = open(r->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (r->file < 0)
        return pw_fail(r->err, PW_USER_ERROR, "%s: cannot open the graph: %s", r->path, strerror(errno));
    if (fstat(r->file, &info) || !S_ISREG(info.st_mode))
        return pw_fail(r->err, PW_USER_ERROR, "%s: a graph must be a regular file", r->path);
    r->capacity = info.st_size < BUFFER_BYTES ? (size_t)info.st_size + 1 : BUFFER_BYTES;
    r->buffer = malloc(r->capacity);
    return r->buffer ? PW_OK : pw_fail_memory(r->err, "reading a graph");
}

static void close_file(struct pw_graph_reader *r)
{
    if (r->file >= 0)
        close(r->file);
    free(r->buffer);
    free(r->source);
    free(r->target);
    free(r->weight);
}

enum pw_status pw_graph_read(const char *path, enum pw_graph_format format, struct pw_graph *out, struct pw_error *err)
{
    struct pw_graph_reader r = {.path = path, .err = err, .line = 1};
    *out = (struct pw_graph){0};
    enum pw_status status = open_file(&r);
    if (status == PW_OK) {
        pw_graph_refill(&r);
        if (begins(&r, "\xef\xbb\xbf"))
            r.next += 3;
        status = tell_format(&r, &format);
    }
    if (status == PW_OK)
        status = readers[format](&r);
    if (status == PW_OK)
        status = check_nodes(&r);
    if (r.read_error)
        status = pw_fail(err, PW_USER_ERROR, "%s: cannot read: %s", path, strerror(r.read_error));
    if (status == PW_OK)
        status = make_rows(&r, out);
    close_file(&r);
    return status;
}

void pw_graph_free(struct pw_graph *g)
{
    free(g->first);
    free(g->target);
    free(g->weight);
    *g = (struct pw_graph){0};
}

enum pw_status pw_graph_digest(const char *path, uint64_t *out, struct pw_error *err)
{
    struct pw_graph_reader r = {.path = path, .err = err};
    enum pw_status status = open_file(&r);
    uint64_t digest = 0, bytes = 0;
    while (status == PW_OK && pw_graph_refill(&r))
        for (size_t left; (left = (size_t)(r.end - r.next)) > 0; r.next += left < 8 ? left : 8) {
            uint64_t word = 0;
            memcpy(&word, r.next, left < 8 ? left : 8);
            digest = pw_hash(digest ^ word, bytes);
            bytes += left < 8 ? left : 8;
        }
    if (r.read_error)
        status = pw_fail(err, PW_USER_ERROR, "%s: cannot read: %s", path, strerror(r.read_error));
    *out = pw_hash(digest, bytes);
    close_file(&r);
    return status;
}
