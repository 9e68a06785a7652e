/* Turns the instructions of one warp, as traces list them, into its operations (trace/op.h), and hands those to a
 * writer.
 *
 * Instructions between memory accesses are counted. A run of them is cut where one first uses what a load brings: the
 * trace says which registers an instruction takes, so that those which a load fills are known until one is taken, and
 * the operation that begins there waits for this load and all before it, as loads of a warp complete in order here.
 * An instruction that overwrites such a register waits too. Loads into shared memory have no register: LDGDEPBAR ends a
 * group of them, and DEPBAR waits for all groups but so many. That is lost where a program waits otherwise (mbarrier).
 *
 * A barrier is one for the warp once all its lanes that have not left have come: where lanes come one part after the
 * other, the parts before the last are instructions. The model lets a CTA on when all its warps that have not left have
 * come, so that no trace can make it wait for ever, whatever barriers are in it. Barriers by another number than 0 or
 * of a part of the CTA, which have an immediate other than 0, are instructions.
 *
 * A warp's last instruction is its EXIT; those before it, of lanes that leave earlier, are instructions. A warp whose
 * trace ends otherwise leaves after its last instruction. */
#ifndef PW_TRACE_WARP_OPS_H
#define PW_TRACE_WARP_OPS_H

#include "trace/sass.h"
#include "trace/trace_writer.h"

enum { PW_WARP_REGISTERS = 256, PW_WARP_COPY_GROUPS = 32 /* that can be in flight when one is waited for */ };

struct pw_warp_ops {
    struct pw_trace_writer *out;
    uint32_t cta, warp;
    bool whole_warps;   /* a barrier takes all lanes of a warp, whichever come (before Volta) */
    bool any;           /* instructions so far */
    bool failed;        /* the writer has */
    bool exit_held;     /* the last instruction was an EXIT */
    uint8_t in_flight;  /* what the next operation, or that under way, waits for; PW_ANY_IN_FLIGHT: nothing */
    uint32_t run;       /* instructions that are not written yet */
    uint32_t live;      /* lanes that have not left */
    uint32_t arrived;   /* of those, at a barrier */
    uint64_t issued;    /* loads, of all warps so far */
    uint64_t completed; /* the first so many are known to be */
    uint64_t committed; /* groups of copies, of this warp */
    uint64_t group[PW_WARP_COPY_GROUPS];   /* loads issued when it ended */
    uint64_t filled_by[PW_WARP_REGISTERS]; /* loads issued with the last that fills it; those before it included */
};

/* For all warps of a launch, one after the other. */
void pw_warp_ops_init(struct pw_warp_ops *o, struct pw_trace_writer *out);
void pw_warp_ops_begin(struct pw_warp_ops *o, uint32_t cta, uint32_t warp, uint32_t lanes);
void pw_warp_ops_end(struct pw_warp_ops *o);

/* The next instruction cannot start before the first `loads` loads have completed. */
void pw_warp_ops_wait(struct pw_warp_ops *o, uint64_t loads);

/* An access of the active lanes, one address each, in lane order. */
void pw_warp_ops_access(struct pw_warp_ops *o, const struct pw_sass *s, bool result, uint32_t mask,
                        const uint64_t *addresses);
/* One of which lane i accesses base + i * stride. */
void pw_warp_ops_affine(struct pw_warp_ops *o, const struct pw_sass *s, bool result, uint32_t mask, uint64_t base,
                        int64_t stride);

void pw_warp_ops_commit(struct pw_warp_ops *o);
void pw_warp_ops_wait_copies(struct pw_warp_ops *o, uint64_t groups_in_flight);
void pw_warp_ops_barrier(struct pw_warp_ops *o, uint32_t mask);
void pw_warp_ops_exit(struct pw_warp_ops *o, uint32_t mask);

/* An instruction that is none of these. */
static inline void pw_warp_ops_count(struct pw_warp_ops *o)
{
    o->run += 1U + o->exit_held;
    o->exit_held = false;
    o->any = true;
}

/* The instruction that was counted last is the same as that which follows. */
static inline void pw_warp_ops_uncount(struct pw_warp_ops *o)
{
    o->run--;
}

/* The instructions counted so far are an operation of their own. */
void pw_warp_ops_cut(struct pw_warp_ops *o);

/* Whether there are loads that one could wait for. */
static inline bool pw_warp_ops_in_flight(const struct pw_warp_ops *o)
{
    return o->issued > o->completed;
}

/* The next instruction takes or fills `count` registers from `first` on. */
static inline void pw_warp_ops_use(struct pw_warp_ops *o, uint32_t first, uint32_t count)
{
    for (uint32_t r = first; r < first + count && r < PW_SASS_RZ; r++)
        if (__builtin_expect(o->filled_by[r] > o->completed, 0))
            pw_warp_ops_wait(o, o->filled_by[r]);
}

/* The access before has filled `count` registers from `first` on. */
static inline void pw_warp_ops_fill(struct pw_warp_ops *o, uint32_t first, uint32_t count)
{
    for (uint32_t r = first; r < first + count && r < PW_SASS_RZ; r++)
        o->filled_by[r] = o->issued;
}

#endif
