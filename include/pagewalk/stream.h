/* pagewalk: a machine that is fed operation by operation.
 *
 * pw_run simulates a built-in program from its beginning to its end. A stream is for callers that have the program
 * somewhere else: another simulator that wants address translation from this one, or a tool that reads addresses. The
 * caller maps memory, pushes operations, lets time go on, and learns of each operation when it completes and where its
 * translations were found; the metrics are those of a run. All machines and designs work: with demand paging memory is
 * managed and comes with far faults; with several GPUs an operation says on which it is.
 *
 *     struct pw_stream *s;
 *     struct pw_error err;
 *     struct pw_stream_completion done;
 *     if (pw_stream_open(&(struct pw_stream_spec){.machine = "volta", .map_on_touch = true}, &s, &err) == PW_OK &&
 *         pw_stream_access(s, (struct pw_stream_place){0}, PW_STREAM_LOAD, 0x10000, 4, 0, &err) == PW_OK &&
 *         pw_stream_drain(s, &err) == PW_OK && pw_stream_next(s, &done))
 *         printf("%llu cycles\n", (unsigned long long)(done.completed - done.issued));
 *     pw_stream_close(s);
 *
 * Where operations go. An operation is pushed to a warp slot of an SM. The operations of a slot are those of one warp:
 * they issue in the order in which they were pushed, each as soon as its turn comes and what it uses is there, and
 * those of the warps of an SM compete for its schedulers and its load-store unit as they do in a run. Loads do not
 * block: operations behind one issue while it is under way, until one that says that it uses what was loaded, or until
 * sm.loads_per_warp loads of the warp are. A caller that models SMs already pushes each operation at its own time and
 * finds the warp ready.
 *
 * Time is counted in cycles of the GPU's clock from 0, and goes on only in pw_stream_advance, pw_stream_wait and
 * pw_stream_drain. It stands at pw_stream_now: everything before that cycle has happened, and what is pushed or mapped
 * then happens in that cycle, behind what is due in it already. Calls take no simulated time by themselves, and mapping
 * memory takes none.
 *
 * The same calls give the same bits, on any machine and with any compiler. A stream is not for several threads at once;
 * different streams are. A call that pushes or maps and fails with PW_USER_ERROR has pushed and mapped nothing, and the
 * stream goes on. Any other failure ends it, and every later call says so again.
 *
 * Left out: several warps that share a barrier or shared memory (the caller knows when they meet), the breakdown of
 * warp time, logs and the option sim.reuse. A store is not followed beyond its issue; a caller that wants to know when
 * a write is translated pushes PW_STREAM_TRANSLATE_WRITE. */
#ifndef PAGEWALK_STREAM_H
#define PAGEWALK_STREAM_H

#include "pagewalk/pagewalk.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pw_stream;

/* Numbers that are 0 and pointers that are NULL mean the default. Strings need not outlive pw_stream_open. */
struct pw_stream_spec {
    const char *machine;     /* names or files, joined by '+'; default mosaic */
    const char *design;      /* likewise; default gpu-mmu */
    const char *const *sets; /* "key=value" */
    size_t set_count;
    uint64_t seed;                    /* default 1 */
    unsigned apps;                    /* applications, each with its own address space and SMs; default 1 */
    unsigned queue;                   /* operations that wait for a warp at least, at most 4096; default 16 */
    bool map_on_touch;                /* what is pushed maps its pages, 2 MiB at a time, if they are not mapped yet */
    const volatile bool *interrupted; /* polled; when it becomes true the present call ends with PW_INTERRUPTED */
};

/* Builds the machine. On PW_OK *out is the caller's to close. */
enum pw_status pw_stream_open(const struct pw_stream_spec *spec, struct pw_stream **out, struct pw_error *err);
/* At any time; NULL: nothing to do. Nothing is checked: pw_stream_finish does that. */
void pw_stream_close(struct pw_stream *s);

