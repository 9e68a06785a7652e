/* What a launch makes of an SM's memory (gpu/launch.c): how much of it is shared memory, and what is left to the L1
 * data cache. */
#include "gpu/gpu_internal.h"
#include "timed.h"

struct carved {
    const char *shared_reserved;
    uint32_t threads, shared_bytes, registers;
    uint32_t left; /* for the L1, of 256 KB; in KB */
};

static void nothing_at_all(struct pw_warp *w, struct timed *t)
{
    (void)w;
    (void)t;
}

/* Of 228 KB for shared memory the smallest size in which as many CTAs have room as would in all of it. */
static void shared_memory_takes_the_smallest_size_that_holds_all_ctas_that_fit(void **state)
{
    (void)state;
    static const struct carved cases[] = {
        {"sm.shared_reserved=0", 32, 0, 0, 256},          /* no shared memory at all */
        {"sm.shared_reserved=1KB", 32, 0, 0, 256 - 32},   /* 32 CTAs of 1 KB */
        {"sm.shared_reserved=1KB", 1024, 0, 0, 256 - 8},  /* 2 CTAs: 2 KB */
        {"sm.shared_reserved=0", 1024, 4096, 0, 256 - 8}, /* 8 KB to the byte */
        {"sm.shared_reserved=1", 1024, 4096, 0, 256 - 16},
        {"sm.shared_reserved=1KB", 128, 16384, 0, 256 - 228}, /* 13 CTAs of 17 KB: 221 KB */
        {"sm.shared_reserved=0", 128, 102400, 0, 256 - 228},  /* 2 CTAs: 200 KB */
        {"sm.shared_reserved=0", 256, 16384, 255, 256 - 16},  /* registers for one CTA */
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct carved *c = &cases[i];
        struct timed t = {.design = "ideal-tlb", .kernel = nothing_at_all, .ctas = 4};
        t.threads = c->threads;
        t.shared_bytes = c->shared_bytes;
        t.registers = c->registers;
        t.sets[0] = "l1d.carved=on";
        t.sets[1] = "l1d.bytes=256KB";
        t.sets[2] = "sm.shared_bytes=228KB";
        t.sets[3] = "sm.ctas=32";
        t.sets[4] = "sm.threads=2048";
        t.sets[5] = "sm.warps=64";
        t.sets[6] = "sm.registers=65536";
        t.sets[7] = c->shared_reserved;
        timed_run(&t);
        const struct pw_cache *l1 = &t.system->nodes[0].gpu->sms[0].l1;
        if (l1->sets.by * l1->ways * PW_LINE_BYTES != c->left << 10)
            fail_msg("case %u: %u bytes are left", i, l1->sets.by * l1->ways * PW_LINE_BYTES);
        timed_end(&t);
    }
}

/* Loads n[0] lines, n[1] bytes apart, twice. */
static void lines_in_turn(struct pw_warp *w, struct timed *t)
{
    for (uint64_t i = 0; i < 2 * t->n[0]; i++)
        timed_fetch(w, t, i % t->n[0] * t->n[1]);
}

static uint64_t l1_hits(uint64_t lines, uint64_t stride, const char *const sets[4], uint32_t launches)
{
    struct timed t = {.design = "ideal-tlb", .kernel = lines_in_turn, .n = {lines, stride}, .launches = launches};
    t.sets[0] = "sm.count=1";
    memcpy(t.sets + 1, sets, 4 * sizeof *sets);
    timed_run(&t);
    uint64_t hits = timed_count(&t, "l1d.hits");
    timed_end(&t);
    return hits;
}

/* 64 KB, of which 48 can be shared memory: that of the one CTA that fits takes 48, and 128 lines are left. What the
 * launch before has left is there while the division stays. */
static void what_shared_memory_takes_is_missing_in_the_l1(void **state)
{
    (void)state;
    static const char *const sets[] = {"l1d.carved=on", "l1d.bytes=64KB", "sm.shared_bytes=48KB",
                                       "sm.shared_reserved=33KB"};
    static const char *const whole[] = {"l1d.carved=off", "l1d.bytes=64KB", "sm.shared_bytes=48KB",
                                        "sm.shared_reserved=33KB"};
    assert_int_equal(l1_hits(128, PW_LINE_BYTES, sets, 1), 128);
    assert_int_equal(l1_hits(256, PW_LINE_BYTES, sets, 1), 0);
    assert_int_equal(l1_hits(256, PW_LINE_BYTES, whole, 1), 256);
    assert_int_equal(l1_hits(128, PW_LINE_BYTES, sets, 2), 3 * 128);
}

/* 16 KB of 4 ways: 32 sets. Lines 32 apart all lie in one of them, unless a hash chooses it. */
static void a_hash_keeps_strides_out_of_one_set(void **state)
{
    (void)state;
    static const char *const plain[4] = {"l1d.bytes=16KB", "l1d.ways=4", "l1d.hashed_sets=off"};
    static const char *const hashed[4] = {"l1d.bytes=16KB", "l1d.ways=4", "l1d.hashed_sets=on"};
    assert_int_equal(l1_hits(5, 32 * PW_LINE_BYTES, plain, 1), 0);
    assert_int_equal(l1_hits(32, 32 * PW_LINE_BYTES, hashed, 1), 32);
    assert_int_equal(l1_hits(128, PW_LINE_BYTES, hashed, 1), 128); /* what is contiguous still fits */
}

/* 48 KB and 4 lines are enough. */
static void shared_memory_has_to_leave_a_set_to_the_l1(void **state)
{
    (void)state;
    struct timed t = {.sets = {"l1d.carved=on", "l1d.ways=4", "sm.shared_bytes=48KB", "l1d.bytes=49664"}};
    timed_configure(&t);
    struct pw_error err;
    assert_int_equal(pw_config_check(&t.config, &err), PW_OK);
    t.config.gpu.l1d.bytes--;
    assert_int_equal(pw_config_check(&t.config, &err), PW_USER_ERROR);
    assert_non_null(strstr(err.message, "give l1d.bytes=49664B or more, or l1d.carved=off"));
    timed_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_memory_takes_the_smallest_size_that_holds_all_ctas_that_fit),
        cmocka_unit_test(what_shared_memory_takes_is_missing_in_the_l1),
        cmocka_unit_test(a_hash_keeps_strides_out_of_one_set),
        cmocka_unit_test(shared_memory_has_to_leave_a_set_to_the_l1),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
