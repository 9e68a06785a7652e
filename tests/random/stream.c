/* Random streams on machines that nobody would build (random_machine.h): operations of every kind from several
 * applications, memory that comes and goes, time in steps of any length. Each operation completes once and in order, as
 * many lines and pages are counted as a naive look at its lanes says, every identity holds, and the same calls give the
 * same bits. */
#include "random_machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "streams.h"

enum { MACHINES = 150, OPERATIONS = 400, REGIONS = 4, APPS = 3, REGION_BYTES = 96 << 10 };

struct player {
    struct pw_random random;
    struct pw_stream *stream;
    struct pw_error err;
    unsigned apps;
    struct pw_stream_shape shape[APPS];
    uint64_t region[APPS][REGIONS]; /* 0: not mapped */
    /* What is expected. */
    uint64_t instructions, accesses, lines, pages, reported;
    /* What came out. */
    uint64_t completions, last, digest;
};

static uint64_t below(struct player *p, uint64_t n)
{
    return pw_random_below(&p->random, n);
}

static uint64_t distinct(const uint64_t *address, unsigned count, uint64_t unit)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < count; i++) {
        unsigned k = 0;
        while (k < i && address[k] / unit != address[i] / unit)
            k++;
        n += k == i;
    }
    return n;
}

static enum pw_status push_one(struct player *p)
{
    struct pw_stream_place place = {.app = (unsigned)below(p, p->apps)};
    const struct pw_stream_shape *shape = &p->shape[place.app];
    place.gpu = (unsigned)below(p, shape->gpus);
    place.sm = (unsigned)below(p, shape->sms);
    place.warp = (unsigned)below(p, below(p, 4) ? 2 : shape->warps);
    uint64_t region = p->region[place.app][below(p, REGIONS)], lanes[32];
    struct pw_stream_operation op = {.kind = (enum pw_stream_kind)below(p, PW_STREAM_KIND_COUNT),
                                     .mask = (uint32_t)pw_random_next(&p->random) | 1,
                                     .bytes = 1U << below(p, 5),
                                     .instructions = (uint32_t)below(p, 40),
                                     .use = below(p, 4) == 0,
                                     .all_but = (uint8_t)below(p, 3),
                                     .report = below(p, 3) != 0,
                                     .tag = p->reported};
    if (!region)
        return PW_OK;
    unsigned count = 0;
    uint64_t span = below(p, 2) ? REGION_BYTES : 2048;
    for (uint32_t i = 0; i < 32; i++)
        if (op.mask >> i & 1)
            lanes[count++] = region + below(p, span / op.bytes) * op.bytes;
    op.addresses = lanes;
    if (below(p, 3) == 0) {
        op.addresses = NULL;
        op.base = region;
        op.stride = (int64_t)(below(p, 90) * op.bytes);
        count = 0;
        for (uint32_t i = 0; i < 32; i++)
            if (op.mask >> i & 1)
                lanes[count++] = region + i * (uint64_t)op.stride;
    }
    enum pw_status status = pw_stream_push(p->stream, place, &op, &p->err);
    if (status != PW_OK)
        return status == PW_BUSY ? PW_OK : status;
    bool access = op.kind < PW_STREAM_COMPUTE;
    p->instructions += op.kind == PW_STREAM_COMPUTE && op.instructions ? op.instructions : 1;
    p->accesses += access;
    p->reported += access && op.report;
    if (access)
        p->pages += distinct(lanes, count, shape->page);
    if (op.kind < PW_STREAM_TRANSLATE)
        p->lines += distinct(lanes, count, 128);
    return PW_OK;
}

static void take_completions(struct player *p)
{
    struct pw_stream_completion done;
    while (pw_stream_next(p->stream, &done)) {
        assert_true(done.pushed <= done.issued && done.issued <= done.translated && done.translated <= done.completed);
        assert_true(done.completed >= p->last && done.completed <= pw_stream_now(p->stream));
        assert_true(done.physical == UINT64_MAX || done.physical % 4096 == done.address % 4096);
        p->last = done.completed;
        p->completions++;
        const uint64_t parts[] = {done.tag, done.level, done.physical, done.issued, done.translated, done.completed};
        for (size_t i = 0; i < 6; i++)
            p->digest = (p->digest ^ parts[i]) * 0x9e3779b97f4a7c15ULL + (p->digest >> 29);
    }
}