/* How many of each there are: what is below them may stand in a struct pw_stream_place. */
struct pw_stream_shape {
    unsigned apps, gpus;
    unsigned sms;       /* that the application has, on each GPU */
    unsigned warps;     /* slots of an SM */
    uint64_t page;      /* bytes of the smallest page */
    double clock_mhz;   /* cycles a microsecond */
    bool managed;       /* memory comes to the GPU on demand */
    unsigned in_flight; /* loads of a warp */
};
enum pw_status pw_stream_shape(const struct pw_stream *s, unsigned app, struct pw_stream_shape *out,
                               struct pw_error *err);

/* Memory. An application's addresses are its own: equal ones of two applications have nothing to do with each other.
 *
 * An address is the caller's and may be anything below 2^48. Inside, the address space is moved 1 GiB by 1 GiB, in the
 * order in which each is first used, and there are 768 such pieces: where an address lies within its GiB, which is what
 * sets of TLBs and the lower two levels of page tables go by, stays as it is; which GiB are neighbours may not.
 *
 * Frames are handed out, as the design does it, when time next goes on: what has been mapped until then is backed
 * together, one page of each application in turn. If it does not fit, that call fails and the stream has ended. */

/* Maps the whole pages around [address, address + bytes), which must not overlap what is mapped. With demand paging
 * (managed memory) a mapping begins at a multiple of 2 MiB and keeps others out of its last 2 MiB. The name is for the
 * results; NULL: "mapped". */
enum pw_status pw_stream_map(struct pw_stream *s, unsigned app, uint64_t address, uint64_t bytes, const char *name,
                             struct pw_error *err);
/* The same at an address that the library chooses, a multiple of 2 MiB: the lowest from 0x7f4000000000 on with room. */
enum pw_status pw_stream_allocate(struct pw_stream *s, unsigned app, uint64_t bytes, const char *name,
                                  uint64_t *out_address, struct pw_error *err);
/* Takes away what one call has mapped, by any address in it. Nothing of the application may be under way:
 * pw_stream_drain before. TLBs forget the pages. */
enum pw_status pw_stream_unmap(struct pw_stream *s, unsigned app, uint64_t address, struct pw_error *err);

struct pw_stream_place {
    unsigned app;
    unsigned gpu;
    unsigned sm;   /* among the application's on this GPU */
    unsigned warp; /* slot */
};

enum pw_stream_kind {
    PW_STREAM_LOAD,
    PW_STREAM_STORE,
    PW_STREAM_ATOMIC,          /* at the L2; nothing comes back */
    PW_STREAM_ATOMIC_RETURN,   /* at the L2; counts as a load */
    PW_STREAM_TRANSLATE,       /* TLBs, walks and far faults of a load, without its data; counts as a load */
    PW_STREAM_TRANSLATE_WRITE, /* likewise, as for a store */
    PW_STREAM_COMPUTE,         /* `instructions` of arithmetic, one after the other */
    PW_STREAM_EXIT,            /* the warp ends; the next operation begins another one in its slot */
    PW_STREAM_KIND_COUNT
};

/* Zeros are defaults. */
struct pw_stream_operation {
    enum pw_stream_kind kind;
    uint32_t mask;             /* active lanes, bit i for lane i; 0: all 32 */
    uint32_t bytes;            /* of each lane: 1, 2, 4, 8 or 16; 0: 4. Addresses must be multiples of it. */
    const uint64_t *addresses; /* one for each active lane, in their order; NULL: lane i accesses base + i * stride */
    uint64_t base;
    int64_t stride;
    uint32_t instructions; /* of PW_STREAM_COMPUTE, 1 to 2^20; 0: 1 */
    bool use;              /* issues when all loads of its warp but the youngest `all_but` have come back */
    uint8_t all_but;
    bool report;  /* pw_stream_next reports when it has completed; not of PW_STREAM_COMPUTE and PW_STREAM_EXIT */
    uint64_t tag; /* the caller's, handed back */
};

/* Pushes one operation. PW_BUSY: the warp's queue is full, nothing has been pushed, and *err is untouched; let time go
 * on and push it again. */
