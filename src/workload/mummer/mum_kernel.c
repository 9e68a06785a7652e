/* The walk of the queries. Of the three nested loops (substrings, nodes, letters of an edge) lanes that leave one wait
 * for the others of their warp behind it.
 *
 * Instruction counts are estimates for compiled code: 12 before the walk, 10 to begin a substring, 12 to pick a child,
 * 12 for a node, 9 for a letter, 8 to end a substring. Nothing is in flight behind anything else: each load's address
 * or branch needs the one before. */
#include "workload/mummer/mum_kernel.h"

/* A warp's queries on their way. */
struct walk {
    uint32_t address[PW_WARP_LANES], size[PW_WARP_LANES]; /* of the query */
    uint32_t matched[PW_WARP_LANES];                      /* place of the next letter in query, counted from its 'q' */
    uint32_t known[PW_WARP_LANES];                        /* letters below the node that match for sure */
    uint32_t at[PW_WARP_LANES], left[PW_WARP_LANES];      /* node, and the one it was left from */
    uint32_t place[PW_WARP_LANES], start[PW_WARP_LANES], end[PW_WARP_LANES]; /* in the text: now, and of the edge */
    uint64_t result[PW_WARP_LANES];
    char letter[PW_WARP_LANES];
};

static void load_letter(struct pw_warp *w, const struct pw_mum *g, uint32_t mask, struct walk *q)
{
    uint64_t index[PW_WARP_LANES];
    PW_FOR_LANES(lane, mask)
    {
        index[lane] = (uint64_t)q->address[lane] + q->matched[lane];
        q->letter[lane] = ((const char *)g->queries.data)[index[lane]];
    }
    pw_load_lanes(w, mask, &g->queries, index);
    pw_use(w);
}

static void store_matches(struct pw_warp *w, const struct pw_mum *g, uint32_t mask, const struct walk *q,
                          const uint32_t node[], bool on_edge)
{
    uint32_t stored = 0;
    PW_FOR_LANES(lane, mask)
    if (q->matched[lane] > g->minimum) {
        stored |= 1U << lane;
        ((struct pw_mum_match *)g->matches.data)[q->result[lane]] =
            (struct pw_mum_match){node[lane], on_edge ? q->place[lane] - q->start[lane] : 0};
    }
    pw_compute(w, 2);
    pw_store_lanes(w, stored, &g->matches, q->result);
}

static void load_lanes32(struct pw_warp *w, uint32_t mask, const struct pw_array *a, const uint32_t element[])
{
    uint64_t index[PW_WARP_LANES];
    PW_FOR_LANES(lane, mask)
    index[lane] = element[lane];
    pw_load_lanes(w, mask, a, index);
    pw_use(w);
}

/* Goes from every lane's node to the child for its letter. Returns the lanes that have none. */
static uint32_t descend(struct pw_warp *w, const struct pw_mum *g, uint32_t mask, struct walk *q)
{
    const struct pw_suffix_children *children = g->children.data;
    uint32_t lost = 0;
    pw_compute(w, 3);
    load_lanes32(w, mask, &g->children, q->at);
    PW_FOR_LANES(lane, mask)
    {
        unsigned base = pw_suffix_base(q->letter[lane]);
        q->left[lane] = q->at[lane];
        q->at[lane] = base < PW_SUFFIX_BASES ? children[q->at[lane]].child[base] : 0;
        lost |= (uint32_t)!q->at[lane] << lane;
    }
    pw_compute(w, 9);
    return lost;
}

/* Takes the first letter of the edge, or as many as are known to match. */
static void enter_edge(struct pw_warp *w, const struct pw_mum *g, uint32_t mask, struct walk *q)
{
    const struct pw_suffix_node *nodes = g->nodes.data;
    pw_compute(w, 2);
    load_lanes32(w, mask, &g->nodes, q->at);
    PW_FOR_LANES(lane, mask)
    {
        const struct pw_suffix_node *n = &nodes[q->at[lane]];
        uint32_t length = n->end - n->start + 1, known = q->known[lane], skipped = known < length ? known : length;
        q->start[lane] = n->start;
        q->end[lane] = n->end;
        q->known[lane] = known - skipped;
        skipped = known ? skipped : 1;
        q->matched[lane] += skipped;
        q->place[lane] = n->start + skipped;
    }
    pw_compute(w, 10);
    load_letter(w, g, mask, q);
}

