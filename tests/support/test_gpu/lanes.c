/* Lanes of a warp as coroutines: see the headers. A lane runs until it needs the others of its warp; when all lanes
 * that it names have come there too, they go on with each other's values. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#include "capture/patch.cu"

#include "gpu_window.h"
#include "lanes.h"
#include "workload/runtime/coroutine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LANES = 32, STACK = 1 << 16 };

__thread struct gpu_index threadIdx, blockIdx, blockDim, gridDim;

struct lane {
    struct pw_coroutine coroutine;
    struct gpu_index thread;
    unsigned mask;                 /* 0: it does not wait */
    unsigned long long value, met; /* what it says, and said when all had come */
};

struct warp {
    struct pw_stack_arena *arena;
    struct lane lanes[LANES];
    unsigned active, running;
    lanes_patch *patch;
    const struct lanes_call *call;
};

static __thread struct warp *warp;

static void fail(const char *what)
{
    fprintf(stderr, "lanes: %s\n", what);
    abort();
}

/* Waits for the lanes in `mask`; their values are there afterwards. */
static void meet(unsigned mask, unsigned long long value)
{
    struct lane *l = &warp->lanes[warp->running];
    if (!(mask >> warp->running & 1))
        fail("a lane waits for others without itself");
    if (mask & ~warp->active)
        fail("lanes wait for one that does not run");
    l->mask = mask;
    l->value = value;
    pw_coroutine_suspend(&l->coroutine);
}

unsigned __activemask(void)
{
    return warp->active;
}

unsigned __ballot_sync(unsigned mask, int value)
{
    unsigned result = 0;
    meet(mask, value != 0);
    for (unsigned i = 0; i < LANES; i++)
        result |= mask >> i & 1 && warp->lanes[i].met ? 1U << i : 0;
    return result;
}

int __all_sync(unsigned mask, int value)
{
    return __ballot_sync(mask, value) == mask;
}

unsigned long long __shfl_sync(unsigned mask, unsigned long long value, unsigned lane)
{
    if (!(mask >> lane % LANES & 1))
        fail("a shuffle from a lane that takes no part");
    meet(mask, value);
    return warp->lanes[lane % LANES].met;
}

void __syncwarp(unsigned mask)
{
    meet(mask, 0);
}

void __threadfence_system(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void __nanosleep(unsigned nanoseconds)
{
    nanosleep(&(struct timespec){0, nanoseconds}, NULL);
}

int __isGlobal(const void *address)
{
    return (uint64_t)address < GPU_WINDOW || (uint64_t)address >= GPU_WINDOW + GPU_WINDOW_BYTES;
}

struct lanes_patch {
    const char *name;
    void (*call)(const struct lanes_call *c, uint64_t address);
};

static void global(const struct lanes_call *c, uint64_t address)
{
    PwGlobal(c->data, c->pc, (void *)address, c->bytes, c->flags, NULL);
}

static void elsewhere(const struct lanes_call *c, uint64_t address)
{
    PwElsewhere(c->data, c->pc, (void *)address, c->bytes, c->flags, NULL);
}

static void matrix(const struct lanes_call *c, uint64_t address)
{
    PwMatrix(c->data, c->pc, (uint32_t)address, 16, c->flags, 4, NULL);
}

static void barrier(const struct lanes_call *c, uint64_t address)
{
    (void)address;
    PwBarrier(c->data, c->pc, 0, 0, 0);
}

static void leave(const struct lanes_call *c, uint64_t address)
{
    (void)address;
    PwExit(c->data, c->pc);
}

static void copy(const struct lanes_call *c, uint64_t address)
{
    PwCopy(c->data, c->pc, (void *)address, 0, c->bytes);
}

static void commit(const struct lanes_call *c, uint64_t address)
{
    (void)address;
    PwCommit(c->data, c->pc);
}

static void wait_groups(const struct lanes_call *c, uint64_t address)
{
    (void)address;
    PwWait(c->data, c->pc, 0);
}

static void bulk(const struct lanes_call *c, uint64_t address)
{
    PwBulk(c->data, c->pc, address, 0, 0, c->bytes / 16, 0);
}

lanes_patch *lanes_find(const char *name)
{
    static lanes_patch patches[] = {{"PwGlobal", global},   {"PwElsewhere", elsewhere}, {"PwMatrix", matrix},
                                    {"PwBarrier", barrier}, {"PwExit", leave},          {"PwCopy", copy},
                                    {"PwCommit", commit},   {"PwWait", wait_groups},    {"PwBulk", bulk}};
    for (size_t i = 0; i < sizeof patches / sizeof *patches; i++)
        if (strcmp(patches[i].name, name) == 0)
            return &patches[i];
    return NULL;
}

static void run_lane(void *argument)
{
    struct lane *l = argument;
    warp->patch->call(warp->call, warp->call->addresses ? warp->call->addresses[l - warp->lanes] : 0);
}

static bool can_go_on(unsigned lane)
{
    unsigned mask = warp->lanes[lane].mask;
    for (unsigned i = 0; mask && i < LANES; i++)
        if (mask >> i & 1 && warp->lanes[i].mask != mask)
            return false;
    return true;
}

/* Frees all lanes that have met; the others wait on. */
static unsigned release(unsigned left)
{
    unsigned met = 0;
    for (unsigned i = 0; i < LANES; i++)
        if (left >> i & 1 && can_go_on(i))
            met |= 1U << i;
    for (unsigned i = 0; i < LANES; i++)
        if (met >> i & 1) {
            warp->lanes[i].mask = 0;
            warp->lanes[i].met = warp->lanes[i].value;
        }
    return met;
}

static void start(const struct lanes_geometry *g, unsigned lane)
{
    struct lane *l = &warp->lanes[lane];
    unsigned number = g->warp * LANES + lane, x = g->block[0], y = g->block[1];
    l->thread = (struct gpu_index){number % x, number / x % y, number / x / y};
    l->mask = 0;
    pw_coroutine_init(&l->coroutine, l->coroutine.stack, run_lane, l);
}

static void make_warp(void)
{
    warp = calloc(1, sizeof *warp);
    warp->arena = pw_stack_arena_create(STACK, LANES);
    for (unsigned i = 0; i < LANES; i++)
        if (!pw_stack_arena_take(warp->arena, &warp->lanes[i].coroutine.stack))
            fail("no stack");
}

void lanes_run(lanes_patch *p, const struct lanes_geometry *g, unsigned active, const struct lanes_call *call)
{
    if (!warp)
        make_warp();
    warp->patch = p;
    warp->call = call;
    warp->active = active;
    gridDim = (struct gpu_index){g->grid[0], g->grid[1], g->grid[2]};
    blockDim = (struct gpu_index){g->block[0], g->block[1], g->block[2]};
    blockIdx =
        (struct gpu_index){g->cta % g->grid[0], g->cta / g->grid[0] % g->grid[1], g->cta / g->grid[0] / g->grid[1]};
    for (unsigned i = 0; i < LANES; i++)
        if (active >> i & 1)
            start(g, i);
    for (unsigned left = active, met; left;) {
        if (!(met = release(left)))
            fail("lanes wait for each other");
        for (unsigned i = 0; i < LANES; i++) {
            if (!(met >> i & 1))
                continue;
            warp->running = i;
            threadIdx = warp->lanes[i].thread;
            pw_coroutine_resume(&warp->lanes[i].coroutine);
            left &= warp->lanes[i].coroutine.ended ? ~(1U << i) : UINT32_MAX;
        }
    }
}