enum pw_status pw_stream_push(struct pw_stream *s, struct pw_stream_place place, const struct pw_stream_operation *op,
                              struct pw_error *err);

/* Pushes an access of one kind to [address, address + bytes) with as many lanes as it takes, at most 32 of at most 16
 * bytes each; it is reported. Of a TRANSLATE the pages count. */
enum pw_status pw_stream_access(struct pw_stream *s, struct pw_stream_place place, enum pw_stream_kind kind,
                                uint64_t address, uint64_t bytes, uint64_t tag, struct pw_error *err);

/* Where the last of an operation's translations was found. Who waits for what another has begun is where that is. */
enum pw_stream_level { PW_STREAM_L1_TLB, PW_STREAM_L2_TLB, PW_STREAM_WALK, PW_STREAM_FAR_FAULT, PW_STREAM_LEVEL_COUNT };

struct pw_stream_completion {
    uint64_t tag;
    struct pw_stream_place place;
    enum pw_stream_kind kind;
    enum pw_stream_level level; /* PW_STREAM_L1_TLB for a kind that is not followed */
    uint64_t address;           /* of the lowest active lane */
    uint64_t physical;          /* where that is at the completion; UINT64_MAX: its page has left again */
    uint64_t pushed;
    uint64_t issued;     /* it entered the load-store unit */
    uint64_t translated; /* all its lines had their translations */
    uint64_t completed;  /* the last data had come; of STORE and ATOMIC: issued */
};

/* Takes the oldest completion that has not been taken yet; false: there is none. They come in order of time, and are
 * kept until they are taken. */
bool pw_stream_next(struct pw_stream *s, struct pw_stream_completion *out);

uint64_t pw_stream_now(const struct pw_stream *s);
/* Operations that have been pushed and are not complete: not issued, or a load whose data has not come. */
uint64_t pw_stream_outstanding(const struct pw_stream *s);

/* Everything before cycle `until` happens; the present cycle at least. How far ahead that is does not matter where
 * nothing is under way, except with sim.snapshots, which are taken one by one. Time ends where the machine's clocks are
 * no longer exact, which the message says: after 4 * 10^12 cycles or more with the machines there are. */
enum pw_status pw_stream_advance(struct pw_stream *s, uint64_t until, struct pw_error *err);
/* The same, but time stops in the cycle in which an operation with `report` completes, before the next one does. At
 * once if a completion has not been taken. With UINT64_MAX it stops with the last completion of all too, or at once if
 * nothing is outstanding. */
enum pw_status pw_stream_wait(struct pw_stream *s, uint64_t until, struct pw_error *err);
/* Until nothing is outstanding and all stores have reached the L2; arithmetic may go on for which nothing waits. A
 * machine in which nothing happens any more, or no instruction issues for sim.progress_limit cycles, is PW_FAILED, and
 * the message says who waits for whom. */
enum pw_status pw_stream_drain(struct pw_stream *s, struct pw_error *err);

/* Metrics count from the beginning, or from this call on. */
enum pw_status pw_stream_reset_metrics(struct pw_stream *s, struct pw_error *err);
/* The present value of a metric, such as "gpu0.l2_tlb.hits" or "app1.walk.latency_mean" (docs/metrics.md). out->name is
 * `name`. */
enum pw_status pw_stream_metric(struct pw_stream *s, const char *name, struct pw_metric *out, struct pw_error *err);
/* All of them, in the order of a result. What is visited lives until visit returns. */
typedef void pw_stream_visit(void *context, const struct pw_metric *metric);
enum pw_status pw_stream_metrics(struct pw_stream *s, pw_stream_visit *visit, void *context, struct pw_error *err);

/* Drains, lets every warp exit, checks all identities, and gives the result that a run would have; NULL: only checks.
 * *out is the caller's to free (pw_result_free). Afterwards the stream can only be asked for completions and closed. */
enum pw_status pw_stream_finish(struct pw_stream *s, struct pw_result **out, struct pw_error *err);

#ifdef __cplusplus
}
#endif

#endif
