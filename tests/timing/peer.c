/* Accesses to another GPU's memory in exact cycles: what the way there and back adds to the same access of the owner's.
 *
 * All pages are on GPU 0, whose two SMs have CTAs 0 and 1; those of GPU i have CTAs 2i and 2i + 1. CTA 0 may put the
 * line into the L2, and then one warp of the CTA in question accesses it, with its page in the TLB and not in its L1
 * cache. */
#include "timed.h"

enum { SMS = 2, XBAR = 10, SWITCH = 140, BYTES_A_CYCLE = 16, REQUEST = 16, HEADER = 16, LINE = 128, SECTOR = 32 };
enum { OPS, CTA, WARM, KIND };                     /* of n: whether to access at all, by whom, from the L2, how */
enum { LOCAL = 1, NEIGHBOUR = 2, FAR = 4 };        /* CTAs: of GPU 0, of GPU 1 behind the same switch, of GPU 2 */
enum { FIRST_LINE = 0, MEASURED_LINE = 2 * LINE }; /* bytes of the array */

static void access_line(struct pw_warp *w, struct timed *t)
{
    if (t->launch == 0) {
        if (t->n[WARM] && w->cta_index == 0)
            timed_fetch(w, t, MEASURED_LINE);
        return;
    }
    if (w->cta_index != t->n[CTA])
        return;
    timed_fetch(w, t, FIRST_LINE);
    if (!t->n[OPS])
        return;
    pw_access_affine(w, (enum pw_op_kind)t->n[KIND], 1, t->a.base.v + MEASURED_LINE, 0, 4);
    if (t->n[KIND] == PW_OP_LOAD || t->n[KIND] == PW_OP_ATOMIC_RETURN)
        pw_use(w);
}

static struct timed program(enum pw_op_kind kind, uint64_t cta, bool warm)
{
    return (struct timed){.machine = "mgpu4",
                          .design = "distributed",
                          .sets = {"place.policy=single", "sm.count=2", "dram.bytes=256MB", "dram.clock_mhz=1000"},
                          .ctas = 4 * SMS,
                          .launches = 2,
                          .kernel = access_line,
                          .n = {[OPS] = 1, [CTA] = cta, [WARM] = warm, [KIND] = kind}};
}

/* What the access adds to the run. */
static pw_cycle cost(struct timed t)
{
    pw_cycle with = timed_cycles(t);
    t.n[OPS] = 0;
    return with - timed_cycles(t);
}

static pw_cycle way(unsigned switches, uint32_t bytes)
{
    return switches * SWITCH + (bytes + BYTES_A_CYCLE - 1) / BYTES_A_CYCLE;
}

/* Against the same access of the owner's own SM: a message there and one back, and the crossbar of either GPU twice. */
static void check_ways(enum pw_op_kind kind, bool warm, uint32_t there, uint32_t back, const char *sectored)
{
    struct timed t[] = {program(kind, LOCAL, warm), program(kind, NEIGHBOUR, warm), program(kind, FAR, warm)};
    for (unsigned i = 0; i < 3; i++)
        t[i].sets[4] = sectored;
    t[0].sets[5] = t[1].sets[5] = t[2].sets[5] = sectored ? "l2.sectored=on" : NULL;
    pw_cycle local = cost(t[0]);
    assert_int_equal(cost(t[1]), local + way(1, there) + way(1, back) + 2 * XBAR);
    assert_int_equal(cost(t[2]), local + way(3, there) + way(3, back) + 2 * XBAR);
}

static void a_read_brings_a_line_behind_a_header(void **state)
{
    (void)state;
    check_ways(PW_OP_LOAD, true, REQUEST, HEADER + LINE, NULL);
    check_ways(PW_OP_LOAD, false, REQUEST, HEADER + LINE, NULL);
}

static void a_read_of_a_sector_brings_no_more(void **state)
{
    (void)state;
    check_ways(PW_OP_LOAD, true, REQUEST, HEADER + SECTOR, "l1d.sectored=on");
    check_ways(PW_OP_LOAD, false, REQUEST, HEADER + SECTOR, "l1d.sectored=on");
}

static void a_store_takes_its_sector_along_and_is_acknowledged(void **state)
{
    (void)state;
    check_ways(PW_OP_STORE, true, HEADER + SECTOR, REQUEST, NULL);
    check_ways(PW_OP_STORE, false, HEADER + SECTOR, REQUEST, NULL);
}

static void an_atomic_without_a_result_is_like_a_store(void **state)
{
    (void)state;
    check_ways(PW_OP_ATOMIC, true, HEADER + SECTOR, REQUEST, NULL);
    check_ways(PW_OP_ATOMIC, false, HEADER + SECTOR, REQUEST, NULL);
}

static void an_atomic_with_a_result_has_data_both_ways(void **state)
{
    (void)state;
    check_ways(PW_OP_ATOMIC_RETURN, true, HEADER + SECTOR, HEADER + SECTOR, NULL);
    check_ways(PW_OP_ATOMIC_RETURN, false, HEADER + SECTOR, HEADER + SECTOR, NULL);
}

static uint64_t count_on(const struct timed *t, const char *metric, int node)
{
    return pw_stats_exact_in(t->system->stats, timed_index(t, metric), node, -1, NULL, t->system->region_to);
}

