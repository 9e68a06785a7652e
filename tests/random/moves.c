/* Pages that move between GPUs at random, without a stale translation.
 *
 * Warps of two to five GPUs load from, store to and update a few pages that all of them want, with TLBs of one and two
 * entries, under a placement, route, fabric and page size drawn for each run. Every hit of an L1 TLB and every answer
 * is judged against the page table, in every run; at the end all identities hold, among them that every frame is owned
 * once, and each page is where the page table says, on one GPU. Beside them runs a second application with pages of the
 * same numbers, of which each CTA has its own: only one GPU wants such a page, so it moves there, once. No other GPU
 * ever accesses it, whatever the first application's page of that number does meanwhile.
 *
 * A hundred thousand moves; another number may be given as argument. */
#include "sim/random.h"
#include "timed.h"

#include <stdio.h>

static uint64_t wanted_moves = 100000;

enum { PAGES, ACCESSES, SEED }; /* of n */
enum { CTAS = 20 };

static void wander(struct pw_warp *w, struct timed *t)
{
    static const enum pw_op_kind kinds[] = {PW_OP_LOAD, PW_OP_LOAD, PW_OP_STORE, PW_OP_ATOMIC, PW_OP_ATOMIC_RETURN};
    struct pw_random random;
    uint64_t page = (uint64_t)PW_PAGE_BYTES << t->system->spaces[t->app].order;
    pw_random_init(&random, t->n[SEED] << 32 | w->cta_index << 8 | w->index, "wander");
    for (uint64_t i = 0; i < t->n[ACCESSES]; i++) {
        uint64_t byte = pw_random_below(&random, t->n[PAGES]) * page + pw_random_below(&random, page / 4) * 4;
        enum pw_op_kind kind = kinds[pw_random_below(&random, sizeof kinds / sizeof *kinds)];
        pw_access_affine(w, kind, 1, t->a.base.v + byte, 0, 4);
        if (kind == PW_OP_LOAD || kind == PW_OP_ATOMIC_RETURN)
            pw_use(w);
    }
}

/* The CTA's own pages. */
static void stay(struct pw_warp *w, struct timed *t)
{
    struct pw_random random;
    uint64_t page = (uint64_t)PW_PAGE_BYTES << t->system->spaces[t->app].order;
    pw_random_init(&random, t->n[SEED] << 32 | w->cta_index << 8 | w->index, "stay");
    for (uint64_t i = 0; i < t->n[ACCESSES]; i++) {
        uint64_t mine = w->cta_index + CTAS * pw_random_below(&random, t->n[PAGES] / CTAS);
        timed_fetch(w, t, mine * page + pw_random_below(&random, page / 4) * 4);
    }
}

static const char *one_of(struct pw_random *random, const char *const *choices, unsigned count)
{
    return choices[pw_random_below(random, count)];
}

#define ONE_OF(random, ...)                                                                                            \
    one_of(random, (const char *const[]){__VA_ARGS__},                                                                 \
           sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static uint64_t count_of(const struct timed *t, unsigned app, const char *metric)
{
    return pw_stats_exact(t->system->stats, timed_index(t, metric), (int)app, NULL, t->system->region_to);
}

static uint64_t moves_of_run(uint64_t seed, uint64_t *moves_home)
{
    struct pw_random random;
    char gpus[32];
    pw_random_init(&random, seed, "moves");
    snprintf(gpus, sizeof gpus, "gpu.count=%llu", 2 + (unsigned long long)pw_random_below(&random, 4));
    struct timed t = {.machine = "mgpu4", .kernel = wander, .ctas = CTAS, .threads = 2 * PW_WARP_LANES};
    t.design = ONE_OF(&random, "distributed", "centralized", "bypass", "route-ideal", "mosaic+bypass");
    bool mosaic = t.design[0] == 'm';
    const char *sets[] = {gpus,
                          "place.remote=migrate",
                          "sm.count=2",
                          "dram.bytes=64MB",
                          "l1_tlb.base_entries=1",
                          "l1_tlb.large_entries=1",
                          "l2_tlb.base_entries=2",
                          "l2_tlb.base_ways=2",
                          "l2_tlb.large_entries=2",
                          "l2_tlb.large_ways=2",
                          ONE_OF(&random, "place.policy=interleaved", "place.policy=by-array", "place.policy=split",
                                 "place.policy=first-touch", "place.policy=single"),
                          ONE_OF(&random, "place.ctas=blocks", "place.ctas=interleaved"),
                          ONE_OF(&random, "fabric.topology=tree", "fabric.topology=all-to-all"),
                          ONE_OF(&random, "fabric.switch_latency=0", "fabric.switch_latency=20"),
                          ONE_OF(&random, "walk.model=fixed", "walk.model=memory"),
                          ONE_OF(&random, "l2_tlb.mshrs=2", "l2_tlb.mshrs=64"),
                          ONE_OF(&random, "fabric.gb_per_s=16", "fabric.gb_per_s=300"),
                          mosaic ? "page.size=4KB"
                                 : ONE_OF(&random, "page.size=4KB", "page.size=4KB", "page.size=64KB")};
    for (unsigned i = 0; i < sizeof sets / sizeof *sets; i++)
        t.sets[i] = sets[i];
    t.n[PAGES] = 2 + pw_random_below(&random, 14);
    t.n[ACCESSES] = 200;
    t.n[SEED] = seed;
    t.bytes = mosaic ? 4 << 20 : t.n[PAGES] << 16;
    t.spec.seed = seed;
    struct timed homebody = t;
    homebody.kernel = stay;
    homebody.n[PAGES] = 2 * CTAS;
    homebody.bytes = mosaic ? 4 << 20 : homebody.n[PAGES] << 16;
    t.neighbours[0] = &homebody;
    if (timed_try(&t) != PW_OK)
        fail_msg("seed %llu: %s", (unsigned long long)seed, t.err.message);
    for (size_t i = 0; i < pw_stats_identity_count(t.system->stats); i++)
        if (pw_stats_identity_run(t.system->stats, i, &t.err) != PW_OK)
            fail_msg("seed %llu: %s", (unsigned long long)seed, t.err.message);
    uint64_t moves = timed_count(&t, "move.pages");
    assert_int_equal(timed_count(&t, "move.refused"), 0);
    assert_int_equal(count_of(&t, homebody.app, "peer.reads"), 0);
    assert_true(count_of(&t, homebody.app, "move.pages") <= homebody.n[PAGES]);
    *moves_home += count_of(&t, homebody.app, "move.pages");
    timed_end(&t);
    return moves;
}

/* gmmu-sec22-migration: wherever a page goes, no request is sent where it was. */
static void pages_move_and_no_translation_is_stale(void **state)
{
    (void)state;
    uint64_t moves = 0, runs = 0, moves_home = 0;
    while (moves < wanted_moves)
        moves += moves_of_run(++runs, &moves_home);
    assert_true(moves_home > runs);
    print_message("%llu moves in %llu runs\n", (unsigned long long)moves, (unsigned long long)runs);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pages_move_and_no_translation_is_stale)};
    if (argc > 1)
        wanted_moves = strtoull(argv[1], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
