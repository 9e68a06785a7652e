/* mst's kernels (mst.c says what they do together).
 *
 * Instruction counts are those of the same kernels in CUDA as nvcc 13 compiles them for sm_90, loops not unrolled. The
 * search for a root and the access to an edge are inlined several times; their counts, which differ by one or two from
 * place to place, are those of dfindelemin. */
#include "workload/lonestar/mst.h"

/* Threads of a warp that have a node, and the first one's; up to the exit of the others. */
static uint32_t locate(struct pw_warp *w, const struct pw_mst *m, uint32_t instructions, uint64_t node[])
{
    uint64_t first = (uint64_t)w->cta.x * w->launch->block.x + pw_first_thread(w);
    uint32_t mask = pw_lanes_below(w, first, m->nodes);
    for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++)
        node[lane] = first + lane;
    pw_compute(w, instructions);
    return mask;
}

void pw_mst_init_forest_kernel(struct pw_warp *w, const void *arguments)
{
    const struct pw_mst *m = arguments;
    uint32_t *size = m->size.data, *boss = m->boss.data;
    uint64_t node[PW_WARP_LANES];
    uint32_t mask = locate(w, m, 7, node);
    if (!mask)
        return;
    PW_FOR_LANES(lane, mask)
    {
        size[node[lane]] = 1;
        boss[node[lane]] = (uint32_t)node[lane];
    }
    pw_compute(w, 6);
    pw_store_run(w, mask, &m->size, (int64_t)node[0]);
    pw_compute(w, 1);
    pw_store_run(w, mask, &m->boss, (int64_t)node[0]);
}

void pw_mst_init_kernel(struct pw_warp *w, const void *arguments)
{
    const struct pw_mst *m = arguments;
    uint32_t *least = m->least.data, *of_component = m->component_least.data, *leader = m->leader.data;
    uint32_t *partner = m->partner.data;
    uint8_t *chosen = m->chosen.data;
    uint64_t node[PW_WARP_LANES];
    uint32_t mask = locate(w, m, 9, node);
    if (!mask)
        return;
    PW_FOR_LANES(lane, mask)
    {
        least[node[lane]] = of_component[node[lane]] = PW_MST_INFINITY;
        leader[node[lane]] = m->nodes;
        partner[node[lane]] = (uint32_t)node[lane];
        chosen[node[lane]] = 0;
    }
    const struct pw_array *const in_order[] = {&m->least, &m->component_least, &m->leader, &m->locks, &m->partner};
    pw_compute(w, 11);
    for (size_t i = 0; i < sizeof in_order / sizeof in_order[0]; i++) {
        pw_store_run(w, mask, in_order[i], (int64_t)node[0]);
        pw_compute(w, i == 0 ? 2 : i < 4 ? 1 : 0);
    }
    pw_store_run(w, mask, &m->chosen, (int64_t)node[0]);
}

/* Finds the root of each lane's component: a compare-and-swap that changes nothing tells whether an element is its own
 * boss; then the element is made to lead to the root directly (in the last kernel's rounds, by resolve_joins). */
static void find(struct pw_warp *w, const struct pw_mst *m, uint32_t mask, uint32_t round, const uint64_t element[],
                 uint64_t root[])
{
    uint32_t *boss = m->boss.data, below = 0;
    uint64_t at[PW_WARP_LANES];
    PW_FOR_LANES(lane, mask)
    {
        at[lane] = element[lane];
        root[lane] = pw_mst_root(m, (uint32_t)element[lane], round);
        below |= (uint32_t)(at[lane] != root[lane]) << lane;
        if (!round && at[lane] != root[lane])
            boss[at[lane]] = (uint32_t)root[lane];
    }
    pw_compute(w, 3);
    pw_atomic_return_lanes(w, mask, &m->boss, element);
    pw_compute(w, 1);
    pw_use(w);
    pw_compute(w, 3);
    if (below) {
        pw_compute(w, 1);
        while (below) {
            pw_compute(w, 4);
            pw_load_lanes(w, below, &m->boss, at);
            pw_use(w);
            pw_compute(w, 2);
            PW_FOR_LANES(lane, below)
            at[lane] = pw_mst_above(m, (uint32_t)at[lane], round);
            pw_atomic_return_lanes(w, below, &m->boss, at);
            pw_compute(w, 1);
            pw_use(w);
            pw_compute(w, 2);
            PW_FOR_LANES(lane, below)
            if (at[lane] == root[lane])
                below &= ~(1U << lane);
        }
        pw_compute(w, 1);
    }
    pw_compute(w, 1);
    pw_store_lanes(w, mask, &m->boss, element);
}

