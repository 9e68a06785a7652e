/* What a kernel is: a plain C function for one warp that reads like the CUDA kernel it stands for.
 *
 * The function runs as a coroutine on a small stack of its own. It computes real results on host arrays and emits its
 * operations into a buffer of some dozens; when the buffer is full, or at a barrier, it is suspended until the timing
 * model has consumed them. Function is decoupled from timing: a warp may read only what was written before the launch
 * or before its CTA's last barrier, so results and addresses depend neither on machine nor on design. What does depend
 * on the order among warps (atomics that return a value) is resolved once per launch, in canonical order, by the
 * launch's `resolve` function (host.h).
 *
 * Lanes are bits of a 32-bit mask. "Loads in flight": pw_load_* return at once; pw_use(w) says that the next
 * instruction needs all loads so far, pw_use_all_but(w, k) that it needs all but the k youngest. The kernel places
 * them where the original's first use is. */
#ifndef PW_WORKLOAD_KERNEL_H
#define PW_WORKLOAD_KERNEL_H

#include "sim/status.h"
#include "sim/types.h"
#include "trace/op.h"

/* An allocation of the simulated program. `data` is its host copy, NULL with values=off. */
struct pw_array {
    pw_vaddr base;
    void *data;
    uint64_t count;
    uint32_t element_bytes;
    uint32_t id;
};

static inline void pw_swap_arrays(struct pw_array *a, struct pw_array *b)
{
    struct pw_array swap = *a;
    *a = *b;
    *b = swap;
}

enum { PW_OP_BUFFER_WORDS = 128 };

struct pw_launch;

/* One warp, as its kernel and the timing model see it. It is consumed from words[0] up to words[write];
 * `read` is for whoever keeps no place of their own. */
struct pw_warp {
    struct pw_dim3 cta; /* blockIdx */
    uint32_t cta_index; /* linear: x fastest */
    uint32_t index;     /* of the warp in its CTA */
    uint32_t lanes;     /* threads that exist: all ones but in a CTA's last warp */
    const struct pw_launch *launch;
    void *shared;           /* the CTA's shared memory, zeroed when the CTA starts, common to its warps */
    uint8_t next_in_flight; /* set by pw_use, carried by the next operation */
    bool exited;
    bool failed; /* pw_warp_fail */
    uint16_t read, write;
    void *coroutine;
    uint64_t words[PW_OP_BUFFER_WORDS];
};

typedef void pw_kernel_fn(struct pw_warp *w, const void *arguments);

/* Suspends the kernel until the timing model has consumed the buffer. */
void pw_warp_yield(struct pw_warp *w);

/* Ends the run: the kernel cannot go on (a trace is damaged, say) and returns at once. */
void pw_warp_fail(struct pw_warp *w, const struct pw_error *err);

static inline uint64_t *pw_emit(struct pw_warp *w, uint32_t words, struct pw_op op)
{
    if (__builtin_expect(w->write + words > PW_OP_BUFFER_WORDS, 0))
        pw_warp_yield(w);
    uint64_t *at = &w->words[w->write];
    op.loads_in_flight = w->next_in_flight;
    w->next_in_flight = PW_ANY_IN_FLIGHT;
    __builtin_memcpy(at, &op, sizeof op);
    w->write = (uint16_t)(w->write + words);
    return at + 1;
}

/* Room for any operation, for who makes it in place: put the first word at *result, addresses behind it, and call
 * pw_emitted. The operation says itself which loads it waits for. */
static inline uint64_t *pw_emit_room(struct pw_warp *w)
{
    if (__builtin_expect(w->write + PW_OP_MAX_WORDS > PW_OP_BUFFER_WORDS, 0))
        pw_warp_yield(w);
    return &w->words[w->write];
}

static inline void pw_emitted(struct pw_warp *w, struct pw_op op)
{
    __builtin_memcpy(&w->words[w->write], &op, sizeof op);
    w->write = (uint16_t)(w->write + pw_op_words(op));
    if (op.kind == PW_OP_BARRIER)
        pw_warp_yield(w);
}

/* `count` warp instructions of arithmetic, control flow or shared memory that follow one another. */
static inline void pw_compute(struct pw_warp *w, uint32_t count)
{
    if (count)
        pw_emit(w, 1, (struct pw_op){.kind = PW_OP_COMPUTE, .count_or_mask = count});
}

static inline void pw_use_all_but(struct pw_warp *w, uint8_t in_flight)
{
    if (in_flight < w->next_in_flight)
        w->next_in_flight = in_flight;
}

