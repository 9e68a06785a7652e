/* A treap in one array: a binary tree by address that is a heap by priority. */
#include "trace/ranges.h"

#include "sim/grow.h"

struct pw_range_node {
    struct pw_range range;
    uint32_t priority, left, right; /* nodes are index + 1 */
};

static struct pw_range_node *node(const struct pw_ranges *r, uint32_t which)
{
    return &r->nodes[which - 1];
}

void pw_ranges_release(struct pw_ranges *r)
{
    free(r->nodes);
    *r = (struct pw_ranges){0};
}

static uint32_t new_node(struct pw_ranges *r, struct pw_range range)
{
    uint32_t which = r->free;
    if (which) {
        r->free = node(r, which)->left;
    } else {
        struct pw_range_node *grown = pw_grow(r->nodes, r->count, &r->capacity, sizeof *r->nodes);
        if (!grown)
            return 0;
        r->nodes = grown;
        which = (uint32_t)++r->count;
    }
    uint64_t hash = (range.number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ hash >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    *node(r, which) = (struct pw_range_node){.range = range, .priority = (uint32_t)(hash >> 32)};
    return which;
}

bool pw_ranges_add(struct pw_ranges *r, struct pw_range range)
{
    uint32_t added = new_node(r, range);
    if (!added)
        return false;
    struct pw_range_node *n = node(r, added);
    uint32_t *at = &r->root;
    while (*at && node(r, *at)->priority >= n->priority)
        at = range.first < node(r, *at)->range.first ? &node(r, *at)->left : &node(r, *at)->right;
    /* What was here is split into what lies before the new range and what lies behind it. */
    uint32_t rest = *at, *before = &n->left, *behind = &n->right;
    *at = added;
    while (rest) {
        struct pw_range_node *next = node(r, rest);
        if (next->range.first < range.first) {
            *before = rest;
            before = &next->right;
            rest = next->right;
        } else {
            *behind = rest;
            behind = &next->left;
            rest = next->left;
        }
    }
    *before = *behind = 0;
    return true;
}

void pw_ranges_remove(struct pw_ranges *r, uint64_t first)
{
    uint32_t *at = &r->root;
    while (*at && node(r, *at)->range.first != first)
        at = first < node(r, *at)->range.first ? &node(r, *at)->left : &node(r, *at)->right;
    uint32_t removed = *at;
    if (!removed)
        return;
    uint32_t left = node(r, removed)->left, right = node(r, removed)->right;
    while (left && right) {
        if (node(r, left)->priority >= node(r, right)->priority) {
            *at = left;
            at = &node(r, left)->right;
            left = *at;
        } else {
            *at = right;
            at = &node(r, right)->left;
            right = *at;
        }
    }
    *at = left ? left : right;
    node(r, removed)->left = r->free;
    r->free = removed;
}

const struct pw_range *pw_ranges_from(const struct pw_ranges *r, uint64_t address)
{
    const struct pw_range *best = NULL;
    for (uint32_t at = r->root; at;) {
        const struct pw_range_node *n = node(r, at);
        if (n->range.end > address) {
            best = &n->range;
            at = n->left;
        } else {
            at = n->right;
        }
    }
    return best;
}

const struct pw_range *pw_ranges_before(const struct pw_ranges *r, uint64_t address)
{
    const struct pw_range *best = NULL;
    for (uint32_t at = r->root; at;) {
        const struct pw_range_node *n = node(r, at);
        if (n->range.first <= address) {
            best = &n->range;
            at = n->right;
        } else {
            at = n->left;
        }
    }
    return best;
}