/* Maps a region somewhere, or takes it away when nothing is under way. */
static enum pw_status change_memory(struct player *p)
{
    unsigned app = (unsigned)below(p, p->apps);
    uint64_t *region = &p->region[app][below(p, REGIONS)];
    if (!*region) {
        uint64_t at = (below(p, 64) << 30) + (below(p, 32) << 20) + (1ULL << 40);
        enum pw_status status = pw_stream_map(p->stream, app, at, REGION_BYTES, NULL, &p->err);
        if (status == PW_OK)
            *region = at & ~(p->shape[app].page - 1);
        return strstr(p->err.message, "overlap") ? PW_OK : status;
    }
    enum pw_status status = pw_stream_drain(p->stream, &p->err);
    if (status == PW_OK)
        status = pw_stream_unmap(p->stream, app, *region, &p->err);
    *region = 0;
    return status;
}

static enum pw_status play(struct player *p)
{
    enum pw_status status = PW_OK;
    for (unsigned i = 0; i < OPERATIONS && status == PW_OK; i++) {
        uint64_t what = i < 2 * REGIONS ? 0 : below(p, 40), now = pw_stream_now(p->stream);
        p->err.message[0] = 0;
        if (what == 0)
            status = change_memory(p);
        else if (what < 4)
            status = pw_stream_advance(p->stream, now + below(p, 300), &p->err);
        else if (what < 6)
            status = pw_stream_wait(p->stream, now + below(p, 3000), &p->err);
        else
            status = push_one(p);
        take_completions(p);
    }
    if (status == PW_OK)
        status = pw_stream_drain(p->stream, &p->err);
    take_completions(p);
    if (status == PW_OK) /* arithmetic that nothing has waited for */
        status = pw_stream_advance(p->stream, pw_stream_now(p->stream) + 64 * 40, &p->err);
    return status;
}

static void check_counts(struct player *p, unsigned machine)
{
    struct pw_metric m;
    const struct {
        const char *name;
        uint64_t expected;
    } counts[] = {{"gpu0.sm.issued", p->instructions},
                  {"gpu0.sm.memory_instructions", p->accesses},
                  {"gpu0.sm.lines", p->lines},
                  {"gpu0.l1_tlb.lookups", p->pages}};
    for (size_t i = 0; i < 4; i++) {
        STREAM_OK(pw_stream_metric(p->stream, counts[i].name, &m, err));
        bool again = i == 3 && p->shape[0].managed && m.integer > counts[i].expected; /* the page had left */
        if (m.integer != counts[i].expected && !again)
            fail_msg("machine %u: %s is %llu, not %llu", machine, counts[i].name, (unsigned long long)m.integer,
                     (unsigned long long)counts[i].expected);
    }
    assert_int_equal(p->completions, p->reported);
    assert_int_equal(pw_stream_outstanding(p->stream), 0);
}

/* Plays one machine; false when it cannot be built, or has too little memory. */
static bool play_machine(unsigned machine, uint64_t *out_digest)
{
    struct pw_random r;
    struct random_machine m;
    struct player p = {0};
    pw_random_init(&r, machine, "stream");
    machine_choose(&m, &r);
    machine_set_text(&m, "uvm.oversubscription_of", "first-launch");
    pw_random_init(&p.random, machine, "player");
    p.apps = 1 + (unsigned)below(&p, APPS);
    struct pw_stream_spec spec = {.sets = m.sets, .set_count = m.count, .apps = p.apps, .queue = 8};
    if (pw_stream_open(&spec, &p.stream, &p.err) != PW_OK) {
        assert_int_equal(p.err.status, PW_USER_ERROR);
        return false;
    }
    for (unsigned app = 0; app < p.apps; app++)
        STREAM_OK(pw_stream_shape(p.stream, app, &p.shape[app], err));
    enum pw_status status = play(&p);
    if (status == PW_OK) {
        check_counts(&p, machine);
        if (pw_stream_finish(p.stream, NULL, &p.err) != PW_OK)
            fail_msg("machine %u: %s", machine, p.err.message);
    } else if (status != PW_USER_ERROR && !strstr(p.err.message, "memory")) {
        fail_msg("machine %u: %s", machine, p.err.message);
    }
    pw_stream_close(p.stream);
    *out_digest = p.digest;
    return status == PW_OK;
}

static void every_operation_completes_once_and_is_counted(void **state)
{
    (void)state;
    unsigned played = 0;
    for (unsigned machine = 0; machine < MACHINES; machine++) {
        uint64_t digest = 0, again = 1;
        if (!play_machine(machine, &digest))
            continue;
        played++;
        if (machine % 8)
            continue;
        assert_true(play_machine(machine, &again));
        assert_int_equal(digest, again);
    }
    if (played < MACHINES / 2)
        fail_msg("only %u of %d machines could be played", played, MACHINES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_completes_once_and_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
