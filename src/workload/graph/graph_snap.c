/* Edge lists as the Stanford Large Network Dataset Collection has them, and comma- or tab-separated ones:
 *
 *     # COMMENT
 *     FROM TO [WEIGHT [IGNORED …]]
 *
 * Nodes are any 64-bit numbers and are renumbered from 0 in order of appearance. An edge goes one way, unless a comment
 * before it says "Undirected graph" as SNAP's do. All lines have a weight if the first one has.
 *
 * Most files number their nodes from about 0, so small names are looked up in a table and only the others are hashed.
 * The table ends at a few times the number of nodes so far and takes names over from the hash as it grows. The hash is
 * salted anew for each file, so that no file can be made to collide; the salt decides where a name is kept, never what
 * it maps to. */
#include "workload/graph/graph_read.h"

#include "workload/runtime/inputs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

struct slot {
    uint64_t name;
    uint32_t number;
};

struct numbering {
    uint32_t *low; /* by name; numbers count from 1, and 0 is free */
    uint64_t low_names;
    struct slot *slots; /* of the names behind those */
    uint64_t mask, used, salt;
};

enum { FIRST_NAMES = 1024, TABLE_FACTOR = 2 }; /* the table has at least TABLE_FACTOR entries per node */

/* Where the name's number is, or is to be put. */
static uint32_t *find(const struct numbering *n, uint64_t name)
{
    if (name < n->low_names)
        return &n->low[name];
    uint64_t at = pw_hash(n->salt, name) & n->mask;
    while (n->slots[at].number && n->slots[at].name != name)
        at = (at + 1) & n->mask;
    n->slots[at].name = name;
    return &n->slots[at].number;
}

static enum pw_status resize(struct numbering *n, uint64_t low_names, uint64_t slots, struct pw_error *err)
{
    struct numbering larger = {.low_names = low_names, .mask = slots - 1, .salt = n->salt};
    larger.slots = calloc(slots, sizeof *larger.slots);
    larger.low = larger.slots ? realloc(n->low, low_names * sizeof *larger.low) : NULL;
    if (!larger.low) {
        free(larger.slots);
        return pw_fail_memory(err, "the nodes of a graph");
    }
    memset(larger.low + n->low_names, 0, (low_names - n->low_names) * sizeof *larger.low);
    for (uint64_t i = 0; n->slots && i <= n->mask; i++)
        if (n->slots[i].number) {
            *find(&larger, n->slots[i].name) = n->slots[i].number;
            larger.used += n->slots[i].name >= low_names;
        }
    free(n->slots);
    *n = larger;
    return PW_OK;
}

/* Lookups miss the caches in large graphs; those of an edge's two names need not wait for each other. */
static enum pw_status read_name(struct pw_graph_reader *r, const struct numbering *n, uint64_t *out)
{
    enum pw_status status = pw_graph_number(r, "a node's number", out);
    if (status == PW_OK)
        __builtin_prefetch(*out < n->low_names ? (const void *)&n->low[*out]
                                               : (const void *)&n->slots[pw_hash(n->salt, *out) & n->mask]);
    return status;
}

static enum pw_status number_node(struct pw_graph_reader *r, struct numbering *n, uint64_t name, uint32_t *out)
{
    enum pw_status status = PW_OK;
    uint32_t *number = find(n, name);
    bool added = !*number;
    if (added) {
        if (r->nodes == UINT32_MAX)
            return pw_graph_fail(r, "there are more than %u nodes", UINT32_MAX);
        *number = (uint32_t)++r->nodes;
        n->used += name >= n->low_names;
    }
    *out = *number - 1;
    if (added && TABLE_FACTOR * r->nodes > n->low_names)
        status = resize(n, 2 * n->low_names, n->mask + 1, r->err);
    if (status == PW_OK && added && 2 * n->used > n->mask)
        status = resize(n, n->low_names, 2 * (n->mask + 1), r->err);
    return status;
}

static enum pw_status read_edge(struct pw_graph_reader *r, struct numbering *n, bool undirected)
{
    uint64_t from_name, to_name;
    uint32_t from = 0, to = 0;
    double weight = 0;
    enum pw_status status = read_name(r, n, &from_name);
    if (status == PW_OK)
        status = read_name(r, n, &to_name);
    if (status == PW_OK)
        status = number_node(r, n, from_name, &from);
    if (status == PW_OK)
        status = number_node(r, n, to_name, &to);
    if (status)
        return status;
    if (!r->edges)
        r->weighted = !pw_graph_line_ends(r);
    if (r->weighted)
        status = pw_graph_weight(r, "an edge's weight", &weight);
    else if (!pw_graph_line_ends(r))
        status = pw_graph_fail(r, "this edge has a weight, but the first one has none");
    if (status == PW_OK)
        status = undirected ? pw_graph_append_both(r, from, to, weight) : pw_graph_append(r, from, to, weight);
    pw_graph_skip_line(r);
    return status;
}

/* Whether a comment says that edges go both ways. */
static bool read_comment(struct pw_graph_reader *r)
{
    char word[2][16];
    r->next++;
    pw_graph_word(r, word[0], sizeof word[0]);
    pw_graph_word(r, word[1], sizeof word[1]);
    pw_graph_skip_line(r);
    return !strcmp(word[0], "undirected") && !strncmp(word[1], "graph", 5);
}

enum pw_status pw_graph_read_snap(struct pw_graph_reader *r)
{
    struct numbering n = {0};
    bool undirected = false;
    r->commas = true;
    if (getrandom(&n.salt, sizeof n.salt, GRND_NONBLOCK) < 0)
        n.salt = (uintptr_t)r;
    enum pw_status status = resize(&n, FIRST_NAMES, FIRST_NAMES, r->err);
    while (status == PW_OK && pw_graph_find_line(r, '%')) {
        if (pw_graph_peek(r) == '#')
            undirected |= read_comment(r);
        else
            status = read_edge(r, &n, undirected);
    }
    free(n.low);
    free(n.slots);
    return status;
}
