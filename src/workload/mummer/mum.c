/* MUM: MUMmerGPU, which finds where short queries of DNA match a reference exactly, by a suffix tree of it.
 *
 * Kept: CTAs of 256 threads, one query each; nodes and lists of children in two arrays of 16 bytes an entry, the
 * reference and the queries as letters (a query is 'q', its bases, a zero); the walk: list of children, node, next
 * letter of the query, then letter against letter along the edge; for the next substring the suffix link of the last
 * node left, and the letters known to match skipped edge by edge; matches of at least `minimum` letters stored as node
 * and place on its edge, 8 bytes; allocation of reference, tree, queries and results, and their release. Size table has
 * those of the input of the ISPASS-2009 benchmarks. Simplified: reference and queries are random, with repeats and
 * errors (dna.c), instead of read from files; textures are ordinary loads, with nodes in the order of their numbers
 * (breadth first: the original's order near the root, which it keeps by texture tiles) and letters in the order of the
 * text; only the forward kernel, as the original runs by default; alignments are printed by the host. */
#include "workload/mummer/dna.h"
#include "workload/mummer/mum_kernel.h"

enum { CTA_THREADS = 256 };

struct parameters {
    uint32_t reference, queries, length, minimum;
};

/* The letters that a match claims: how many, and where they end in the text. */
static uint32_t claimed_length(const struct pw_mum *g, struct pw_mum_match m, uint32_t *out_end)
{
    const struct pw_suffix_node *nodes = g->nodes.data;
    uint32_t on_edge = m.edge_length ? m.edge_length : nodes[m.node].end - nodes[m.node].start + 1, length = on_edge;
    *out_end = nodes[m.node].start + on_edge;
    for (uint32_t n = nodes[m.node].parent; n > PW_SUFFIX_ROOT; n = nodes[n].parent)
        length += nodes[n].end - nodes[n].start + 1;
    return length;
}

/* All queries, or as many, evenly spread, as can be searched for letter by letter in good time. */
static void verify(struct pw_host *h, const struct pw_mum *g, uint32_t length)
{
    const char *text = g->text.data, *queries = g->queries.data;
    const struct pw_mum_match *matches = g->matches.data;
    uint64_t places = length - g->minimum + 1, work = g->count * places * g->text.count;
    uint64_t wrong = g->count, every = 1 + work / (UINT64_C(1) << 25);
    for (uint64_t i = 0; i < g->count; i += every)
        for (uint32_t skipped = 0; skipped < places; skipped++) {
            struct pw_mum_match m = matches[i * places + skipped];
            const char *query = &queries[i * (length + 2) + 1 + skipped];
            uint32_t longest = pw_dna_longest_match(text, query), end = 0;
            uint32_t claimed = m.node ? claimed_length(g, m, &end) : 0;
            if (claimed != (longest < g->minimum ? 0 : longest) ||
                __builtin_memcmp(&text[end - claimed], query, claimed) != 0)
                wrong = i;
        }
    pw_host_expect(h, wrong == g->count, "query %llu matches otherwise when searched for letter by letter",
                   (unsigned long long)wrong);
}

static void allocate_and_fill(struct pw_host *h, struct pw_mum *g, uint32_t bases, uint32_t length)
{
    uint64_t seed = pw_random_next(pw_host_random(h));
    g->text = pw_alloc(h, "reference", (uint64_t)bases + 3, 1);
    pw_dna_reference(g->text.data, bases, seed);
    struct pw_suffix_tree *tree = pw_suffix_tree_make(h, g->text.data, bases);
    uint32_t nodes = pw_suffix_tree_nodes(tree);
    g->nodes = pw_alloc(h, "nodes", nodes, sizeof(struct pw_suffix_node));
    g->children = pw_alloc(h, "children", nodes, sizeof(struct pw_suffix_children));
    pw_suffix_tree_lay_out(h, tree, g->nodes.data, g->children.data);
    g->queries = pw_alloc(h, "queries", (uint64_t)g->count * (length + 2), 1);
    g->addresses = pw_alloc(h, "query_addresses", g->count, sizeof(uint32_t));
    g->lengths = pw_alloc(h, "query_lengths", g->count, sizeof(uint32_t));
    g->matches =
        pw_alloc(h, "match_coords", (uint64_t)g->count * (length - g->minimum + 1), sizeof(struct pw_mum_match));
    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t address = i * (length + 2);
        ((uint32_t *)g->addresses.data)[i] = address;
        ((uint32_t *)g->lengths.data)[i] = length;
        pw_dna_query((char *)g->queries.data + address, length, g->text.data, bases, seed, i);
    }
}

static void mum_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    uint64_t bases = pw_host_scaled(h, p->reference, 1), count = pw_host_scaled(h, p->queries, 1);
    if (p->length < p->minimum)
        pw_host_fail(h, "length must not be below minimum");
    if (bases > 1 << 28 || count * (p->length + 2) > UINT32_MAX)
        pw_host_fail(h, "the reference has at most 256M bases, the queries 4G letters in all");
    struct pw_mum g = {.count = (uint32_t)count, .minimum = p->minimum};
    allocate_and_fill(h, &g, (uint32_t)bases, p->length);
    uint32_t threads = g.count < CTA_THREADS ? g.count : CTA_THREADS;
    pw_host_plan(h, 1);
    pw_launch(h, &(struct pw_launch){.name = "mummergpuKernel",
                                     .grid = {(g.count + threads - 1) / threads, 1, 1},
                                     .block = {threads, 1, 1},
                                     .registers = 28,
                                     .kernel = pw_mum_kernel,
                                     .arguments = &g});
    if (pw_host_verifying(h))
        verify(h, &g, p->length);
    struct pw_array *const freed[] = {&g.matches, &g.queries, &g.addresses, &g.lengths, &g.text, &g.nodes, &g.children};
    for (size_t i = 0; i < sizeof freed / sizeof freed[0]; i++)
        pw_free(h, freed[i]);
}

static const struct pw_option rows[] = {
    {"reference", PW_OPTION_COUNT, offsetof(struct parameters, reference), 1, 1 << 28, "1400k", "bases", NULL,
     "length of the reference", false},
    {"queries", PW_OPTION_COUNT, offsetof(struct parameters, queries), 1, 0, "100k", "queries", NULL,
     "number of queries", false},
    {"length", PW_OPTION_COUNT, offsetof(struct parameters, length), 1, 1 << 16, "25", "bases", NULL,
     "length of a query", false},
    {"minimum", PW_OPTION_COUNT, offsetof(struct parameters, minimum), 1, 1 << 16, "20", "bases", NULL,
     "shortest match that is reported", false},
    {0},
};

static const struct pw_preset presets[] = {{"table", "reference=20k:queries=50k:length=25:minimum=20"}, {0}};

const struct pw_workload pw_workload_mum = {
    .name = "MUM",
    .suite = "MUMmerGPU",
    .papers = "mosaic mask",
    .summary = "exact matches of DNA queries by walks down a suffix tree",
    .parameters = rows,
    .presets = presets,
    .parameters_bytes = sizeof(struct parameters),
    .needs_values = true,
    .main = mum_main,
};
