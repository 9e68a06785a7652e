/* Graph files: one graph in all formats, random graphs written and read back, and every way a file can be wrong.
 * Nothing a file says may cost more memory than the file has bytes for. */
#include "workload.h"

#include "sim/random.h"
#include "workload/graph/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void write_bytes(const char *name, const char *bytes, size_t length)
{
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static struct pw_graph read_text(const char *name, enum pw_graph_format format, const char *text)
{
    struct pw_graph g;
    struct pw_error err = {0};
    write_bytes(name, text, strlen(text));
    if (pw_graph_read(name, format, &g, &err))
        fail_msg("%s", err.message);
    return g;
}

/* "0>1,2 1>0": nodes with their targets. */
static void describe(const struct pw_graph *g, char *out, size_t capacity)
{
    size_t used = 0;
    for (uint32_t v = 0; v < g->nodes; v++) {
        used += (size_t)snprintf(out + used, capacity - used, "%s%u>", v ? " " : "", v);
        for (uint64_t e = g->first[v]; e < g->first[v + 1]; e++) {
            used += (size_t)snprintf(out + used, capacity - used, "%s%u", e > g->first[v] ? "," : "", g->target[e]);
            if (g->weight)
                used += (size_t)snprintf(out + used, capacity - used, ":%g", (double)g->weight[e]);
        }
    }
}

static void expect_graph(const char *name, const char *text, const char *expected)
{
    char found[1024];
    struct pw_graph g = read_text(name, PW_GRAPH_AUTO, text);
    describe(&g, found, sizeof found);
    assert_string_equal(found, expected);
    pw_graph_free(&g);
}

static void expect_failure(const char *name, const char *text, const char *message)
{
    struct pw_graph g;
    struct pw_error err = {0};
    write_bytes(name, text, strlen(text));
    assert_int_equal(pw_graph_read(name, PW_GRAPH_AUTO, &g, &err), PW_USER_ERROR);
    assert_string_equal(err.message, message);
    assert_null(g.first);
}

static void the_examples_are_one_graph(void **state)
{
    (void)state;
    static const char weighted[] = "0>1:4,2:1 1>0:4,2:2,3:5 2>0:1,1:2,4:8 3>1:5,4:3,5:6 4>2:8,3:3,5:2 5>3:6,4:2";
    static const char plain[] = "0>1,2 1>0,2,3 2>0,1,4 3>1,4,5 4>2,3,5 5>3,4";
    static const char *const files[] = {"house.rodinia.txt", "house.graph", "house.gr", "house.mtx",
                                        "house.snap.txt",    "house.csv",   "house.col"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[1024], found[1024];
        struct pw_graph g;
        struct pw_error err = {0};
        snprintf(path, sizeof path, "%s/graphs/%s", PW_EXAMPLES, files[i]);
        if (pw_graph_read(path, PW_GRAPH_AUTO, &g, &err))
            fail_msg("%s", err.message);
        describe(&g, found, sizeof found);
        assert_string_equal(found, i < 6 ? weighted : plain);
        pw_graph_free(&g);
    }
}

static void edges_stay_as_the_file_has_them(void **state)
{
    (void)state;
    expect_graph("list", "7 7\n9 7\n7 9\n7 9\n", "0>0,1,1 1>0");
    expect_graph("list", "# comment\n5,6\n\n% more\n6\t5,", "0>1 1>0");
    expect_graph("list", "# Directed graph\n1 2\n1 3\n", "0>1,2 1> 2>");
    expect_graph("list", "# Undirected graph: x\n1 2 0.5 ignored\n2 2 -1e2\n", "0>1:0.5 1>0:0.5,1:-100");
    expect_graph("list",
                 "\xef\xbb\xbf"
                 "18446744073709551615 0\n",
                 "0>1 1>");
    expect_graph("r", "2\n0 1 1 1\n1\n2\n1 5\n1 6", "0>1:5 1>1:6");
    expect_graph("m.graph", "3 2\n2\n1 2\n\n", "0>1 1>0,1 2>");
    expect_graph("m.graph", "%c\n3 2 111 2\n9 8 7 2 5\n%c\n9 8 7 1 5 3 6\n9 8 7 2 6\n", "0>1:5 1>0:5,2:6 2>1:6");
    expect_graph("d", "c x\np sp 3 3\na 3 1 7\na 1 1 2\na 3 1 7\n", "0>0:2 1> 2>0:7,0:7");
    expect_graph("d", "c\np col 3 99\nn 1 5\ne 1 2\ne 3 3\ne 1 2\n", "0>1,1 1>0,0 2>2");
}

static void matrices_mirror_as_their_symmetry_says(void **state)
{
    (void)state;
#define BANNER "%%MatrixMarket matrix coordinate "
    expect_graph("m", BANNER "pattern general\n% c\n\n2 2 2\n2 1\n2 2\n", "0> 1>0,1");
    expect_graph("m", BANNER "real symmetric\n2 2 2\n2 1 1.5D1\n2 2 3\n", "0>1:15 1>0:15,1:3");
    expect_graph("m", BANNER "integer skew-symmetric\n2 2 1\n2 1 4\n", "0>1:-4 1>0:4");
    expect_graph("m", BANNER "complex hermitian\n2 2 1\n2 1 3 -4\n", "0>1:5 1>0:5");
    expect_graph("m", "%%matrixmarket MATRIX Coordinate Real General\r\n1 1 1\r\n1 1 .5\r\n", "0>0:0.5");
}

static void lines_end_as_anybody_ends_them(void **state)
{
    (void)state;
    expect_graph("list", "1 2\r\n2 1\r\n", "0>1 1>0");
    expect_graph("m.graph", "3 1\r\n2\r\n1\r\n\r\n", "0>1 1>0 2>");
    expect_graph("d", "p edge 2 1\r\ne 1 2", "0>1 1>0");
    expect_graph("r", "\n 1\r\n0\t1\r\n0\r\n1\r\n0 3\r\n\r\n", "0>0:3");
}

static void mistakes_have_a_place_and_a_reason(void **state)
{
    (void)state;
    expect_failure("f", "", "f:1: the file is empty");
    expect_failure("f", "hello\n", "f:1: this is no graph in Rodinia, METIS, DIMACS, Matrix Market or SNAP format");
    expect_failure("f", "\x1f\x8b\x08", "f:1: the file is compressed; unpack it first");
    expect_failure("f", "# only\n# comments\n", "f:3: the graph has no nodes");
    expect_failure("f", "1 2\n3\n", "f:2: expected a node's number, found the end of the line");
    expect_failure("f", "1 2\n3 x\n", "f:2: expected a node's number, found 'x'");
    expect_failure("f", "1 2\n3 4y\n", "f:2: expected a node's number, found '4y'");
    expect_failure("f", "1 2\n-3 4\n", "f:2: expected a node's number, found '-3'");
    expect_failure("f", "1 2\n1 2 3\n", "f:2: this edge has a weight, but the first one has none");
    expect_failure("f", "1 2 1\n1 2\n", "f:2: expected an edge's weight, found the end of the line");
    expect_failure("f", "1 2 nan\n", "f:1: expected an edge's weight, found 'nan'");
    expect_failure("f", "1 2 0x10\n", "f:1: expected an edge's weight, found '0x10'");
    expect_failure("f", "1 2 1e39\n", "f:1: 1e39 is too large for an edge's weight");
    expect_failure("f", "1 18446744073709551616\n", "f:1: expected a node's number, found a number beyond 64 bits");
    expect_failure("f", "1 184467440737095516160\n", "f:1: expected a node's number, found a number beyond 64 bits");
    expect_failure("f", "1 2 0.00000000000000000000000000000000000000000000000000000000000000001\n",
                   "f:1: expected an edge's weight, found '0.000000000000000000'");
    expect_failure("f", "1 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n",
                   "f:1: expected a node's number, found 'aaaaaaaaaaaaaaaaaaaaaaa…'");
    expect_failure("f", "2\n0 1\n0 1\n", "f:3: node 1 begins at edge 0, but the nodes before it end at 1");
    expect_failure("f", "2\n0 1\n1 1\n2\n2\n", "f:4: node 2 is not one of 0 to 1");
    expect_failure("f", "2\n0 1\n1 1\n0\n3\n", "f:5: 3 edges are announced, but the nodes have 2");
    expect_failure("f", "1\n0 1\n0\n1\n0 1 2\n", "f:5: something follows after the last edge");
    expect_failure("f", "1\n0 2\n0\n2\n0 1\n", "f:6: expected a node's number, found the end of the file");
    expect_failure("f", "2\n0 18446744073709551615\n18446744073709551615 1\n", "f:3: node 1 has too many edges");
    expect_failure("f", "0\n0\n0\n", "f:1: the graph has no nodes");
    expect_failure("f.graph", "3 1\n2\n1\n", "f.graph:4: the file ends after node 2 of 3");
    expect_failure("f.graph", "2 1\n2\n1\n1\n", "f.graph:4: something follows after node 2, the last one");
    expect_failure("f.graph", "2 2\n2\n1\n",
                   "f.graph:1: 2 edges are announced, but the nodes list 2 neighbours instead of twice that");
    expect_failure("f.graph", "2 1\n3\n1\n", "f.graph:2: node 3 is not one of 1 to 2");
    expect_failure("f.graph", "2 1\n0\n1\n", "f.graph:2: node 0 is not one of 1 to 2");
    expect_failure("f.graph", "2 1 12\n", "f.graph:1: format 012 is not made of three digits 0 or 1");
    expect_failure("f.graph", "2 1 10 99999\n",
                   "f.graph:1: 99999 is too large for the number of node weights: at most 65535");
    expect_failure("f.graph", "2 1 1\n2\n", "f.graph:2: expected an edge's weight, found the end of the line");
    expect_failure("f", "c\n", "f:2: there is no line p");
    expect_failure("f", "p sp 2 1\ne 1 2\n", "f:2: this problem has lines a, not e");
    expect_failure("f", "p sp 2 2\na 1 2 3\n", "f:3: 2 arcs are announced, but there are 1");
    expect_failure("f", "p sp 2 1\np sp 2 1\n", "f:2: a second line p");
    expect_failure("f", "p max 2 1\n", "f:1: problem 'max' is not sp, edge, col or clq");
    expect_failure("f", "c\na 1 2 3\n", "f:2: an edge before the line p");
    expect_failure("f", "p edge 2 1\nz\n", "f:2: a line begins with 'z' instead of c, p, a or e");
    expect_failure("f", "p edge 2 1\ne 1 2 3\n", "f:2: expected the end of the line, found '3'");
    expect_failure(
        "f", "%%MatrixMarket matrix array real general\n",
        "f:1: a graph begins with '%%MatrixMarket matrix coordinate', not with '%%matrixmarket matrix array'");
    expect_failure("f", BANNER "quaternion general\n",
                   "f:1: values of kind 'quaternion' are not pattern, real, integer or complex");
    expect_failure("f", BANNER "real\n", "f:1: symmetry '' is not general, symmetric, skew-symmetric or hermitian");
    expect_failure("f", BANNER "real hermitian\n", "f:1: a real matrix cannot be hermitian");
    expect_failure("f", BANNER "pattern general\n2 3 1\n",
                   "f:2: a graph is a square matrix, not one of 2 rows and 3 columns");
    expect_failure("f", BANNER "pattern general\n2 2 1\n1 1\n1 2\n",
                   "f:4: more than the 1 entries that were announced");
    expect_failure("f", BANNER "pattern general\n2 2 2\n1 1\n", "f:4: the file ends after 1 of 2 entries");
    expect_failure("f", BANNER "integer skew-symmetric\n2 2 1\n1 1 1\n",
                   "f:3: a skew-symmetric matrix has no entries on its diagonal");
}

static void a_zero_byte_ends_nothing(void **state)
{
    (void)state;
    struct pw_graph g;
    struct pw_error err = {0};
    static const char weight[] = "1 2 3\0junk\n", node[] = "1 2\0\n";
    write_bytes("f", weight, sizeof weight - 1);
    assert_int_equal(pw_graph_read("f", PW_GRAPH_AUTO, &g, &err), PW_USER_ERROR);
    assert_string_equal(err.message, "f:1: expected an edge's weight, found '3?junk'");
    write_bytes("f", node, sizeof node - 1);
    assert_int_equal(pw_graph_read("f", PW_GRAPH_AUTO, &g, &err), PW_USER_ERROR);
    assert_string_equal(err.message, "f:1: expected a node's number, found '2?'");
}

/* Headers that promise what a small file cannot hold are refused, and before memory is taken: the limit is far
 * below. */
static void promises_cost_no_memory(void **state)
{
    (void)state;
    struct rlimit old, tight;
    assert_int_equal(getrlimit(RLIMIT_AS, &old), 0);
    tight = old;
    tight.rlim_cur = (rlim_t)1 << 30;
#if !defined(__SANITIZE_ADDRESS__)
    assert_int_equal(setrlimit(RLIMIT_AS, &tight), 0);
#endif
    expect_failure("f", "4294967295\n0 1\n", "f:3: expected a node's first edge, found the end of the file");
    expect_failure("f", "1\n0 9000000000000000000\n0\n9000000000000000000\n0 1\n",
                   "f:6: expected a node's number, found the end of the file");
    expect_failure("f.graph", "4000000000 4000000000\n2\n1\n", "f.graph:4: the file ends after node 2 of 4000000000");
    expect_failure("f", "c\np sp 4000000000 1\na 4000000000 1 1\n",
                   "f:2: 4000000000 nodes are announced, but only 1 edges follow");
    expect_failure("f", "p edge 4294967296 1\n",
                   "f:1: 4294967296 is too large for the number of nodes: at most 4294967295");
    expect_failure("f", BANNER "pattern symmetric\n4000000000 4000000000 1\n2 1\n",
                   "f:2: 4000000000 nodes are announced, but only 2 edges follow");
    assert_int_equal(setrlimit(RLIMIT_AS, &old), 0);
    struct pw_graph g = read_text("f", PW_GRAPH_AUTO, "p sp 1000000 1\na 1000000 1 1\n");
    assert_int_equal(g.nodes, 1000000);
    assert_int_equal(g.first[999999], 0);
    assert_int_equal(g.first[1000000], 1);
    pw_graph_free(&g);
}

static void what_is_no_file_is_refused(void **state)
{
    (void)state;
    struct pw_graph g;
    struct pw_error err = {0};
    uint64_t digest;
    assert_int_equal(mkdir("folder", 0700), 0);
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_int_equal(pw_graph_read("missing", PW_GRAPH_AUTO, &g, &err), PW_USER_ERROR);
    assert_string_equal(err.message, "missing: cannot open the graph: No such file or directory");
    assert_int_equal(pw_graph_digest("missing", &digest, &err), PW_USER_ERROR);
    assert_int_equal(pw_graph_read("folder", PW_GRAPH_AUTO, &g, &err), PW_USER_ERROR);
    assert_string_equal(err.message, "folder: a graph must be a regular file");
    assert_int_equal(pw_graph_read("pipe", PW_GRAPH_AUTO, &g, &err), PW_USER_ERROR);
    assert_string_equal(err.message, "pipe: a graph must be a regular file");
}

static void the_format_can_be_told_by_hand(void **state)
{
    (void)state;
    char found[64];
    static const char text[] = "2 1\n2\n1\n";
    expect_failure("numbers", text, "numbers:2: expected a node's number, found the end of the line");
    expect_graph("numbers.graph", text, "0>1 1>0");
    struct pw_graph g = read_text("numbers", PW_GRAPH_METIS, text);
    describe(&g, found, sizeof found);
    assert_string_equal(found, "0>1 1>0");
    pw_graph_free(&g);
    for (unsigned format = 0; format < PW_GRAPH_FORMAT_COUNT; format++)
        assert_non_null(pw_graph_formats[format]);
    assert_null(pw_graph_formats[PW_GRAPH_FORMAT_COUNT]);
}

enum { NODES = 3000, EDGES = 12000 };

struct list {
    uint32_t from[EDGES], to[EDGES];
    int weight[EDGES];
};

/* The list in row order, by searching it for every node. */
static void expect_list(const struct pw_graph *g, const struct list *l, bool weighted)
{
    assert_int_equal(g->nodes, NODES);
    assert_int_equal(g->edges, EDGES);
    assert_int_equal(g->weight != NULL, weighted);
    uint64_t at = 0;
    for (uint32_t v = 0; v < NODES; v++) {
        assert_int_equal(g->first[v], at);
        for (uint32_t e = 0; e < EDGES; e++)
            if (l->from[e] == v) {
                assert_int_equal(g->target[at], l->to[e]);
                if (weighted)
                    assert_true(g->weight[at] == (float)l->weight[e]);
                at++;
            }
    }
    assert_int_equal(g->first[NODES], at);
}

/* Files larger than the buffer: comments fill it, so that tokens lie across its end. */
static void random_lists_come_back(void **state)
{
    (void)state;
    struct list *l = calloc(1, sizeof *l);
    struct pw_random random;
    struct pw_error err = {0};
    pw_random_init(&random, 5, "graph formats");
    for (uint32_t e = 0; e < EDGES; e++) {
        l->from[e] = e < NODES ? e : (uint32_t)pw_random_below(&random, NODES);
        l->to[e] = e < NODES ? e : (uint32_t)pw_random_below(&random, NODES);
        l->weight[e] = (int)pw_random_below(&random, 2000) - 1000;
    }
    static const char *const heads[] = {"p sp 3000 12000\n", BANNER "integer general\n3000 3000 12000\n", "#\n"};
    static const char *const lines[] = {"a %u %u %d\n", "%u %u %d.0e0\n", "%u,%u\n"};
    static const char comments[] = "c%#";
    for (unsigned i = 0; i < 3; i++) {
        FILE *file = fopen("list", "w");
        assert_non_null(file);
        fputs(heads[i], file);
        for (uint32_t e = 0; e < EDGES; e++) {
            if (e % 64 == 0)
                fprintf(file, "%c%*s\n", comments[i], 1 + (int)pw_random_below(&random, 20000), "c");
            fprintf(file, lines[i], l->from[e] + 1, l->to[e] + 1, l->weight[e]);
        }
        assert_int_equal(fclose(file), 0);
        struct pw_graph g;
        if (pw_graph_read("list", PW_GRAPH_AUTO, &g, &err))
            fail_msg("%s", err.message);
        expect_list(&g, l, i < 2);
        pw_graph_free(&g);
    }
    free(l);
}

/* Names of nodes: most far apart, some small but larger than the number of nodes that came before. */
static unsigned long long name_of(uint32_t v)
{
    return v % 4 ? UINT64_MAX - v * UINT64_C(1000003) : 2 * (uint64_t)(NODES - v);
}

static void nodes_are_numbered_as_they_appear(void **state)
{
    (void)state;
    struct list *l = calloc(1, sizeof *l);
    struct pw_random random;
    pw_random_init(&random, 6, "graph formats");
    FILE *file = fopen("list", "w");
    assert_non_null(file);
    for (uint32_t e = 0, seen = 0; e < EDGES; e++) {
        uint32_t *ends[] = {&l->from[e], &l->to[e]};
        for (int i = 0; i < 2; i++) {
            bool new = seen < NODES && (!seen || pw_random_below(&random, 3) == 0);
            *ends[i] = new ? seen++ : (uint32_t)pw_random_below(&random, seen);
        }
        fprintf(file, "%llu %llu\n", name_of(l->from[e]), name_of(l->to[e]));
    }
    assert_int_equal(fclose(file), 0);
    struct pw_graph g;
    struct pw_error err = {0};
    if (pw_graph_read("list", PW_GRAPH_AUTO, &g, &err))
        fail_msg("%s", err.message);
    expect_list(&g, l, false);
    pw_graph_free(&g);
    free(l);
}

static void a_line_may_have_any_length(void **state)
{
    (void)state;
    enum { LENGTH = 3 << 20 };
    char *text = malloc(LENGTH + 64);
    assert_non_null(text);
    size_t at = (size_t)sprintf(text, "2 2097152\n");
    for (; at < LENGTH; at += 2)
        memcpy(text + at, "2 ", 2);
    char *second = text + at;
    strcpy(second, "\n\n");
    write_bytes("star.graph", text, strlen(text));
    struct pw_graph g;
    struct pw_error err = {0};
    assert_int_equal(pw_graph_read("star.graph", PW_GRAPH_AUTO, &g, &err), PW_USER_ERROR);
    assert_non_null(strstr(err.message, "the nodes list 1572859 neighbours instead of twice that"));
    memset(text, '0', LENGTH);
    strcpy(text + LENGTH, "1 2\n");
    write_bytes("zeros", text, strlen(text));
    assert_int_equal(pw_graph_read("zeros", PW_GRAPH_AUTO, &g, &err), PW_OK);
    assert_int_equal(g.edges, 1);
    pw_graph_free(&g);
    free(text);
}

static void a_digest_is_of_every_byte(void **state)
{
    (void)state;
    enum { LENGTH = (1 << 20) + 13 };
    static char bytes[LENGTH];
    struct pw_error err = {0};
    static const size_t changed[] = {0, 7, 8, 1000, (1 << 20) - 1, 1 << 20, LENGTH - 1};
    uint64_t original, again, other;
    write_bytes("bytes", bytes, LENGTH);
    assert_int_equal(pw_graph_digest("bytes", &original, &err), PW_OK);
    assert_int_equal(pw_graph_digest("bytes", &again, &err), PW_OK);
    assert_int_equal(original, again);
    for (size_t i = 0; i < sizeof changed / sizeof *changed; i++) {
        bytes[changed[i]] = 1;
        write_bytes("bytes", bytes, LENGTH);
        assert_int_equal(pw_graph_digest("bytes", &other, &err), PW_OK);
        assert_int_not_equal(original, other);
        bytes[changed[i]] = 0;
    }
    write_bytes("bytes", bytes, LENGTH - 1); /* zeros at the end count too */
    assert_int_equal(pw_graph_digest("bytes", &other, &err), PW_OK);
    assert_int_not_equal(original, other);
}

static void load(struct pw_host *h, const void *parameters)
{
    (void)parameters;
    char found[64];
    struct pw_graph g = pw_graph_load(h, "loaded", PW_GRAPH_AUTO);
    describe(&g, found, sizeof found);
    pw_host_expect(h, !strcmp(found, "0>1:2 1>"), "%s", found);
}

static void a_program_that_cannot_read_its_graph_ends(void **state)
{
    (void)state;
    TEST_PROGRAM(program, load);
    struct pw_functional_counts counts;
    struct pw_error err = {0};
    write_bytes("loaded", "1 2 2\n", 6);
    assert_int_equal(pw_functional_run(&program, 1, true, NULL, NULL, &counts, &err), PW_OK);
    write_bytes("loaded", "1 2\n1\n", 6);
    assert_int_equal(pw_functional_run(&program, 1, true, NULL, NULL, &counts, &err), PW_USER_ERROR);
    assert_string_equal(err.message,
                        "workload test:x=1: loaded:2: expected a node's number, found the end of the line");
}

static char folder[] = "graphs.XXXXXX";

static int enter_folder(void **state)
{
    (void)state;
    return !mkdtemp(folder) || chdir(folder) != 0;
}

static int remove_folder(void **state)
{
    (void)state;
    static const char *const names[] = {
        "list", "r",       "m.graph",       "m",          "d",     "f",     "f.graph", "folder",
        "pipe", "numbers", "numbers.graph", "star.graph", "zeros", "bytes", "loaded"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        remove(names[i]);
    return chdir("..") || rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_examples_are_one_graph),
        cmocka_unit_test(edges_stay_as_the_file_has_them),
        cmocka_unit_test(matrices_mirror_as_their_symmetry_says),
        cmocka_unit_test(lines_end_as_anybody_ends_them),
        cmocka_unit_test(mistakes_have_a_place_and_a_reason),
        cmocka_unit_test(a_zero_byte_ends_nothing),
        cmocka_unit_test(promises_cost_no_memory),
        cmocka_unit_test(what_is_no_file_is_refused),
        cmocka_unit_test(the_format_can_be_told_by_hand),
        cmocka_unit_test(random_lists_come_back),
        cmocka_unit_test(nodes_are_numbered_as_they_appear),
        cmocka_unit_test(a_line_may_have_any_length),
        cmocka_unit_test(a_digest_is_of_every_byte),
        cmocka_unit_test(a_program_that_cannot_read_its_graph_ends),
    };
    return cmocka_run_group_tests(tests, enter_folder, remove_folder);
}
