/* Ukkonen's algorithm: one pass over the text that keeps the place in the tree where the longest suffix that occurred
 * before ends (the active point), and adds to all shorter ones by suffix links. Linear in the length of the text. */
#include "workload/mummer/suffix_tree.h"

enum { SYMBOLS = PW_SUFFIX_BASES + 1, ROOT = 1 };

struct record {
    uint32_t start, end, link, child[SYMBOLS];
};

struct pw_suffix_tree {
    const char *text;
    uint32_t last; /* position of '$', where all leaves end */
    uint32_t count;
    struct record *records;
};

/* The active point, and the inner node that still waits for its suffix link. */
struct point {
    uint32_t node, edge, length, waiting;
};

static uint32_t add_record(struct pw_suffix_tree *t, uint32_t start, uint32_t end)
{
    t->records[t->count] = (struct record){.start = start, .end = end};
    return t->count++;
}

static void link_to(struct pw_suffix_tree *t, struct point *p, uint32_t node)
{
    if (p->waiting)
        t->records[p->waiting].link = node;
    p->waiting = node == ROOT ? 0 : node; /* the root needs none */
}

/* Divides the active edge, to `next`, where the text goes on with the letter at `i` instead. */
static void split(struct pw_suffix_tree *t, struct point *p, uint32_t next, uint32_t i)
{
    uint32_t start = t->records[next].start;
    uint32_t middle = add_record(t, start, start + p->length - 1), leaf = add_record(t, i, t->last);
    t->records[p->node].child[pw_suffix_base(t->text[p->edge])] = middle;
    t->records[middle].child[pw_suffix_base(t->text[i])] = leaf;
    t->records[next].start = start + p->length;
    t->records[middle].child[pw_suffix_base(t->text[start + p->length])] = next;
    link_to(t, p, middle);
}

/* Adds the letter at `i` behind the active point. Returns whether it is there already. */
static bool extend(struct pw_suffix_tree *t, struct point *p, uint32_t i)
{
    for (;;) {
        if (!p->length)
            p->edge = i;
        uint32_t next = t->records[p->node].child[pw_suffix_base(t->text[p->edge])];
        if (!next) {
            uint32_t leaf = add_record(t, i, t->last);
            t->records[p->node].child[pw_suffix_base(t->text[p->edge])] = leaf;
            link_to(t, p, p->node);
            return false;
        }
        uint32_t edge_length = t->records[next].end - t->records[next].start + 1;
        if (p->length >= edge_length) {
            p->edge += edge_length;
            p->length -= edge_length;
            p->node = next;
            continue;
        }
        if (t->text[t->records[next].start + p->length] == t->text[i]) {
            p->length++;
            link_to(t, p, p->node);
            return true;
        }
        split(t, p, next, i);
        return false;
    }
}

struct pw_suffix_tree *pw_suffix_tree_make(struct pw_host *h, const char *text, uint32_t bases)
{
    struct pw_suffix_tree *t = pw_host_keep(h, sizeof *t);
    *t = (struct pw_suffix_tree){.text = text, .last = bases + 1, .count = ROOT};
    t->records = pw_host_keep(h, (2 * (uint64_t)bases + 4) * sizeof *t->records);
    struct point p = {.node = add_record(t, 0, 0)};
    uint32_t pending = 0;
    for (uint32_t i = 1; i <= t->last; i++) {
        p.waiting = 0;
        for (pending++; pending && !extend(t, &p, i); pending--) {
            if (p.node != ROOT) {
                p.node = t->records[p.node].link ? t->records[p.node].link : ROOT;
            } else if (p.length) {
                p.length--;
                p.edge = i - pending + 2;
            }
        }
    }
    return t;
}

uint32_t pw_suffix_tree_nodes(const struct pw_suffix_tree *t)
{
    return t->count;
}

void pw_suffix_tree_lay_out(struct pw_host *h, const struct pw_suffix_tree *t, struct pw_suffix_node *nodes,
                            struct pw_suffix_children *children)
{
    uint32_t *number = pw_host_keep(h, t->count * sizeof *number); /* by record */
    uint32_t *queue = pw_host_keep(h, t->count * sizeof *queue);   /* record by number */
    uint32_t found = PW_SUFFIX_ROOT;
    queue[found] = ROOT;
    number[ROOT] = found++;
    for (uint32_t n = PW_SUFFIX_ROOT; n < found; n++) {
        const struct record *r = &t->records[queue[n]];
        nodes[n].start = r->start;
        nodes[n].end = r->end;
        for (unsigned s = 0; s < SYMBOLS; s++) {
            if (!r->child[s])
                continue;
            nodes[found].parent = n;
            if (s < PW_SUFFIX_BASES)
                children[n].child[s] = found;
            queue[found] = r->child[s];
            number[r->child[s]] = found++;
        }
    }
    for (uint32_t n = PW_SUFFIX_ROOT; n < found; n++) {
        const struct record *r = &t->records[queue[n]];
        bool inner = n == PW_SUFFIX_ROOT || r->end != t->last;
        nodes[n].suffix = !inner ? 0 : r->link ? number[r->link] : PW_SUFFIX_ROOT;
    }
}
