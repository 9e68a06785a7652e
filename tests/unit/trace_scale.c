/* Traces larger than what may be in memory: written and read with thousands of warps side by side, within bounds.
 *
 * Usage: test_unit_trace_scale [streaming|divergent|short CTAS ROUNDS WARPS RESIDENT]: without arguments a small run of
 * each kind, with them one of so many CTAs of so many warps and rounds of a loop, of which RESIDENT are read side by
 * side. It prints bytes, speed and peak memory. The file lies in $TMPDIR, or /var/tmp, and is gone afterwards. */
#include "trace_fixture.h"

#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

enum { MOST_KILOBYTES = 200 * 1000 };

enum kind { STREAMING, DIVERGENT, SHORT, KINDS };
static const char *const kind_names[] = {"streaming", "divergent", "short"};

struct shape {
    enum kind kind;
    uint32_t ctas, rounds; /* of the loop */
    uint32_t warps;        /* of a CTA */
    uint32_t resident;     /* CTAs that are read side by side */
};

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

enum { ROUND_OPS = 6 };

/* c[i] = a[i] + b[i], or c[i] = t[random], with the arithmetic between: the operation at one place of a round. */
static void make_op(const struct shape *s, uint64_t thread, uint32_t round, uint32_t place, struct traced_op *out)
{
    static const uint64_t arrays[] = {UINT64_C(0x7f0000000000), UINT64_C(0x7f4000000000), UINT64_C(0x7f8000000000)};
    uint64_t element = thread + (uint64_t)round * s->ctas * s->warps * 32;
    bool random = s->kind == DIVERGENT && place == 2;
    if (place % 2) {
        out->op = (struct pw_op){.kind = PW_OP_COMPUTE,
                                 .loads_in_flight = place == 3 ? 0 : PW_ANY_IN_FLIGHT,
                                 .count_or_mask = place == 5 ? 3 : 1};
        return;
    }
    out->op = (struct pw_op){.kind = place == 4 ? PW_OP_STORE : PW_OP_LOAD,
                             .form = random ? PW_FORM_LANES : PW_FORM_AFFINE,
                             .bytes = 4,
                             .loads_in_flight = PW_ANY_IN_FLIGHT,
                             .count_or_mask = PW_ALL_LANES};
    out->words[0] = arrays[place / 2] + 4 * element;
    out->words[1] = 4;
    uint64_t h = element;
    for (unsigned i = 0; random && i < 32; i++) {
        h = (h + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
        h ^= h >> 31;
        out->words[i] = arrays[1] + 4 * (h >> 38); /* 2^26 elements: a table of 256 MiB */
    }
}

static uint64_t memory_ops(const struct shape *s)
{
    return (uint64_t)s->ctas * s->warps * s->rounds * 3;
}

static struct pw_trace *write_trace(const struct shape *s)
{
    static const struct traced_op leave = {.op = {.kind = PW_OP_EXIT, .loads_in_flight = PW_ANY_IN_FLIGHT}};
    struct pw_trace_writer *w;
    struct pw_trace *t;
    struct pw_error err;
    struct traced_op op;
    assert_ok(pw_trace_writer_open(NULL, &w, &err), &err);
    struct pw_trace_event launch = {
        .kind = PW_TRACE_LAUNCH, .name = "kernel", .grid = {s->ctas, 1, 1}, .block = {32 * s->warps, 1, 1}};
    pw_trace_write_launch(w, &launch);
    for (uint32_t c = 0; c < s->ctas; c++) {
        for (uint32_t round = 0; round < s->rounds; round++)
            for (uint32_t k = 0; k < s->warps; k++)
                for (uint32_t place = 0; place < ROUND_OPS; place++) {
                    make_op(s, (uint64_t)(c * s->warps + k) * 32, round, place, &op);
                    assert_true(pw_trace_write_op(w, c, k, &op.op, op.words));
                }
        for (uint32_t k = 0; k < s->warps; k++)
            assert_true(pw_trace_write_op(w, c, k, &leave.op, leave.words));
        pw_trace_write_cta_end(w, c);
    }
    assert_ok(pw_trace_writer_finish(w, &t, &err), &err);
    return t;
}

struct reader {
    struct pw_trace_cursor cursor;
    uint32_t cta, warp, read;
};

static bool step(const struct shape *s, struct reader *r)
{
    struct pw_op op;
    uint64_t words[PW_WARP_LANES];
    struct pw_error err;
    enum pw_trace_step step = pw_trace_cursor_next(&r->cursor, &op, words, &err);
    if (step == PW_TRACE_STEP_FAILED)
        fail_msg("%s", err.message);
    if (step == PW_TRACE_STEP_END)
        return false;
    uint32_t round = r->read / ROUND_OPS, place = r->read % ROUND_OPS;
    struct traced_op t;
    if (op.kind == PW_OP_EXIT) {
        assert_int_equal(r->read, s->rounds * ROUND_OPS);
    } else if (r->read % 64 < ROUND_OPS) { /* some, as making them takes longer than reading */
        make_op(s, (uint64_t)(r->cta * s->warps + r->warp) * 32, round, place, &t);
        assert_same_op(&t, &op, words);
    }
    r->read++;
    return true;
}

/* As a GPU does: so many CTAs at a time, their warps in turn, and the next one when one has ended. */
static uint64_t read_trace(const struct shape *s, struct pw_trace *t, size_t *out_blocks)
{
    struct pw_trace_launch *l;
    struct pw_error err;
    uint64_t ops = 0;
    uint32_t next = 0, live = 0;
    struct reader *readers = calloc((size_t)s->resident * s->warps, sizeof *readers);
    bool *there = calloc((size_t)s->resident * s->warps, sizeof *there);
    assert_ok(pw_trace_launch_open(t, 0, &l, &err), &err);
    uint64_t warps = (uint64_t)s->ctas * s->warps;
    do {
        for (uint32_t i = 0; i < (size_t)s->resident * s->warps; i++) {
            struct reader *r = &readers[i];
            if (!there[i] && next < warps) {
                r->cta = next / s->warps;
                r->warp = next++ % s->warps;
                r->read = 0;
                pw_trace_cursor_start(&r->cursor, l, r->cta, r->warp);
                there[i] = true;
                live++;
            }
            for (uint32_t n = 0; there[i] && n < 8; n++) {
                there[i] = step(s, r);
                ops += there[i];
                live -= !there[i];
            }
        }
    } while (live || next < warps);
    *out_blocks = l->table.block_count;
    pw_trace_launch_close(l);
    free(readers);
    free(there);
    return ops;
}

static long peak_kilobytes(void)
{
    struct rusage u;
    assert_int_equal(getrusage(RUSAGE_SELF, &u), 0);
    return u.ru_maxrss;
}

static void run(const struct shape *s)
{
    double begin = seconds();
    struct pw_trace *t = write_trace(s);
    double written = seconds();
    long peak = peak_kilobytes();
    size_t blocks;
    uint64_t ops = read_trace(s, t, &blocks);
    double read = seconds();
    assert_int_equal(ops, (uint64_t)s->ctas * s->warps * (s->rounds * ROUND_OPS + UINT64_C(1)));
    print_message("%s: %.1f MB, %.2f bytes a memory instruction; written at %.1f M operations a CPU second (%ld MB), "
                  "read at %.1f "
                  "(%ld MB), %zu blocks, %llu times unpacked\n",
                  kind_names[s->kind], (double)pw_trace_file_bytes(t) / 1e6,
                  (double)pw_trace_file_bytes(t) / (double)memory_ops(s), (double)ops / 1e6 / (written - begin),
                  peak / 1000, (double)ops / 1e6 / (read - written), peak_kilobytes() / 1000, blocks,
                  (unsigned long long)t->cache.reads);
    if (s->warps > 1)
        assert_in_range(t->cache.reads, blocks, blocks + blocks / 10);
#if !defined(__SANITIZE_ADDRESS__)
    assert_true(peak_kilobytes() < MOST_KILOBYTES);
#endif
    pw_trace_close(t);
}

static void memory_is_bounded(void **state)
{
    (void)state;
    static const struct shape shapes[] = {
        {STREAMING, 2500, 100, 4, 2048}, {DIVERGENT, 500, 20, 4, 200}, {SHORT, 50000, 1, 4, 2048}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        run(&shapes[i]);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory_is_bounded)};
    if (argc < 6)
        return cmocka_run_group_tests(tests, NULL, NULL);
    struct shape s = {.ctas = (uint32_t)strtoul(argv[2], NULL, 10),
                      .rounds = (uint32_t)strtoul(argv[3], NULL, 10),
                      .warps = (uint32_t)strtoul(argv[4], NULL, 10),
                      .resident = (uint32_t)strtoul(argv[5], NULL, 10)};
    while (s.kind < KINDS && strcmp(kind_names[s.kind], argv[1]) != 0)
        s.kind++;
    run(&s);
    return 0;
}