/* Compares along the edge. Returns the lanes that have met a difference. */
static uint32_t follow_edge(struct pw_warp *w, const struct pw_mum *g, uint32_t mask, struct walk *q)
{
    const char *text = g->text.data;
    uint32_t differing = 0;
    for (;;) {
        uint32_t different = 0;
        pw_compute(w, 3);
        PW_FOR_LANES(lane, mask)
        if (q->place[lane] > q->end[lane] || !q->letter[lane])
            mask &= ~(1U << lane);
        if (!mask)
            return differing;
        pw_compute(w, 3);
        load_lanes32(w, mask, &g->text, q->place);
        pw_compute(w, 2);
        PW_FOR_LANES(lane, mask)
        different |= (uint32_t)(text[q->place[lane]] != q->letter[lane]) << lane;
        differing |= different;
        mask &= ~different;
        if (!mask)
            return differing;
        PW_FOR_LANES(lane, mask)
        {
            q->matched[lane]++;
            q->place[lane]++;
        }
        pw_compute(w, 1);
        load_letter(w, g, mask, q);
    }
}

static void match_substring(struct pw_warp *w, const struct pw_mum *g, uint32_t mask, struct walk *q)
{
    const struct pw_suffix_node *nodes = g->nodes.data;
    uint32_t walking = mask, lost = 0;
    PW_FOR_LANES(lane, mask)
    if (!q->at[lane] || !q->matched[lane]) {
        q->at[lane] = PW_SUFFIX_ROOT;
        q->matched[lane] = 1;
        q->known[lane] = 0;
    }
    pw_compute(w, 10);
    load_letter(w, g, mask, q);
    while (walking) {
        uint32_t none = descend(w, g, walking, q);
        if (none)
            store_matches(w, g, none, q, q->left, false);
        PW_FOR_LANES(lane, none)
        {
            q->matched[lane]--;
            q->known[lane] = 0;
        }
        lost |= none;
        walking &= ~none;
        if (!walking)
            break;
        enter_edge(w, g, walking, q);
        walking &= ~follow_edge(w, g, walking, q);
        PW_FOR_LANES(lane, walking)
        if (!q->letter[lane])
            walking &= ~(1U << lane);
    }
    if (mask & ~lost)
        store_matches(w, g, mask & ~lost, q, q->at, true);
    PW_FOR_LANES(lane, mask & ~lost)
    {
        q->known[lane] = q->place[lane] - q->start[lane];
        q->matched[lane] -= q->known[lane] + 1;
    }
    pw_compute(w, 4);
    load_lanes32(w, mask, &g->nodes, q->left);
    pw_compute(w, 2);
    PW_FOR_LANES(lane, mask)
    q->at[lane] = nodes[q->left[lane]].suffix;
}

void pw_mum_kernel(struct pw_warp *w, const void *arguments)
{
    const struct pw_mum *g = arguments;
    struct walk q = {0};
    uint64_t first = (uint64_t)w->cta.x * w->launch->block.x + pw_first_thread(w);
    uint32_t mask = pw_lanes_below(w, first, g->count);
    pw_compute(w, 4);
    if (!mask)
        return;
    pw_load_run(w, mask, &g->lengths, (int64_t)first);
    pw_load_run(w, mask, &g->addresses, (int64_t)first);
    PW_FOR_LANES(lane, mask)
    {
        q.size[lane] = ((const uint32_t *)g->lengths.data)[first + lane];
        q.address[lane] = ((const uint32_t *)g->addresses.data)[first + lane];
        q.result[lane] = q.address[lane] - (first + lane) * (g->minimum + 1);
    }
    pw_use(w);
    pw_compute(w, 8);
    for (uint32_t skipped = 0; mask; skipped++) {
        PW_FOR_LANES(lane, mask)
        if (skipped + g->minimum > q.size[lane])
            mask &= ~(1U << lane);
        if (!mask)
            return;
        match_substring(w, g, mask, &q);
        PW_FOR_LANES(lane, mask)
        {
            q.address[lane]++;
            q.result[lane]++;
        }
        pw_compute(w, 3);
    }
}
