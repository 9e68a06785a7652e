/* Warps in flight: each a kernel on a stack of its own and a buffer of operations.
 *
 * A warp and its stack stay together for the life of the pool and are used again last in, first out, so that the next
 * CTA finds them in the cache. Memory per warp in flight is sizeof(struct pw_warp), about 1.2 KB, and the pages of its
 * stack that kernels have touched, one or two. */
#include "workload/runtime/coroutine.h"
#include "workload/runtime/host.h"

#include <stdlib.h>

/* Kernels use about 1 KB of stack, a few lane arrays, and several times that unoptimised. Stacks are mapped lazily, so
 * what is not used costs addresses only. */
enum { STACK_BYTES = 16 << 10, SLAB_WARPS = 64 };

struct record {
    struct pw_warp warp; /* first: a warp's address is its record's */
    struct pw_coroutine coroutine;
    struct pw_warp_pool *pool;
    struct record *next_free;
};

struct slab {
    struct slab *next;
    struct record records[SLAB_WARPS];
};

struct pw_warp_pool {
    struct pw_stack_arena *stacks;
    struct slab *slabs;
    struct record *free;
    struct pw_error failure; /* of the kernel that failed last */
};

struct pw_warp_pool *pw_warp_pool_create(struct pw_error *err)
{
    struct pw_warp_pool *p = calloc(1, sizeof *p);
    if (p)
        p->stacks = pw_stack_arena_create(STACK_BYTES, SLAB_WARPS);
    if (!p || !p->stacks) {
        free(p);
        pw_fail_memory(err, "the pool of warps");
        return NULL;
    }
    return p;
}

void pw_warp_pool_destroy(struct pw_warp_pool *p)
{
    if (!p)
        return;
    for (struct slab *s = p->slabs, *next; s; s = next) {
        next = s->next;
        for (size_t i = 0; i < SLAB_WARPS; i++)
            pw_coroutine_abandon(&s->records[i].coroutine);
        free(s);
    }
    pw_stack_arena_destroy(p->stacks);
    free(p);
}

static bool add_slab(struct pw_warp_pool *p)
{
    struct slab *s = aligned_alloc(64, (sizeof *s + 63) / 64 * 64);
    if (!s)
        return false;
    for (size_t i = 0; i < SLAB_WARPS; i++) {
        struct record *r = &s->records[i];
        r->coroutine = (struct pw_coroutine){.ended = true};
        r->pool = p;
        if (!pw_stack_arena_take(p->stacks, &r->coroutine.stack)) {
            free(s);
            return false;
        }
        r->next_free = i + 1 < SLAB_WARPS ? r + 1 : p->free;
    }
    p->free = &s->records[0];
    s->next = p->slabs;
    p->slabs = s;
    return true;
}

static void leave(void *argument)
{
    struct pw_warp *w = argument;
    pw_emit(w, 1, (struct pw_op){.kind = PW_OP_EXIT});
    w->exited = true;
}

static void run_kernel(void *argument)
{
    struct pw_warp *w = argument;
    w->launch->kernel(w, w->launch->arguments);
    leave(w);
}

/* Nobody knows whose frames were written over, so no warp goes on with what is on its stack: its next operation is its
 * exit. */
static void leave_all(struct pw_warp_pool *p)
{
    for (struct slab *s = p->slabs; s; s = s->next)
        for (size_t i = 0; i < SLAB_WARPS; i++) {
            struct record *r = &s->records[i];
            if (!r->coroutine.ended)
                pw_coroutine_init(&r->coroutine, r->coroutine.stack, leave, &r->warp);
        }
}

struct pw_warp *pw_warp_start(struct pw_warp_pool *p, const struct pw_launch *launch, uint32_t cta_index,
                              uint32_t warp_index, void *shared)
{
    if (!p->free && !add_slab(p))
        return NULL;
    struct record *r = p->free;
    p->free = r->next_free;

    struct pw_warp *w = &r->warp;
    uint32_t x = launch->grid.x, y = launch->grid.y;
    w->cta = (struct pw_dim3){cta_index % x, cta_index / x % y, cta_index / x / y};
    w->cta_index = cta_index;
    w->index = warp_index;
    uint32_t threads = pw_launch_threads(launch) - warp_index * PW_WARP_LANES;
    w->lanes = threads >= PW_WARP_LANES ? PW_ALL_LANES : (1U << threads) - 1;
    w->launch = launch;
    w->shared = shared;
    w->next_in_flight = PW_ANY_IN_FLIGHT;
    w->exited = w->failed = false;
    w->read = w->write = 0;
    w->coroutine = &r->coroutine;
    pw_coroutine_init(&r->coroutine, r->coroutine.stack, run_kernel, w);
    return w;
}

void pw_warp_yield(struct pw_warp *w)
{
    pw_coroutine_suspend(w->coroutine);
}

void pw_warp_fail(struct pw_warp *w, const struct pw_error *err)
{
    ((struct record *)w)->pool->failure = *err;
    w->failed = true;
}

bool pw_warp_refill(struct pw_warp *w)
{
    w->read = w->write = 0;
    bool intact = pw_coroutine_resume(w->coroutine);
    if (__builtin_expect(!intact, 0))
        leave_all(((struct record *)w)->pool);
    return intact && !w->failed;
}

enum pw_status pw_warp_failure(const struct pw_warp *w, struct pw_error *err)
{
    if (w->failed) {
        const struct pw_error *failure = &((const struct record *)w)->pool->failure;
        return pw_fail(err, failure->status, "%s", failure->message);
    }
    return pw_fail(err, PW_FAILED,
                   "kernel %s: warp %u of CTA %u has overrun its stack of %u KB; keep large arrays elsewhere",
                   w->launch->name, w->index, w->cta_index, STACK_BYTES >> 10);
}

void pw_warp_finish(struct pw_warp_pool *p, struct pw_warp *w)
{
    struct record *r = (struct record *)w;
    pw_coroutine_abandon(&r->coroutine);
    r->next_free = p->free;
    p->free = r;
}
