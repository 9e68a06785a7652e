/* pointer_chase: one thread follows a chain of pointers, each load waiting for the one before: the latency probe.
 *
 * The chain visits bytes / stride places, stride bytes apart, either in order (order=stride) or along one random cycle
 * through all of them (order=random), and begins anew when hops exceed their number. Place k of the cycle is a
 * permutation of k in closed form, so that values=off has the same addresses. The chase is unrolled: no instruction
 * stands between two loads. Three instructions come before it; the place reached is stored at the end. */
#include "workload/runtime/host.h"
#include "workload/runtime/inputs.h"

enum order { ORDER_RANDOM, ORDER_STRIDE };

struct parameters {
    uint64_t bytes, stride;
    uint32_t hops, order;
};

struct arguments {
    struct pw_array chain, result;
    uint64_t places, words_per_place, seed;
    uint32_t hops, order;
};

static inline uint64_t place_of(const struct arguments *g, uint64_t k)
{
    k %= g->places;
    return g->order == ORDER_STRIDE ? k : pw_permuted(g->seed, k, g->places);
}

static void chase_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    const uint64_t *next = g->chain.data;
    uint64_t place = place_of(g, 0);
    pw_compute(w, 3);
    for (uint32_t hop = 0; hop < g->hops; hop++) {
        uint64_t word = place * g->words_per_place;
        pw_load_run(w, w->lanes, &g->chain, (int64_t)word);
        pw_use(w);
        place = next ? next[word] : place_of(g, (uint64_t)hop + 1);
    }
    pw_store_run(w, w->lanes, &g->result, 0);
    if (g->result.data)
        *(uint64_t *)g->result.data = place;
}

static void chase_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    uint64_t bytes = pw_host_scaled(h, p->bytes, p->stride);
    if (p->stride % sizeof(uint64_t) || bytes < p->stride)
        pw_host_fail(h, "stride must be a multiple of 8 and at most bytes");
    struct arguments g = {
        .places = bytes / p->stride,
        .words_per_place = p->stride / sizeof(uint64_t),
        .seed = pw_random_next(pw_host_random(h)),
        .hops = p->hops,
        .order = p->order,
    };
    g.chain = pw_alloc(h, "chain", g.places * g.words_per_place, sizeof(uint64_t));
    g.result = pw_alloc(h, "result", 1, sizeof(uint64_t));
    uint64_t *next = g.chain.data;
    for (uint64_t k = 0, place = place_of(&g, 0); next && k < g.places; k++) {
        uint64_t following = place_of(&g, k + 1);
        next[place * g.words_per_place] = following;
        place = following;
    }
    pw_host_plan(h, 1);
    pw_launch(h, &(struct pw_launch){.name = "pointer_chase",
                                     .grid = {1, 1, 1},
                                     .block = {1, 1, 1},
                                     .registers = 8,
                                     .pace = 4026,
                                     .kernel = chase_kernel,
                                     .arguments = &g});
    if (pw_host_verifying(h))
        pw_host_expect(h, *(uint64_t *)g.result.data == place_of(&g, g.hops), "the chase ended at another place");
}

static const char *const orders[] = {"random", "stride", NULL};

static const struct pw_option rows[] = {
    {"bytes", PW_OPTION_BYTES, offsetof(struct parameters, bytes), 8, 0, "64MB", "bytes", NULL,
     "size of what is walked over", false},
    {"stride", PW_OPTION_BYTES, offsetof(struct parameters, stride), 8, 0, "128", "bytes", NULL,
     "distance between places, a multiple of 8", false},
    {"hops", PW_OPTION_COUNT, offsetof(struct parameters, hops), 1, 0, "10000", "loads", NULL, "loads in the chain",
     false},
    {"order", PW_OPTION_CHOICE, offsetof(struct parameters, order), 0, 0, "random", "", orders,
     "a random cycle through all places, or one place after the other", false},
    {0},
};

const struct pw_workload pw_workload_pointer_chase = {
    .name = "pointer_chase",
    .suite = "pagewalk",
    .summary = "one thread follows a chain of pointers: the latency probe",
    .parameters = rows,
    .parameters_bytes = sizeof(struct parameters),
    .main = chase_main,
};