/* Where the lanes' edge number i stands. */
static void edges_of(const struct pw_mst *m, uint32_t mask, const uint64_t node[], uint32_t i, uint64_t edge[])
{
    const uint32_t *first = m->first.data, *number = m->number.data;
    PW_FOR_LANES(lane, mask)
    edge[lane] = first[number[node[lane]]] + i;
}

/* Loads where a node's edges begin and one of them, or its weight. */
static void load_edge(struct pw_warp *w, const struct pw_mst *m, uint32_t mask, const uint64_t node[],
                      const uint64_t edge[], const struct pw_array *what)
{
    const uint32_t *number = m->number.data;
    uint64_t renumbered[PW_WARP_LANES];
    PW_FOR_LANES(lane, mask)
    renumbered[lane] = number[node[lane]];
    pw_load_lanes(w, mask, &m->number, node);
    pw_compute(w, 3);
    pw_use(w);
    pw_compute(w, 4);
    pw_load_lanes(w, mask, &m->first, renumbered);
    pw_compute(w, 1);
    pw_use(w);
    pw_compute(w, 7);
    pw_load_lanes(w, mask, what, edge);
    pw_compute(w, 1);
    pw_use(w);
}

/* Loads the weight of the lanes' edge number i, the degree before it, and says what it is. */
static void load_weights(struct pw_warp *w, const struct pw_mst *m, uint32_t mask, const uint64_t node[], uint32_t i,
                         uint64_t edge[], uint32_t weight[])
{
    const uint32_t *weights = m->weight.data;
    edges_of(m, mask, node, i, edge);
    PW_FOR_LANES(lane, mask)
    weight[lane] = weights[edge[lane]];
    pw_load_lanes(w, mask, &m->out, node);
    pw_compute(w, 1);
    pw_use(w);
    pw_compute(w, 3);
    load_edge(w, m, mask, node, edge, &m->weight);
    pw_compute(w, 3);
}

/* Loads whom the lanes' edges lead to and finds their components. */
static void find_targets(struct pw_warp *w, const struct pw_mst *m, uint32_t mask, const uint64_t node[],
                         const uint64_t edge[], uint64_t root[])
{
    const uint32_t *targets = m->target.data;
    uint64_t target[PW_WARP_LANES];
    PW_FOR_LANES(lane, mask)
    target[lane] = targets[edge[lane]];
    pw_compute(w, 3);
    load_edge(w, m, mask, node, edge, &m->target);
    find(w, m, mask, 0, target, root);
}

/* Lanes among `mask` whose node has more than i edges. */
static uint32_t lanes_beyond(const struct pw_mst *m, uint32_t mask, const uint64_t node[], uint32_t i)
{
    const uint32_t *out = m->out.data;
    uint32_t beyond = 0;
    PW_FOR_LANES(lane, mask)
    beyond |= (uint32_t)(out[node[lane]] > i) << lane;
    return beyond;
}

/* The loop over a node's edges: its least weight to another component, and which. */
static void find_least(struct pw_warp *w, const struct pw_mst *m, uint32_t mask, const uint64_t node[],
                       const uint64_t root[], uint32_t least[], uint32_t partner[])
{
    uint64_t edge[PW_WARP_LANES], other[PW_WARP_LANES];
    uint32_t weight[PW_WARP_LANES];
    for (uint32_t i = 0; (mask = lanes_beyond(m, mask, node, i)); i++) {
        uint32_t less = 0;
        load_weights(w, m, mask, node, i, edge, weight);
        PW_FOR_LANES(lane, mask)
        less |= (uint32_t)(weight[lane] < least[lane]) << lane;
        if (less) {
            find_targets(w, m, less, node, edge, other);
            PW_FOR_LANES(lane, less)
            if (other[lane] != root[lane]) {
                least[lane] = weight[lane];
                partner[lane] = (uint32_t)other[lane];
            }
            pw_compute(w, 3);
        }
        pw_compute(w, 4);
    }
}

