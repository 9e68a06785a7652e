/* In serial mode the counts of the whole machine are those of textbook LRU: a fully associative TLB of E entries hits
 * exactly the touches whose stack distance (distinct pages since the last touch of the same page, itself included) is
 * at most E, for any trace.
 *
 * A touch is a page of a memory instruction, in the order of the lowest lane that touches it. Instructions come in the
 * order of their issue: program order within a warp; a greedy scheduler takes warp after warp, since loads that nobody
 * uses stall nobody, and round-robin one instruction of each in turn. The L2 TLB sees what misses the L1 TLB.
 * Distances are counted here by looking back through the trace. */
#include "sim/random.h"
#include "timed.h"

enum { PAGES = 48, INSTRUCTIONS = 120, MAX_WARPS = 6, MAX_SMS = 3, LANES = PW_WARP_LANES };

/* One memory instruction: the page of each active lane, and what kind of access it is. */
struct instruction {
    uint32_t mask;
    uint8_t kind;
    uint8_t page[LANES];
};

struct trace {
    uint32_t warps, sms;
    struct instruction code[MAX_SMS][MAX_WARPS][INSTRUCTIONS];
};

/* Lanes in few pages, with some reuse between neighbouring instructions, or all over the place. */
static void make_trace(struct trace *t, uint32_t sms, uint32_t warps, uint64_t seed)
{
    struct pw_random random;
    pw_random_init(&random, seed, "trace");
    t->sms = sms;
    t->warps = warps;
    for (uint32_t s = 0; s < sms; s++)
        for (uint32_t w = 0; w < warps; w++)
            for (uint32_t i = 0; i < INSTRUCTIONS; i++) {
                struct instruction *n = &t->code[s][w][i];
                uint64_t base = pw_random_below(&random, PAGES), width = 1 + pw_random_below(&random, 6);
                if (pw_random_below(&random, 8) == 0)
                    width = PAGES;
                n->mask = (uint32_t)pw_random_next(&random);
                n->mask &= (uint32_t)pw_random_next(&random);
                n->mask |= 1U << pw_random_below(&random, LANES);
                n->kind = pw_random_below(&random, 5) == 0 ? PW_OP_STORE : PW_OP_LOAD;
                for (uint32_t lane = 0; lane < LANES; lane++)
                    n->page[lane] = (uint8_t)((base + pw_random_below(&random, width)) % PAGES);
            }
}

/* Which line of its page a lane touches; any will do. */
static uint64_t byte_of(const struct instruction *n, uint32_t i, uint32_t lane)
{
    return n->page[lane] * (uint64_t)PW_PAGE_BYTES + (i * 7 + lane) % 32 * PW_LINE_BYTES;
}

static void replay(struct pw_warp *w, struct timed *t)
{
    const struct trace *trace = t->data;
    for (uint32_t i = 0; i < INSTRUCTIONS; i++) {
        const struct instruction *n = &trace->code[w->cta_index][w->index][i];
        uint64_t *at =
            pw_emit(w, 1 + pw_lane_count(n->mask),
                    (struct pw_op){.kind = n->kind, .form = PW_FORM_LANES, .bytes = 4, .count_or_mask = n->mask});
        PW_FOR_LANES(lane, n->mask)
        *at++ = t->a.base.v + byte_of(n, i, lane);
    }
}

struct touches {
    uint32_t count;
    uint8_t page[MAX_WARPS * INSTRUCTIONS * LANES];
};

static void add_instruction(struct touches *out, const struct instruction *n)
{
    uint64_t seen = 0;
    PW_FOR_LANES(lane, n->mask)
    {
        if (!(seen >> n->page[lane] & 1))
            out->page[out->count++] = n->page[lane];
        seen |= 1ULL << n->page[lane];
    }
}

static void order_touches(const struct trace *t, uint32_t sm, bool round_robin, struct touches *out)
{
    out->count = 0;
    uint32_t total = t->warps * INSTRUCTIONS;
    for (uint32_t k = 0; k < total; k++)
        add_instruction(out, round_robin ? &t->code[sm][k % t->warps][k / t->warps]
                                         : &t->code[sm][k / INSTRUCTIONS][k % INSTRUCTIONS]);
}

