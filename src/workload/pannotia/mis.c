/* mis: a maximal independent set by Luby's algorithm, of Pannotia.
 *
 * Kept: one thread per node in CTAs of 128; a kernel that initialises, then per round one in which every open node
 * finds the least value among its open neighbours (and sets a flag for the host), one in which those whose own value is
 * less join the set, leave the open nodes and mark their open neighbours as to leave, and one in which the marked ones
 * leave; as many rounds as it takes (the last finds nobody open), or as `iterations` says; the arrays and their order
 * of allocation.
 * Changed: the graph is undirected, whatever it was, and values differ from each other (csr.h). What the second kernel
 * reads of other nodes is what they were before it; nodes that join are no neighbours, so it could not see more.
 * The default is like coAuthorsDBLP: the paper says that its graph programs run on author networks. Instruction counts,
 * loads in flight and registers are those of the same kernels in CUDA as nvcc 13 compiles them for sm_90, the loop not
 * unrolled. */
#include "workload/pannotia/csr.h"

#include <string.h>

enum { CTA_THREADS = 128, OPEN = -1, INACTIVE = -2, MEMBER = 2 };
#define BIGNUM 99999999.0F

struct parameters {
    struct pw_graph_input input;
    uint32_t iterations;
};

struct independent {
    struct pw_csr graph;
    struct pw_array stop, min, state, update, set, value;
    int32_t *before; /* the states when the launch began */
};

static void init_kernel(struct pw_warp *w, const void *arguments)
{
    const struct independent *s = arguments;
    int32_t *state = s->state.data, *update = s->update.data, *set = s->set.data;
    int64_t first;
    uint32_t mask = pw_csr_locate(w, s->graph.nodes, &first);
    if (!mask)
        return;
    PW_FOR_LANES(lane, mask)
    {
        state[first + lane] = update[first + lane] = OPEN;
        set[first + lane] = 0;
    }
    pw_compute(w, 7);
    pw_store_run(w, mask, &s->state, first);
    pw_compute(w, 1);
    pw_store_run(w, mask, &s->update, first);
    pw_compute(w, 1);
    pw_store_run(w, mask, &s->set, first);
}

/* Looks at the neighbours of nodes that have edges. */
static void find_minima(struct pw_warp *w, const struct independent *s, uint32_t mask, struct pw_csr_edges *edges,
                        float least[])
{
    const float *value = s->value.data;
    uint64_t target[PW_WARP_LANES];
    pw_compute(w, 6);
    while (mask) {
        pw_csr_load_targets(w, &s->graph, mask, edges, target);
        pw_use(w);
        pw_compute(w, 1);
        pw_load_lanes(w, mask, &s->state, target);
        pw_compute(w, 4);
        pw_use(w);
        pw_compute(w, 2);
        uint32_t open = pw_csr_targets_with(s->state.data, mask, target, OPEN);
        if (open) {
            PW_FOR_LANES(lane, open)
            least[lane] = value[target[lane]] < least[lane] ? value[target[lane]] : least[lane];
            pw_compute(w, 3);
            pw_load_lanes(w, open, &s->value, target);
            pw_use(w);
            pw_compute(w, 2);
        }
        pw_compute(w, 3);
        mask = pw_csr_next(mask, edges);
    }
}

static void min_kernel(struct pw_warp *w, const void *arguments)
{
    const struct independent *s = arguments;
    float *min = s->min.data, least[PW_WARP_LANES];
    struct pw_csr_edges edges;
    int64_t first;
    uint32_t mask = pw_csr_locate(w, s->graph.nodes, &first);
    if (!mask)
        return;
    pw_compute(w, 4);
    pw_load_run(w, mask, &s->state, first);
    pw_use(w);
    pw_compute(w, 1);
    mask = pw_csr_lanes_with(&s->state, mask, first, OPEN);
    if (!mask)
        return;
    *(int32_t *)s->stop.data = 1;
    pw_compute(w, 14);
    pw_store_strided(w, mask, &s->stop, 0, 0);
    uint32_t with_edges = pw_csr_load_rows(w, &s->graph, mask, first, &edges);
    pw_compute(w, 2);
    pw_use(w);
    pw_compute(w, 2);
    PW_FOR_LANES(lane, mask)
    least[lane] = BIGNUM;
    if (with_edges)
        find_minima(w, s, with_edges, &edges, least);
    PW_FOR_LANES(lane, mask)
    min[first + lane] = least[lane];
    pw_compute(w, 4);
    pw_store_run(w, mask, &s->min, first);
}

static void remember_states(void *state)
{
    struct independent *s = state;
    memcpy(s->before, s->state.data, s->graph.nodes * sizeof *s->before);
}

/* The nodes of a warp that join the set. */
static uint32_t load_joining(struct pw_warp *w, const struct independent *s, int64_t *out_first)
{
    const float *value = s->value.data, *min = s->min.data;
    uint32_t mask = pw_csr_locate(w, s->graph.nodes, out_first), less = 0, joining = 0;
    if (!mask)
        return 0;
    pw_compute(w, 5);
    pw_load_run(w, mask, &s->value, *out_first);
    pw_compute(w, 1);
    pw_load_run(w, mask, &s->min, *out_first);
    pw_use(w);
    pw_compute(w, 1);
    PW_FOR_LANES(lane, mask)
    less |= (uint32_t)(value[*out_first + lane] < min[*out_first + lane]) << lane;
    if (!less)
        return 0;
    pw_compute(w, 7);
    pw_load_run(w, less, &s->state, *out_first);
    pw_use(w);
    pw_compute(w, 1);
    PW_FOR_LANES(lane, less)
    joining |= (uint32_t)(s->before[*out_first + lane] == OPEN) << lane;
    return joining;
}