void pw_mst_find_least_kernel(struct pw_warp *w, const void *arguments)
{
    const struct pw_mst *m = arguments;
    uint32_t *leasts = m->least.data, *partners = m->partner.data;
    uint64_t node[PW_WARP_LANES], root[PW_WARP_LANES];
    uint32_t least[PW_WARP_LANES], partner[PW_WARP_LANES], mask = locate(w, m, 9, node), informing = 0;
    if (!mask)
        return;
    pw_compute(w, 3);
    find(w, m, mask, 0, node, root);
    pw_compute(w, 2);
    pw_load_run(w, mask, &m->out, (int64_t)node[0]);
    pw_compute(w, 3);
    pw_use(w);
    pw_compute(w, 2);
    for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++) {
        least[lane] = PW_MST_INFINITY;
        partner[lane] = m->nodes;
    }
    pw_compute(w, lanes_beyond(m, mask, node, 0) ? 7 : 0);
    find_least(w, m, mask, node, root, least, partner);
    PW_FOR_LANES(lane, mask)
    {
        leasts[node[lane]] = least[lane];
        partners[node[lane]] = partner[lane];
        informing |= (uint32_t)m->informs[node[lane]] << lane;
    }
    pw_compute(w, 10);
    pw_store_run(w, mask, &m->least, (int64_t)node[0]);
    pw_store_run(w, mask, &m->partner, (int64_t)node[0]);
    pw_load_lanes(w, mask, &m->component_least, root);
    pw_use(w);
    pw_compute(w, 2);
    if (!informing)
        return;
    pw_compute(w, 1);
    pw_atomic_lanes(w, informing, &m->component_least, root);
}

/* Lanes whose least weight is their component's, and leads elsewhere. */
static uint32_t load_candidates(struct pw_warp *w, const struct pw_mst *m, uint32_t mask, const uint64_t node[],
                                const uint64_t root[])
{
    const uint32_t *least = m->least.data, *of_component = m->component_least.data, *partner = m->partner.data;
    uint32_t equal = 0, candidates = 0;
    pw_compute(w, 10);
    pw_load_lanes(w, mask, &m->component_least, root);
    pw_load_run(w, mask, &m->least, (int64_t)node[0]);
    pw_use(w);
    pw_compute(w, 1);
    PW_FOR_LANES(lane, mask)
    equal |= (uint32_t)(least[node[lane]] == of_component[root[lane]]) << lane;
    if (!equal)
        return 0;
    pw_compute(w, 4);
    pw_load_run(w, equal, &m->partner, (int64_t)node[0]);
    pw_use(w);
    pw_compute(w, 2);
    PW_FOR_LANES(lane, equal)
    candidates |= (uint32_t)(partner[node[lane]] != root[lane] && partner[node[lane]] != m->nodes) << lane;
    return candidates;
}

void pw_mst_find_leader_kernel(struct pw_warp *w, const void *arguments)
{
    const struct pw_mst *m = arguments;
    const uint32_t *least = m->least.data, *partner = m->partner.data;
    uint64_t node[PW_WARP_LANES], root[PW_WARP_LANES], edge[PW_WARP_LANES], other[PW_WARP_LANES];
    uint32_t weight[PW_WARP_LANES], mask = locate(w, m, 7, node);
    if (!mask)
        return;
    pw_compute(w, 3);
    find(w, m, mask, 0, node, root);
    mask = load_candidates(w, m, mask, node, root);
    if (!mask)
        return;
    pw_compute(w, 4);
    pw_load_run(w, mask, &m->out, (int64_t)node[0]);
    pw_use(w);
    pw_compute(w, 11);
    for (uint32_t i = 0; (mask = lanes_beyond(m, mask, node, i)); i++) {
        uint32_t equal = 0, there = 0;
        load_weights(w, m, mask, node, i, edge, weight);
        pw_load_run(w, mask, &m->least, (int64_t)node[0]);
        pw_use(w);
        pw_compute(w, 2);
        PW_FOR_LANES(lane, mask)
        equal |= (uint32_t)(weight[lane] == least[node[lane]]) << lane;
        if (equal) {
            find_targets(w, m, equal, node, edge, other);
            pw_load_run(w, equal, &m->partner, (int64_t)node[0]);
            pw_use(w);
            pw_compute(w, 2);
            PW_FOR_LANES(lane, equal)
            there |= (uint32_t)(other[lane] == partner[node[lane]]) << lane;
            pw_compute(w, there ? 2 : 0);
            pw_atomic_lanes(w, there, &m->leader, root);
        }
        pw_compute(w, 4);
    }
}

