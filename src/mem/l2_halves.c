/* The two halves of the L2 (l2.halves), as on NVIDIA's GPUs from the A100 on.
 *
 * Half of the slices, with their channels, are near to half of the SMs; which pairs of SMs (TPCs) these are is drawn.
 * Every line has a home among all slices. An SM speaks only to its own half: a line whose home is in the other is
 * looked up in the slice of its own half that mirrors the home, and when it is not there, fetched from its home and
 * kept as a copy. Both lookups count, as they do in the hardware's counters. A store goes through that slice, which
 * keeps what it has written, to the home; what is written at the home ends the copy of the other half, unless that is
 * where the store came from. Atomics are done at the home. Page-table reads and the page manager go there directly.
 *
 * Concluded from an H200's counters (docs/silicon.md): the first read of a line that the host has copied takes 373
 * cycles or 557, about equally often, and where nothing is read twice half as many sectors again are looked up as the
 * SMs ask for. NVIDIA has not published how the halves keep copies; what a store does to them is a guess that the
 * counts of later launches support.
 *
 * Left out: the link between the halves has a latency but carries any amount; a store ends a copy at once; a copy that
 * is under way while its line is written arrives as if it were new. */
#include "mem/memory_internal.h"
#include "sim/random.h"

#include <stdlib.h>

/* Draws half of the TPCs. */
static void divide_sms(struct pw_memory *m)
{
    uint32_t tpcs = (m->config.sms + 1) / 2, left = tpcs / 2;
    struct pw_random random;
    pw_random_init(&random, 0, "l2.halves");
    for (uint32_t tpc = 0; tpc < tpcs; tpc++) {
        bool far = pw_random_below(&random, tpcs - tpc) < left;
        left -= far;
        for (uint32_t sm = 2 * tpc; sm < 2 * tpc + 2 && sm < m->config.sms; sm++)
            m->sm_far[sm] = far;
    }
}

enum pw_status pw_halves_init(struct pw_memory *m, struct pw_error *err)
{
    if (m->slice_count % 2)
        return pw_fail(err, PW_USER_ERROR,
                       "l2.halves needs an even number of L2 slices; dram.channels x l2.slices are %u", m->slice_count);
    m->sm_far = calloc(m->config.sms, sizeof *m->sm_far);
    if (!m->sm_far)
        return pw_fail_memory(err, "memory system");
    divide_sms(m);
    m->half_slices = m->slice_count / 2;
    enum pw_status status = PW_OK;
    for (uint32_t i = 0; status == PW_OK && i < m->slice_count; i++) {
        m->slices[i].far = i >= m->half_slices;
        status = pw_mshr_init(&m->slices[i].copies, "l2.mshrs", m->config.l2.mshrs, err);
    }
    return status;
}

void pw_copy_drop(struct pw_slice *home, const struct pw_request *r)
{
    struct pw_slice *mirror = pw_slice_mirror(home);
    struct pw_way way = pw_cache_find_in(&mirror->cache, r->line, r->set);
    if (way.at >= 0)
        pw_cache_drop(&mirror->cache, way);
}

/* A store on its way to its home leaves what it writes. */
static void pass_store(struct pw_slice *s, struct pw_request *r, pw_cycle now)
{
    struct pw_memory *m = s->memory;
    struct pw_way w = pw_cache_find_in(&s->cache, r->line, r->set);
    pw_slice_count(s, r, w.at >= 0, 0);
    pw_cycle start = pw_slice_take_port(s, r, now);
    pw_way_set_valid(pw_slice_way_for(s, r, w, now), r->full);
    pw_events_post(m->events, start + m->config.l2.far_latency, pw_slice_accept, &m->slices[r->slice],
                   (uint64_t)(uintptr_t)r);
}

