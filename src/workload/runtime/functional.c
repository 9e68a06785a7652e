/* The functional executor: launches, CTAs and warps in canonical order (linear index, warp by warp up to each barrier),
 * no time. Simulated addresses are handed out upward from one fixed address, each array on a 2 MiB boundary, so that
 * the address stream depends on program and seed alone. */
#include "workload/runtime/functional.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ADDRESS UINT64_C(0x7f4000000000)
#define ALIGNMENT UINT64_C(0x200000)

struct executor {
    struct pw_warp_pool *pool;
    struct pw_host *host;
    uint64_t next_address;
    struct pw_functional_observer observer;
    struct pw_functional_counts counts;
};

static enum pw_status allocate(void *backend, uint32_t id, const char *name, uint64_t bytes, pw_vaddr *out,
                               struct pw_error *err)
{
    struct executor *e = backend;
    out->v = e->next_address;
    e->next_address += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    e->counts.allocated_bytes += bytes;
    return e->observer.allocated ? e->observer.allocated(e->observer.context, id, name, *out, bytes, err) : PW_OK;
}

static enum pw_status release(void *backend, uint32_t id, pw_vaddr base, uint64_t bytes, struct pw_error *err)
{
    (void)base, (void)bytes;
    const struct executor *e = backend;
    return e->observer.freed ? e->observer.freed(e->observer.context, id, err) : PW_OK;
}

/* Consumes the warp's buffer; returns whether it ends at a barrier. */
static bool consume(struct executor *e, struct pw_warp *w)
{
    uint8_t last = PW_OP_KIND_COUNT;
    uint64_t hash = e->counts.address_hash;
    while (w->read < w->write) {
        const uint64_t *at = &w->words[w->read];
        struct pw_op op;
        memcpy(&op, at, sizeof op);
        uint32_t words = pw_op_words(op);
        if (e->observer.visit)
            e->observer.visit(e->observer.context, w, &op, at + 1);
        if (words > 1) {
            e->counts.memory_instructions++;
            e->counts.lane_accesses += pw_lane_count(op.count_or_mask);
        }
        e->counts.warp_instructions += pw_op_instructions(op);
        for (uint32_t i = 0; i < words; i++)
            hash = (hash ^ at[i]) * UINT64_C(0x9e3779b97f4a7c15) + (hash >> 29);
        last = op.kind;
        w->read = (uint16_t)(w->read + words);
    }
    e->counts.address_hash = hash;
    return last == PW_OP_BARRIER;
}

static enum pw_status prefetch(void *backend, uint32_t id, pw_vaddr base, struct pw_error *err)
{
    (void)base;
    const struct executor *e = backend;
    return e->observer.prefetched ? e->observer.prefetched(e->observer.context, id, err) : PW_OK;
}

static enum pw_status advise(void *backend, uint32_t id, pw_vaddr base, unsigned advice, struct pw_error *err)
{
    (void)base;
    const struct executor *e = backend;
    return e->observer.advised ? e->observer.advised(e->observer.context, id, advice, err) : PW_OK;
}

static enum pw_status filled(void *backend, uint32_t id, pw_vaddr base, uint64_t first, uint64_t bytes,
                             enum pw_contents how, struct pw_error *err)
{
    (void)base;
    const struct executor *e = backend;
    return e->observer.filled ? e->observer.filled(e->observer.context, id, first, bytes, how, err) : PW_OK;
}

static enum pw_status protect(void *backend, uint32_t id, pw_vaddr base, unsigned permissions, struct pw_error *err)
{
    (void)base;
    const struct executor *e = backend;
    return e->observer.protected ? e->observer.protected(e->observer.context, id, permissions, err) : PW_OK;
}

static enum pw_status origin(void *backend, uint32_t id, const struct pw_alloc_origin *from, struct pw_error *err)
{
    const struct executor *e = backend;
    return e->observer.origin ? e->observer.origin(e->observer.context, id, from, err) : PW_OK;
}

static bool interrupted(void *backend)
{
    const struct executor *e = backend;
    return e->observer.interrupted && *e->observer.interrupted;
}

