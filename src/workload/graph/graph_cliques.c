/* A graph like a network of co-authors: overlapping cliques, one for each paper.
 *
 * Papers appear one after the other, and whoever is on one is joined to all others on it. A paper has k authors or more
 * with probability (2 / k)^3, and at most 115: among half a million papers the largest then has about as many authors
 * as in coAuthorsDBLP (10th DIMACS challenge; 299,067 authors, 977,676 pairs). While there are fewer than degree / 2
 * pairs an author, all authors of a paper have published before; otherwise all but one are new. Nodes are numbered as
 * they appear, so that those of one paper often lie side by side.
 * Somebody who has published before is an author of one of the latest papers, a fourth of all: the chance grows with
 * the number of papers, and nobody goes on for ever. Three in four of a paper's further authors come from papers of
 * about the same time as the one the first comes from, which gives the graph its communities. Both fourths are assumed.
 * A node's edges are in ascending order. */
#include "workload/graph/graph.h"

#include "workload/runtime/inputs.h"

#include <stdlib.h>

enum { MOST_AUTHORS = 115, WINDOW = 32, PATIENCE = 16 };

struct papers {
    uint64_t seed, draws;
    uint32_t nodes, authors; /* in all, and so far */
    uint64_t wanted;         /* pairs, for all nodes together, times 2 */
    uint64_t (*pair)[2];     /* in the order they are made */
    uint64_t pairs, capacity;
    uint64_t *first_pair; /* by paper that has made pairs */
    uint64_t papers;
    uint64_t *set; /* of pairs, by hash: 1 + the number of one; 0: empty */
    uint64_t set_mask;
};

static uint64_t draw(struct papers *p, uint64_t bound)
{
    return pw_hash_below(pw_hash(p->seed, p->draws++), bound);
}

/* Adds a pair, unless it is there. */
static void add_pair(struct papers *p, uint64_t a, uint64_t b)
{
    uint64_t low = a < b ? a : b, high = a < b ? b : a, at = pw_hash(low, high) & p->set_mask;
    for (; p->set[at]; at = (at + 1) & p->set_mask)
        if (p->pair[p->set[at] - 1][0] == low && p->pair[p->set[at] - 1][1] == high)
            return;
    p->pair[p->pairs][0] = low;
    p->pair[p->pairs][1] = high;
    p->set[at] = ++p->pairs;
}

/* Authors of the next paper. What new authors are still to come must find room for a pair each. */
static uint32_t paper_size(struct papers *p)
{
    uint64_t hash = pw_hash(p->seed, p->draws++) >> 32, room = p->capacity - p->pairs - (p->nodes - p->authors);
    uint64_t k = 2;
    while (k < MOST_AUTHORS && (k + 1) * (k + 1) * (k + 1) * hash < UINT64_C(8) << 32 && (k + 1) * k / 2 <= room)
        k++;
    return (uint32_t)k;
}

/* An author of a paper: one end of a pair that it has made. */
static uint64_t author_of(struct papers *p, uint64_t paper)
{
    uint64_t first = p->first_pair[paper], end = paper + 1 < p->papers ? p->first_pair[paper + 1] : p->pairs;
    uint64_t pair = first + draw(p, end - first);
    return p->pair[pair][draw(p, 2)];
}

/* One of the latest papers, a fourth of all. */
static uint64_t recent(struct papers *p)
{
    return p->papers - 1 - draw(p, p->papers / 4 + 1);
}

/* Somebody who has published: about when paper `near` was written, or lately. */
static uint64_t somebody(struct papers *p, uint64_t near)
{
    uint64_t first = near > WINDOW / 2 ? near - WINDOW / 2 : 0, count = p->papers - first;
    bool lately = !draw(p, 4);
    return author_of(p, lately ? recent(p) : first + draw(p, count < WINDOW ? count : WINDOW));
}

static void write_paper(struct papers *p, bool newcomers)
{
    uint64_t author[MOST_AUTHORS], near = p->papers ? recent(p) : 0, before = p->pairs;
    uint32_t size = paper_size(p), count = 0, fresh = !newcomers ? 0 : p->papers ? size - 1 : size;
    while (fresh-- && p->authors < p->nodes)
        author[count++] = p->authors++;
    for (bool first = true; count < size && p->papers; first = false)
        author[count++] = first ? author_of(p, near) : somebody(p, near);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = i + 1; j < count; j++)
            if (author[i] != author[j])
                add_pair(p, author[i], author[j]);
    if (p->pairs > before)
        p->first_pair[p->papers++] = before;
}

static void write_papers(struct papers *p)
{
    for (uint32_t idle = 0; p->authors < p->nodes || (2 * p->pairs < p->wanted && idle < PATIENCE);) {
        uint64_t before = p->pairs;
        bool enough = (unsigned __int128)2 * p->pairs * p->nodes >= (unsigned __int128)p->wanted * p->authors;
        write_paper(p, p->authors < p->nodes && (enough || idle >= PATIENCE));
        idle = p->pairs == before ? idle + 1 : 0;
    }
}

void pw_graph_make_cliques(struct pw_host *h, struct pw_graph *g, uint32_t degree, uint64_t seed)
{
    struct papers p = {.seed = seed, .nodes = g->nodes, .wanted = (uint64_t)g->nodes * degree};
    p.capacity = p.wanted / 2 + g->nodes + MOST_AUTHORS * (MOST_AUTHORS - 1) / 2;
    for (p.set_mask = 1; p.set_mask < 2 * p.capacity;)
        p.set_mask = 2 * p.set_mask + 1;
    p.pair = pw_host_keep(h, p.capacity * sizeof *p.pair);
    p.first_pair = pw_host_keep(h, p.capacity * sizeof *p.first_pair);
    p.set = calloc(p.set_mask + 1, sizeof *p.set);
    if (!p.set)
        pw_host_fail(h, "out of memory for a graph of %u nodes", g->nodes);
    if (g->nodes > 1)
        write_papers(&p);
    free(p.set);

    struct pw_graph rows = {.nodes = g->nodes, .edges = 2 * p.pairs};
    rows.first = pw_host_keep(h, ((size_t)g->nodes + 1) * sizeof *rows.first);
    rows.target = pw_host_keep(h, rows.edges * sizeof *rows.target);
    uint64_t *next = pw_host_keep(h, g->nodes * sizeof *next);
    for (uint64_t i = 0; i < p.pairs; i++)
        for (int end = 0; end < 2; end++)
            rows.first[p.pair[i][end] + 1]++;
    for (uint32_t v = 0; v < g->nodes; v++)
        rows.first[v + 1] += rows.first[v];
    for (uint64_t i = 0; i < p.pairs; i++)
        for (int end = 0; end < 2; end++) {
            uint64_t from = p.pair[i][end];
            rows.target[rows.first[from] + next[from]++] = (uint32_t)p.pair[i][!end];
        }
    *g = pw_graph_transposed(h, &rows); /* the same edges, in order */
}