/* Asks the home for sectors that the miss register does not have under way. */
static void fetch(struct pw_slice *s, struct pw_mshr_entry *e, const struct pw_request *r, uint8_t sectors, pw_cycle at)
{
    struct pw_memory *m = s->memory;
    struct pw_request *copy = pw_request_take(m->pool);
    *copy = (struct pw_request){.line = r->line,
                                .owner = PW_NO_OWNER,
                                .set = r->set,
                                .slice = r->slice,
                                .source = s->index,
                                .l1_miss = (uint16_t)pw_mshr_place(&s->copies, e),
                                .kind = PW_REQUEST_COPY,
                                .sectors = sectors,
                                .app = r->app};
    e->mask |= sectors;
    m->pending++;
    pw_events_post(m->events, at + m->config.l2.far_latency, pw_slice_accept, &m->slices[r->slice],
                   (uint64_t)(uintptr_t)copy);
}

/* Looks a load up. False when it must wait for a miss register; nothing has changed then. */
static bool read_copy(struct pw_slice *s, struct pw_request *r, pw_cycle now)
{
    struct pw_memory *m = s->memory;
    struct pw_way w = pw_cache_find_in(&s->cache, r->line, r->set);
    uint8_t valid = w.at >= 0 ? pw_way_valid(w) : 0;
    if ((valid & r->sectors) == r->sectors) {
        pw_slice_count(s, r, true, valid);
        pw_way_use(w);
        pw_events_post(m->events, pw_slice_take_port(s, r, now) + m->config.l2.latency, pw_slice_answer, s,
                       (uint64_t)(uintptr_t)r);
        return true;
    }
    struct pw_mshr_entry *e = pw_mshr_find(&s->copies, r->line);
    if (!e && pw_mshr_full(&s->copies))
        return false;
    pw_slice_count(s, r, false, (uint8_t)(valid | (e ? e->mask : 0)));
    m->counters[r->app].merges += e != NULL;
    if (!e)
        e = pw_mshr_add(&s->copies, r->line);
    uint8_t missing = ((m->fetched[r->sectors] & (uint8_t)~valid) | r->sectors) & (uint8_t)~e->mask;
    pw_cycle start = pw_slice_take_port(s, r, now);
    if (missing)
        fetch(s, e, r, missing, start);
    pw_mshr_wait(e, r);
    return true;
}

void pw_copy_accept(struct pw_slice *s, struct pw_request *r, pw_cycle now)
{
    if (r->kind == PW_REQUEST_WRITE)
        pass_store(s, r, now);
    else if (s->copies_wait.first || !read_copy(s, r, now))
        pw_request_list_push(&s->copies_wait, r);
}

/* What a copy was asked for is at the slice that asked. */
static void copy_arrives(void *object, uint64_t argument, pw_cycle now)
{
    struct pw_slice *s = object;
    struct pw_request *copy = (struct pw_request *)(uintptr_t)argument;
    struct pw_mshr_entry *e = &s->copies.entries[copy->l1_miss];
    struct pw_way w = pw_cache_find_in(&s->cache, copy->line, copy->set);
    pw_way_set_valid(pw_slice_way_for(s, copy, w, now), copy->sectors);
    pw_mshr_arrive(e, copy->sectors);
    struct pw_request *r = pw_mshr_take_arrived(e);
    for (struct pw_request *next; r; r = next) {
        next = r->next;
        pw_slice_answer(s, (uint64_t)(uintptr_t)r, now);
    }
    if (pw_mshr_arrived(e) == pw_mshr_asked(e))
        pw_mshr_remove(&s->copies, e);
    s->memory->pending--;
    pw_request_give(s->memory->pool, copy);
    while (s->copies_wait.first && !pw_mshr_full(&s->copies))
        read_copy(s, pw_request_list_pop(&s->copies_wait), now);
}

void pw_copy_send(struct pw_slice *home, struct pw_request *r, pw_cycle now)
{
    struct pw_memory *m = home->memory;
    pw_events_post(m->events, now + m->config.l2.far_latency, copy_arrives, &m->slices[r->source],
                   (uint64_t)(uintptr_t)r);
}
