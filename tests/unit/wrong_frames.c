/* A TLB that returns a wrong frame fails the run, whichever it is: every translation that is used is one that a TLB or
 * a walk has returned, and is compared with the page table. */
#include "gpu/gpu_internal.h"
#include "timed.h"

#include <stdio.h>

enum { WRONG = 12345 };

/* A plain TLB, but for what its lookups return. */
extern const struct pw_tlb_policy pw_tlb_policy_plain;

static bool lookup_wrong(void *state, struct pw_tlb_key key, pw_pfn *out_frame)
{
    bool hit = pw_tlb_policy_plain.lookup(state, key, out_frame);
    out_frame->v ^= WRONG;
    return hit;
}

static struct pw_tlb_policy broken;

static void break_l1(struct timed *t)
{
    for (uint32_t i = 0; i < t->system->nodes[0].gpu->config.sm.count; i++)
        t->system->nodes[0].gpu->sms[i].tlb.base.policy = &broken;
}

static void break_l2(struct timed *t)
{
    pw_mmu_tlb(t->system->nodes[0].gpu->mmu)->base.policy = &broken;
}

/* The second CTA asks when the first one's translation is in the L2 TLB. Both come back to the page. */
static void load_twice(struct pw_warp *w, struct timed *t)
{
    if (w->cta_index)
        pw_compute(w, 5000);
    timed_fetch(w, t, 0);
    timed_fetch(w, t, 256);
}

static struct timed two_sms(void)
{
    broken = pw_tlb_policy_plain;
    broken.lookup = lookup_wrong;
    return (struct timed){.kernel = load_twice, .ctas = 2, .sets = {"sm.count=2"}};
}

static void assert_fails(struct timed t, const char *who)
{
    char expected[160];
    assert_int_equal(timed_try(&t), PW_FAILED);
    pw_vpn page = pw_vpn_of(t.a.base);
    uint32_t frame = pw_page_table_lookup(t.system->spaces[0].table, page).frame.v;
    snprintf(expected, sizeof expected,
             "%s returned frame 0x%x for page 0x%llx of app0, where the page table has frame 0x%x", who, frame ^ WRONG,
             (unsigned long long)page.v, frame);
    assert_string_equal(t.err.message, expected);
    timed_end(&t);
}

static void a_wrong_frame_from_an_l1_tlb_fails_the_run(void **state)
{
    (void)state;
    struct timed t = two_sms();
    t.prepare = break_l1;
    assert_fails(t, "an L1 TLB");
}

static void a_wrong_frame_from_the_l2_tlb_fails_the_run(void **state)
{
    (void)state;
    struct timed t = two_sms();
    t.prepare = break_l2;
    assert_fails(t, "the L2 TLB");
}

/* Page 1 takes the place of page 0 in the L1 TLB, which so never returns what the L2 TLB has answered. */
static void load_and_evict(struct pw_warp *w, struct timed *t)
{
    if (w->cta_index)
        pw_compute(w, 5000);
    timed_fetch(w, t, 0);
    if (!w->cta_index)
        return;
    timed_fetch(w, t, PW_PAGE_BYTES);
    timed_fetch(w, t, 256);
}

static void a_wrong_frame_that_the_l1_tlb_loses_before_its_second_use_fails_the_run(void **state)
{
    (void)state;
    struct timed t = two_sms();
    t.kernel = load_and_evict;
    t.sets[1] = "l1_tlb.base_entries=1";
    t.prepare = break_l2;
    struct timed whole = t;
    assert_fails(t, "the L2 TLB");
    whole.prepare = NULL;
    timed_run(&whole);
    assert_int_equal(timed_count(&whole, "l1_tlb.hits"), 0);
    assert_int_equal(timed_count(&whole, "l2_tlb.hits"), 2);
    timed_end(&whole);
}

static void with_tlbs_that_work_the_run_ends_well(void **state)
{
    (void)state;
    struct timed t = two_sms();
    timed_run(&t);
    assert_int_equal(timed_count(&t, "l2_tlb.hits"), 1);
    assert_int_equal(timed_count(&t, "l1_tlb.hits"), 2);
    timed_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrong_frame_from_an_l1_tlb_fails_the_run),
        cmocka_unit_test(a_wrong_frame_from_the_l2_tlb_fails_the_run),
        cmocka_unit_test(a_wrong_frame_that_the_l1_tlb_loses_before_its_second_use_fails_the_run),
        cmocka_unit_test(with_tlbs_that_work_the_run_ends_well),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