/* Lanes whose node is the root of a component that has a leader, in `out_leader`, and edges. */
static uint32_t load_leaders(struct pw_warp *w, const struct pw_mst *m, uint32_t mask, const uint64_t node[],
                             uint64_t out_leader[])
{
    const uint32_t *leader = m->leader.data, *of_component = m->component_least.data;
    uint32_t roots = 0, led = 0, finite = 0;
    PW_FOR_LANES(lane, mask)
    roots |= (uint32_t)(m->before[node[lane]] == node[lane]) << lane;
    pw_compute(w, 4);
    pw_atomic_return_run(w, mask, &m->boss, (int64_t)node[0]);
    pw_use(w);
    pw_compute(w, 1);
    if (!roots)
        return 0;
    pw_compute(w, 7);
    pw_load_run(w, roots, &m->leader, (int64_t)node[0]);
    pw_use(w);
    pw_compute(w, 1);
    PW_FOR_LANES(lane, roots)
    {
        out_leader[lane] = leader[node[lane]];
        led |= (uint32_t)(out_leader[lane] != m->nodes) << lane;
    }
    if (!led)
        return 0;
    pw_compute(w, 11);
    pw_load_lanes(w, led, &m->out, out_leader);
    pw_load_run(w, led, &m->component_least, (int64_t)node[0]);
    pw_use(w);
    pw_compute(w, 2);
    PW_FOR_LANES(lane, led)
    finite |= (uint32_t)(of_component[node[lane]] != PW_MST_INFINITY) << lane;
    return finite;
}

void pw_mst_verify_leader_kernel(struct pw_warp *w, const void *arguments)
{
    const struct pw_mst *m = arguments;
    const uint32_t *of_component = m->component_least.data, *partner = m->partner.data;
    uint8_t *chosen = m->chosen.data;
    uint64_t node[PW_WARP_LANES], leader[PW_WARP_LANES], edge[PW_WARP_LANES], other[PW_WARP_LANES];
    uint32_t weight[PW_WARP_LANES], mask = locate(w, m, 9, node);
    if (!mask)
        return;
    mask = load_leaders(w, m, mask, node, leader);
    pw_compute(w, mask ? 10 : 0);
    for (uint32_t i = 0; (mask = lanes_beyond(m, mask, leader, i)); i++) {
        uint32_t equal = 0, found = 0;
        pw_compute(w, 4);
        load_weights(w, m, mask, leader, i, edge, weight);
        PW_FOR_LANES(lane, mask)
        equal |= (uint32_t)(weight[lane] == of_component[node[lane]]) << lane;
        if (equal) {
            pw_load_lanes(w, equal, &m->out, leader);
            pw_use(w);
            find_targets(w, m, equal, leader, edge, other);
            pw_load_lanes(w, equal, &m->partner, leader);
            pw_use(w);
            pw_compute(w, 3);
            PW_FOR_LANES(lane, equal)
            if (other[lane] == partner[leader[lane]] && other[lane] != node[lane]) {
                found |= 1U << lane;
                chosen[leader[lane]] = 1;
            }
        }
        if (found) {
            pw_compute(w, 4);
            pw_store_lanes(w, found, &m->chosen, leader);
            mask &= ~found;
        }
        pw_compute(w, mask ? 4 : 0);
    }
}

/* The lanes that have joined two components account for it; additions to one place are made by one lane. */
static void account(struct pw_warp *w, const struct pw_mst *m, uint32_t mask, uint64_t first, const uint64_t low[],
                    const uint64_t high[])
{
    uint32_t one = mask & -mask;
    pw_compute(w, 7);
    pw_load_lanes(w, mask, &m->size, low);
    pw_compute(w, 13);
    pw_use(w);
    pw_atomic_lanes(w, mask, &m->size, high);
    pw_atomic_run(w, one, &m->components, -(int64_t)__builtin_ctz(one));
    pw_load_run(w, mask, &m->least, (int64_t)first);
    pw_compute(w, 6);
    pw_use(w);
    pw_compute(w, 3);
    pw_atomic_run(w, one, &m->total, -(int64_t)__builtin_ctz(one));
    pw_compute(w, 2);
    pw_atomic_run(w, one, &m->joined, -(int64_t)__builtin_ctz(one));
    pw_store_run(w, mask, &m->chosen, (int64_t)first);
    pw_store_run(w, mask, &m->least, (int64_t)first);
}