static enum pw_status run_to_barrier(struct executor *e, struct pw_warp *w, struct pw_error *err)
{
    while (!w->exited) {
        if (!pw_warp_refill(w))
            return pw_warp_failure(w, err);
        if (consume(e, w))
            break;
    }
    return PW_OK;
}

static enum pw_status run_cta(struct executor *e, const struct pw_launch *launch, uint32_t cta, void *shared,
                              struct pw_warp **warps, struct pw_error *err)
{
    uint32_t count = pw_launch_warps(launch), started = 0;
    enum pw_status status = PW_OK;
    for (; started < count; started++) {
        warps[started] = pw_warp_start(e->pool, launch, cta, started, shared);
        if (!warps[started]) {
            status = pw_fail_memory(err, "a warp");
            goto out;
        }
    }
    for (bool alive = true; alive;) {
        alive = false;
        for (uint32_t i = 0; i < count; i++) {
            status = run_to_barrier(e, warps[i], err);
            if (status != PW_OK)
                goto out;
            alive |= !warps[i]->exited;
        }
    }
    e->counts.ctas++;
    e->counts.warps += count;
out:
    while (started)
        pw_warp_finish(e->pool, warps[--started]);
    return status;
}

static enum pw_status report_position(struct executor *e, const struct pw_launch *launch, uint32_t ctas,
                                      struct pw_error *err)
{
    const struct pw_functional_position position = {launch, e->counts.launches, pw_host_planned(e->host), ctas};
    return e->observer.advanced ? e->observer.advanced(e->observer.context, &position, err) : PW_OK;
}

static enum pw_status launch_kernel(void *backend, const struct pw_launch *launch, struct pw_error *err)
{
    struct executor *e = backend;
    enum pw_status status = e->observer.launched ? e->observer.launched(e->observer.context, launch, err) : PW_OK;
    if (status)
        return status;
    struct pw_warp **warps = calloc(pw_launch_warps(launch), sizeof(struct pw_warp *));
    void *shared = calloc(1, launch->shared_bytes ? launch->shared_bytes : 1);
    if (!warps || !shared) {
        status = pw_fail_memory(err, "a CTA");
        goto out;
    }
    e->counts.launches++;
    uint32_t ctas = pw_launch_ctas(launch);
    for (uint32_t cta = 0; cta < ctas && !status; cta++) {
        if (cta)
            memset(shared, 0, launch->shared_bytes);
        status = run_cta(e, launch, cta, shared, warps, err);
        if (!status)
            status = report_position(e, launch, cta + 1, err);
    }
out:
    free(warps);
    free(shared);
    return status;
}

static uint64_t issued(void *backend)
{
    return ((const struct executor *)backend)->counts.warp_instructions;
}

enum pw_status pw_functional_observe(const struct pw_program *program, uint64_t seed, bool verify,
                                     const struct pw_functional_observer *observer, struct pw_functional_counts *out,
                                     struct pw_error *err)
{
    static const struct pw_backend backend = {
        .alloc = allocate,
        .free = release,
        .launch = launch_kernel,
        .issued = issued,
        .prefetch = prefetch,
        .advise = advise,
        .protect = protect,
        .interrupted = interrupted,
        .filled = filled,
        .origin = origin,
    };
    struct executor e = {.next_address = FIRST_ADDRESS, .observer = *observer};
    enum pw_status status = PW_OK;
    e.pool = pw_warp_pool_create(err);
    if (!e.pool)
        return PW_FAILED;
    status = pw_host_create(program, seed, observer->instance, verify, &backend, &e, &e.host, err);
    if (!status) {
        while (!pw_host_resume(e.host))
            ;
        status = pw_host_outcome(e.host, err);
        e.counts.passes = pw_host_passes(e.host);
        *out = e.counts;
    }
    pw_host_destroy(e.host);
    pw_warp_pool_destroy(e.pool);
    return status;
}

enum pw_status pw_functional_run(const struct pw_program *program, uint64_t seed, bool verify,
                                 pw_functional_visit *visit, void *context, struct pw_functional_counts *out,
                                 struct pw_error *err)
{
    const struct pw_functional_observer observer = {.context = context, .visit = visit};
    return pw_functional_observe(program, seed, verify, &observer, out, err);
}