static void join_kernel(struct pw_warp *w, const void *arguments)
{
    const struct independent *s = arguments;
    int32_t *state = s->state.data, *update = s->update.data, *set = s->set.data;
    struct pw_csr_edges edges;
    uint64_t target[PW_WARP_LANES];
    int64_t first;
    uint32_t mask = load_joining(w, s, &first);
    if (!mask)
        return;
    PW_FOR_LANES(lane, mask)
    {
        set[first + lane] = MEMBER;
        state[first + lane] = INACTIVE;
    }
    pw_compute(w, 12);
    pw_store_run(w, mask, &s->set, first);
    uint32_t with_edges = pw_csr_load_rows(w, &s->graph, mask, first, &edges);
    pw_compute(w, 1);
    pw_store_run(w, mask, &s->state, first);
    pw_use(w);
    pw_compute(w, 1);
    if (!with_edges)
        return;
    pw_compute(w, 6);
    for (mask = with_edges; mask; mask = pw_csr_next(mask, &edges)) {
        pw_csr_load_targets(w, &s->graph, mask, &edges, target);
        pw_use(w);
        pw_compute(w, 1);
        pw_load_lanes(w, mask, &s->state, target);
        pw_compute(w, 2);
        pw_use(w);
        uint32_t open = pw_csr_targets_with(s->before, mask, target, OPEN);
        pw_compute(w, open ? 6 : 7); /* the skipped store is issued too */
        pw_store_lanes(w, open, &s->update, target);
        PW_FOR_LANES(lane, open)
        update[target[lane]] = INACTIVE;
        pw_compute(w, 3);
    }
}

static void leave_kernel(struct pw_warp *w, const void *arguments)
{
    const struct independent *s = arguments;
    int32_t *state = s->state.data;
    int64_t first;
    uint32_t mask = pw_csr_locate(w, s->graph.nodes, &first);
    if (!mask)
        return;
    pw_compute(w, 4);
    pw_load_run(w, mask, &s->update, first);
    pw_use(w);
    pw_compute(w, 1);
    mask = pw_csr_lanes_with(&s->update, mask, first, INACTIVE);
    if (!mask)
        return;
    PW_FOR_LANES(lane, mask)
    state[first + lane] = INACTIVE;
    pw_compute(w, 6);
    pw_store_run(w, mask, &s->state, first);
}

/* No two members are neighbours; after a whole run everybody else has a member for a neighbour. */
static void verify(struct pw_host *h, const struct pw_graph *g, const int32_t *set, bool whole)
{
    uint32_t dependent = g->nodes, missing = g->nodes;
    for (uint32_t v = g->nodes; v-- > 0;) {
        bool beside = false;
        for (uint64_t e = g->first[v]; e < g->first[v + 1]; e++)
            beside |= set[g->target[e]] == MEMBER;
        if (beside && set[v] == MEMBER)
            dependent = v;
        if (!beside && set[v] != MEMBER)
            missing = v;
    }
    pw_host_expect(h, dependent == g->nodes, "node %u and a neighbour of its are in the set", dependent);
    pw_host_expect(h, !whole || missing == g->nodes, "node %u could join the set", missing);
}

static void mis_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    struct pw_graph g = pw_graph_undirected_of(h, &p->input);
    struct independent s = {.graph = pw_csr_alloc(h, &g, "row_d", "col_d", g.nodes),
                            .stop = pw_alloc(h, "stop_d", 1, sizeof(int32_t)),
                            .min = pw_alloc(h, "min_array_d", g.nodes, sizeof(float)),
                            .state = pw_alloc(h, "c_array_d", g.nodes, sizeof(int32_t)),
                            .update = pw_alloc(h, "c_array_u_d", g.nodes, sizeof(int32_t)),
                            .set = pw_alloc(h, "s_array_d", g.nodes, sizeof(int32_t)),
                            .value = pw_alloc(h, "node_value_d", g.nodes, sizeof(float)),
                            .before = pw_host_keep(h, g.nodes * sizeof(int32_t))};
    int32_t *stop = s.stop.data;
    pw_csr_fill_values(h, &s.value, g.nodes);
    struct pw_launch init = pw_csr_launch(g.nodes, CTA_THREADS, "init", init_kernel, 14, &s);
    struct pw_launch find = pw_csr_launch(g.nodes, CTA_THREADS, "mis1", min_kernel, 16, &s);
    struct pw_launch join = pw_csr_launch(g.nodes, CTA_THREADS, "mis2", join_kernel, 16, &s);
    struct pw_launch leave = pw_csr_launch(g.nodes, CTA_THREADS, "mis3", leave_kernel, 8, &s);
    join.resolve = remember_states;
    join.resolve_state = &s;
    pw_launch(h, &init);
    *stop = 1;
    for (uint32_t i = 0; *stop && pw_host_pass(h, i, p->iterations); i++) {
        *stop = 0;
        pw_launch(h, &find);
        pw_launch(h, &join);
        pw_launch(h, &leave);
    }
    if (pw_host_verifying(h))
        verify(h, &g, s.set.data, !*stop);
}

static const struct pw_option rows[] = {
    PW_GRAPH_INPUT_ROWS("299067", "7", "cliques"),
    {"iterations", PW_OPTION_COUNT, offsetof(struct parameters, iterations), 0, 0, "0", "", NULL,
     "rounds at most; 0: as many as it takes", false},
    {0},
};

const struct pw_workload pw_workload_mis = {
    .name = "mis",
    .suite = "Pannotia",
    .papers = "compression",
    .summary = "maximal independent set, by rounds in which nodes with the least value around join",
    .parameters = rows,
    .passes = "iterations",
    .parameters_bytes = sizeof(struct parameters),
    .needs_values = true,
    .digest_file = pw_graph_digest,
    .main = mis_main,
};