/* Hits of a fully associative LRU of `entries`; what misses goes to `misses`. */
static uint32_t count_hits(const struct touches *trace, uint32_t entries, struct touches *misses)
{
    uint32_t hits = 0;
    misses->count = 0;
    for (uint32_t i = 0; i < trace->count; i++) {
        uint64_t between = 1ULL << trace->page[i];
        uint32_t j = i;
        while (j > 0 && trace->page[j - 1] != trace->page[i])
            between |= 1ULL << trace->page[--j];
        if (j > 0 && (uint32_t)__builtin_popcountll(between) <= entries)
            hits++;
        else
            misses->page[misses->count++] = trace->page[i];
    }
    return hits;
}

struct shape {
    const char *l1_set, *l2_set;
    uint32_t l1, l2;
};

static const struct shape shapes[] = {
    {"l1_tlb.base_entries=1", "l2_tlb.base_entries=4", 1, 4},
    {"l1_tlb.base_entries=8", "l2_tlb.base_entries=16", 8, 16},
    {"l1_tlb.base_entries=17", "l2_tlb.base_entries=31", 17, 31},
    {"l1_tlb.base_entries=40", "l2_tlb.base_entries=44", 40, 44},
    {"l1_tlb.base_entries=48", "l2_tlb.base_entries=48", 48, 48},
};

static void check(struct trace *trace, const struct shape *shape, bool round_robin)
{
    struct timed t = {.kernel = replay,
                      .ctas = trace->sms,
                      .threads = trace->warps * LANES,
                      .bytes = PAGES * PW_PAGE_BYTES,
                      .data = trace,
                      .sets = {"sm.serial=on", shape->l1_set, shape->l2_set, "l2_tlb.base_ways=0",
                               round_robin ? "sm.schedule=rr" : "sm.schedule=gto"}};
    timed_run(&t);
    uint64_t lookups = 0, hits = 0;
    struct touches *touches = malloc(3 * sizeof *touches);
    assert_non_null(touches);
    for (uint32_t sm = 0; sm < trace->sms; sm++) {
        order_touches(trace, sm, round_robin, &touches[0]);
        lookups += touches[0].count;
        hits += count_hits(&touches[0], shape->l1, &touches[1]);
    }
    assert_int_equal(timed_count(&t, "l1_tlb.lookups"), lookups);
    assert_int_equal(timed_count(&t, "l1_tlb.hits"), hits);
    assert_int_equal(timed_count(&t, "l1_tlb.mshr_merges"), 0);
    assert_int_equal(timed_count(&t, "l2_tlb.lookups"), lookups - hits);
    if (trace->sms == 1) {
        uint64_t l2_hits = count_hits(&touches[1], shape->l2, &touches[2]);
        assert_int_equal(timed_count(&t, "l2_tlb.hits"), l2_hits);
        assert_int_equal(timed_count(&t, "walk.count"), lookups - hits - l2_hits);
    }
    free(touches);
    timed_end(&t);
}

static void check_all(uint32_t sms, uint32_t warps, unsigned seeds)
{
    struct trace *trace = malloc(sizeof *trace);
    assert_non_null(trace);
    for (uint64_t seed = 0; seed < seeds; seed++) {
        make_trace(trace, sms, warps, seed);
        for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
            for (unsigned round_robin = 0; round_robin < 2; round_robin++)
                check(trace, &shapes[i], round_robin);
    }
    free(trace);
}

/* comp-fig4-def */
static void hits_of_one_warp_equal_stack_distances(void **state)
{
    (void)state;
    check_all(1, 1, 4);
}

/* comp-fig4-def */
static void hits_of_many_warps_equal_stack_distances_in_the_order_of_issue(void **state)
{
    (void)state;
    check_all(1, MAX_WARPS, 2);
}

/* Each SM has a TLB of its own, so the order among SMs does not matter. */
static void hits_of_many_sms_equal_stack_distances_of_each(void **state)
{
    (void)state;
    check_all(MAX_SMS, 4, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hits_of_one_warp_equal_stack_distances),
        cmocka_unit_test(hits_of_many_warps_equal_stack_distances_in_the_order_of_issue),
        cmocka_unit_test(hits_of_many_sms_equal_stack_distances_of_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
