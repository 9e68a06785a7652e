/* Edge lists as the Stanford Large Network Dataset Collection has them, and comma- or tab-separated ones:
 *
 *     # COMMENT
 *     FROM TO [WEIGHT [IGNORED …]]
 *
 * Nodes are any 64-bit numbers and are renumbered from 0 in order of appearance. An edge goes one way, unless a comment
 * before it says "Undirected graph" as SNAP's do. All lines have a weight if the first one has.
 *
 * Numbers are looked up in a hash table whose hash is salted anew for each file, so that no file can be made to collide.
 * The salt decides where a number is kept, never what it maps to. */
#include "workload/graph_read.h"

#include "workload/inputs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

struct slot {
    uint64_t name;
    uint64_t number; /* from 1; 0: free */
};

struct numbering {
    struct slot *slots;
    uint64_t mask, salt;
};

static struct slot *find(const struct numbering *n, uint64_t name)
{
    uint64_t at = pw_hash(n->salt, name) & n->mask;
    while (n->slots[at].number && n->slots[at].name != name)
        at = (at + 1) & n->mask;
    return &n->slots[at];
}

static enum pw_status grow(struct numbering *n, struct pw_error *err)
{
    struct numbering larger = {.mask = n->slots ? 2 * n->mask + 1 : 1023, .salt = n->salt};
    larger.slots = calloc(larger.mask + 1, sizeof *larger.slots);
    if (!larger.slots)
        return pw_fail_memory(err, "the nodes of a graph");
    for (uint64_t i = 0; n->slots && i <= n->mask; i++)
        if (n->slots[i].number)
            *find(&larger, n->slots[i].name) = n->slots[i];
    free(n->slots);
    *n = larger;
    return PW_OK;
}

static enum pw_status read_node(struct pw_graph_reader *r, struct numbering *n, uint32_t *out)
{
    uint64_t name;
    enum pw_status status = pw_graph_number(r, "a node's number", &name);
    if (status)
        return status;
    struct slot *slot = find(n, name);
    if (!slot->number) {
        if (r->nodes == UINT32_MAX)
            return pw_graph_fail(r, "there are more than %u nodes", UINT32_MAX);
        *slot = (struct slot){name, ++r->nodes};
    }
    *out = (uint32_t)(slot->number - 1);
    return 2 * r->nodes > n->mask ? grow(n, r->err) : PW_OK;
}

static enum pw_status read_edge(struct pw_graph_reader *r, struct numbering *n, bool undirected)
{
    uint32_t from, to;
    double weight = 0;
    enum pw_status status = read_node(r, n, &from);
    if (status == PW_OK)
        status = read_node(r, n, &to);
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
    enum pw_status status = grow(&n, r->err);
    while (status == PW_OK && pw_graph_find_line(r, '%')) {
        if (pw_graph_peek(r) == '#')
            undirected |= read_comment(r);
        else
            status = read_edge(r, &n, undirected);
    }
    free(n.slots);
    return status;
}