static inline void pw_use(struct pw_warp *w)
{
    pw_use_all_but(w, 0);
}

/* Lane i accesses address + i * stride. A mask of 0 emits nothing. */
static inline void pw_access_affine(struct pw_warp *w, enum pw_op_kind kind, uint32_t mask, uint64_t address,
                                    int64_t stride, uint32_t bytes)
{
    if (!mask)
        return;
    uint64_t *at = pw_emit(
        w, 3,
        (struct pw_op){.kind = (uint8_t)kind, .form = PW_FORM_AFFINE, .bytes = (uint8_t)bytes, .count_or_mask = mask});
    at[0] = address;
    at[1] = (uint64_t)stride;
}

/* Lane i accesses element index[i] of the array (only active lanes are read). */
static inline void pw_access_lanes(struct pw_warp *w, enum pw_op_kind kind, uint32_t mask, const struct pw_array *a,
                                   const uint64_t index[PW_WARP_LANES])
{
    if (!mask)
        return;
    uint64_t *at = pw_emit(
        w, 1 + pw_lane_count(mask),
        (struct pw_op){
            .kind = (uint8_t)kind, .form = PW_FORM_LANES, .bytes = (uint8_t)a->element_bytes, .count_or_mask = mask});
    if (mask == PW_ALL_LANES) {
        for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++)
            at[lane] = a->base.v + index[lane] * a->element_bytes;
        return;
    }
    for (uint32_t m = mask; m; m &= m - 1)
        *at++ = a->base.v + index[__builtin_ctz(m)] * a->element_bytes;
}

/* Lane i accesses element first + i * step. */
static inline void pw_access_strided(struct pw_warp *w, enum pw_op_kind kind, uint32_t mask, const struct pw_array *a,
                                     int64_t first, int64_t step)
{
    pw_access_affine(w, kind, mask, a->base.v + (uint64_t)(first * (int64_t)a->element_bytes),
                     step * (int64_t)a->element_bytes, a->element_bytes);
}

#define PW_DEFINE_ACCESS(verb, kind)                                                                                   \
    /* Lane i: element first + i. */                                                                                   \
    static inline void pw_##verb##_run(struct pw_warp *w, uint32_t mask, const struct pw_array *a, int64_t first)      \
    {                                                                                                                  \
        pw_access_strided(w, kind, mask, a, first, 1);                                                                 \
    }                                                                                                                  \
    /* Lane i: element first + i * step. */                                                                            \
    static inline void pw_##verb##_strided(struct pw_warp *w, uint32_t mask, const struct pw_array *a, int64_t first,  \
                                           int64_t step)                                                               \
    {                                                                                                                  \
        pw_access_strided(w, kind, mask, a, first, step);                                                              \
    }                                                                                                                  \
    /* Lane i: element index[i]. */                                                                                    \
    static inline void pw_##verb##_lanes(struct pw_warp *w, uint32_t mask, const struct pw_array *a,                   \
                                         const uint64_t index[PW_WARP_LANES])                                          \
    {                                                                                                                  \
        pw_access_lanes(w, kind, mask, a, index);                                                                      \
    }
PW_DEFINE_ACCESS(load, PW_OP_LOAD)
PW_DEFINE_ACCESS(store, PW_OP_STORE)
PW_DEFINE_ACCESS(atomic, PW_OP_ATOMIC)
PW_DEFINE_ACCESS(atomic_return, PW_OP_ATOMIC_RETURN)
#undef PW_DEFINE_ACCESS

/* __syncthreads(): nothing after it runs before every warp of the CTA has come here. */
static inline void pw_barrier(struct pw_warp *w)
{
    pw_emit(w, 1, (struct pw_op){.kind = PW_OP_BARRIER});
    pw_warp_yield(w);
}

/* Lanes of this warp whose value `first + lane` is below `end`, among those that exist. */
static inline uint32_t pw_lanes_below(const struct pw_warp *w, uint64_t first, uint64_t end)
{
    if (first >= end)
        return 0;
    uint64_t room = end - first;
    return room >= PW_WARP_LANES ? w->lanes : w->lanes & ((1U << room) - 1);
}

/* The rank within its CTA of lane 0's thread. */
static inline uint32_t pw_first_thread(const struct pw_warp *w)
{
    return w->index * PW_WARP_LANES;
}

#define PW_FOR_LANES(lane, mask)                                                                                       \
    for (uint32_t pw_left_ = (mask), lane; pw_left_ && ((lane = (uint32_t)__builtin_ctz(pw_left_)), 1);                \
         pw_left_ &= pw_left_ - 1)

#endif