/* Joins the components of lanes whose edge was chosen. */
static void join(struct pw_warp *w, const struct pw_mst *m, uint32_t mask, uint64_t first, const uint64_t one[],
                 const uint64_t two[])
{
    uint64_t low[PW_WARP_LANES], high[PW_WARP_LANES];
    uint32_t first_is_root = 0, joined = 0;
    PW_FOR_LANES(lane, mask)
    {
        uint8_t outcome = m->outcome[first + lane];
        first_is_root |= (uint32_t)(outcome != PW_MST_FIRST_IS_NO_ROOT) << lane;
        joined |= (uint32_t)(outcome == PW_MST_JOINED) << lane;
        low[lane] = one[lane] < two[lane] ? one[lane] : two[lane];
        high[lane] = one[lane] < two[lane] ? two[lane] : one[lane];
    }
    pw_compute(w, 3);
    pw_atomic_return_lanes(w, mask, &m->boss, one);
    pw_compute(w, 1);
    pw_use(w);
    pw_compute(w, 2);
    if (first_is_root) {
        pw_compute(w, 2);
        pw_atomic_return_lanes(w, first_is_root, &m->boss, two);
        pw_use(w);
        pw_compute(w, 2);
    }
    if (joined) {
        pw_compute(w, 3);
        pw_atomic_return_lanes(w, joined, &m->boss, low);
        pw_use(w);
        pw_compute(w, 3);
    }
    if (mask & ~joined) {
        pw_compute(w, 5);
        pw_store_strided(w, mask & ~joined, &m->repeat, 0, 0);
        pw_compute(w, 1);
    }
    if (joined)
        account(w, m, joined, first, low, high);
}

void pw_mst_join_components_kernel(struct pw_warp *w, const void *arguments)
{
    const struct pw_mst *m = arguments;
    const uint32_t *partner = m->partner.data;
    const uint8_t *outcome = m->outcome;
    uint64_t threads = (uint64_t)w->launch->grid.x * w->launch->block.x;
    uint64_t first = (uint64_t)w->cta.x * w->launch->block.x + pw_first_thread(w), end = m->nodes + threads - 1;
    pw_compute(w, 29);
    end -= end % threads;
    for (uint32_t round = 1; first < end; first += threads, round++) {
        uint64_t node[PW_WARP_LANES], one[PW_WARP_LANES], two[PW_WARP_LANES], towards[PW_WARP_LANES];
        uint32_t mask = pw_lanes_below(w, first, m->nodes), chosen = 0, apart = 0;
        for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++)
            node[lane] = first + lane;
        PW_FOR_LANES(lane, mask)
        {
            towards[lane] = partner[node[lane]];
            chosen |= (uint32_t)(outcome[node[lane]] != PW_MST_NOT_CHOSEN) << lane;
            apart |= (uint32_t)(outcome[node[lane]] > PW_MST_SAME) << lane;
        }
        pw_compute(w, 8);
        pw_load_run(w, mask, &m->chosen, (int64_t)first);
        pw_use(w);
        pw_compute(w, 2);
        if (chosen) {
            pw_compute(w, 6);
            find(w, m, chosen, round, node, one);
            pw_compute(w, 8);
            pw_load_run(w, chosen, &m->partner, (int64_t)first);
            pw_use(w);
            find(w, m, chosen, round, towards, two);
        }
        pw_compute(w, 1);
        pw_barrier(w);
        pw_compute(w, 5);
        pw_load_run(w, mask, &m->chosen, (int64_t)first);
        pw_use(w);
        pw_compute(w, 5);
        if (apart)
            join(w, m, apart, first, one, two);
        pw_compute(w, 3);
        pw_barrier(w);
        pw_compute(w, 2);
    }
}