/* gmmu-fig1-data, gmmu-fig2-data, gmmu-sec22-dca: local data is the own memory's; remote data comes from the L2 of the
 * GPU that has it, and the page stays there. */
static void the_owners_l2_serves_remote_data(void **state)
{
    (void)state;
    static const char *const designs[] = {"centralized", "distributed", "bypass"};
    for (unsigned i = 0; i < 3; i++) {
        struct timed t = program(PW_OP_LOAD, NEIGHBOUR, true);
        t.design = designs[i];
        timed_run(&t);
        assert_int_equal(count_on(&t, "l2.accesses", 0), 3);
        assert_int_equal(count_on(&t, "l2.misses", 0), 2);
        assert_int_equal(count_on(&t, "l2.accesses", 1), 0);
        assert_int_equal(count_on(&t, "peer.reads", 1), 2);
        assert_int_equal(count_on(&t, "peer.bytes", 1), 2 * LINE);
        assert_int_equal(count_on(&t, "peer.reads", 0), 0);
        assert_int_equal(timed_physical(&t, 0) >> 28, 0); /* 256 MB: GPU 0 */
        timed_end(&t);
        t = program(PW_OP_LOAD, LOCAL, true);
        t.design = designs[i];
        timed_run(&t);
        assert_int_equal(timed_count(&t, "peer.reads"), 0);
        assert_int_equal(count_on(&t, "l2.accesses", 0), 3);
        timed_end(&t);
    }
}

static void each_kind_of_access_is_counted(void **state)
{
    (void)state;
    static const struct {
        enum pw_op_kind kind;
        uint64_t reads, writes, bytes;
    } rows[] = {{PW_OP_LOAD, 1, 0, LINE},
                {PW_OP_STORE, 0, 1, SECTOR},
                {PW_OP_ATOMIC, 0, 1, SECTOR},
                {PW_OP_ATOMIC_RETURN, 1, 1, 2 * SECTOR}};
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct timed t = program(rows[i].kind, NEIGHBOUR, true);
        timed_run(&t);
        assert_int_equal(count_on(&t, "peer.reads", 1), 1 + rows[i].reads); /* one read of the first line */
        assert_int_equal(count_on(&t, "peer.writes", 1), rows[i].writes);
        assert_int_equal(count_on(&t, "peer.bytes", 1), LINE + rows[i].bytes);
        timed_end(&t);
    }
}

/* n[0] times the same line. */
static void read_again(struct pw_warp *w, struct timed *t)
{
    for (uint64_t i = 0; w->cta_index == NEIGHBOUR && i < t->n[0]; i++)
        timed_fetch(w, t, FIRST_LINE);
}

static void an_l1_cache_holds_remote_lines(void **state)
{
    (void)state;
    struct timed t = program(PW_OP_LOAD, NEIGHBOUR, false);
    t.kernel = read_again;
    t.launches = 1;
    t.n[0] = 5;
    timed_run(&t);
    assert_int_equal(timed_count(&t, "peer.reads"), 1);
    assert_int_equal(timed_count(&t, "l1d.hits"), 4);
    timed_end(&t);
}

/* GPU 1's warps read n[0] lines each, of their own. */
static void stream(struct pw_warp *w, struct timed *t)
{
    if (w->cta_index < SMS || w->cta_index >= 2 * SMS)
        return;
    uint64_t warp = (w->cta_index - SMS) * 8 + w->index;
    for (uint64_t i = 0; i < t->n[0]; i++)
        timed_load_lanes(w, t, (warp * t->n[0] + i) * LINE, 32, 4);
    pw_use(w);
}

static pw_cycle stream_lines(uint64_t each)
{
    struct timed t = program(PW_OP_LOAD, NEIGHBOUR, false);
    t.kernel = stream;
    t.launches = 1;
    t.threads = 8 * PW_WARP_LANES;
    t.bytes = 8 << 20;
    t.n[0] = each;
    t.sets[4] = "page.size=2MB";
    return timed_cycles(t);
}

/* gmmu-tab1-pcie: 144 bytes a line at 16 GB/s, one line in nine cycles: 14.2 GB/s of data. */
static void reads_get_the_bandwidth_of_a_link_less_headers(void **state)
{
    (void)state;
    enum { FEW = 64, MANY = 256, WARPS = 16 };
    uint64_t cycles = stream_lines(MANY) - stream_lines(FEW), least = (uint64_t)(MANY - FEW) * WARPS * 9;
    assert_true(cycles >= least - least / 100 && cycles <= least + least / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_read_brings_a_line_behind_a_header),
        cmocka_unit_test(a_read_of_a_sector_brings_no_more),
        cmocka_unit_test(a_store_takes_its_sector_along_and_is_acknowledged),
        cmocka_unit_test(an_atomic_without_a_result_is_like_a_store),
        cmocka_unit_test(an_atomic_with_a_result_has_data_both_ways),
        cmocka_unit_test(the_owners_l2_serves_remote_data),
        cmocka_unit_test(each_kind_of_access_is_counted),
        cmocka_unit_test(an_l1_cache_holds_remote_lines),
        cmocka_unit_test(reads_get_the_bandwidth_of_a_link_less_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
