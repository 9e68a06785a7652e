/* The host side of a workload: a plain C function that reads like the CUDA program's main().
 *
 * It allocates arrays, launches kernels and frees, and runs as a coroutine: pw_launch returns when the launch has
 * finished in simulated time. Behind it stands a backend: the timing model (src/system) or the functional executor
 * (functional.h), which runs the same code without time.
 *
 * Errors of the backend (out of simulated memory, say) end the program: pw_alloc and pw_launch then do not return, and
 * the error is reported by its caller. A host program therefore keeps what it mallocs in memory that
 * pw_host_keep frees for it. */
#ifndef PW_WORKLOAD_HOST_H
#define PW_WORKLOAD_HOST_H

#include "sim/memory_advice.h"
#include "sim/option.h"
#include "sim/random.h"
#include "workload/runtime/kernel.h"

struct pw_host;

struct pw_launch {
    const char *name;
    struct pw_dim3 grid, block;
    uint32_t shared_bytes; /* of a CTA */
    uint32_t registers;    /* per thread; 0: not limiting */
    /* Cycles from one instruction of a warp to its next, in thousandths, told by its machine code
     * (scripts/machine-code); 0: not known. */
    uint32_t pace;
    pw_kernel_fn *kernel;
    const void *arguments; /* handed to every warp; must stay valid until pw_launch returns */
    void (*resolve)(
        void
            *state); /* or NULL: run once by pw_launch before the backend sees it, decides what depends on warp order */
    void *resolve_state;
};

/* Allocates simulated memory, and host memory behind it unless values are off; zeroed. The name is for reports. */
struct pw_array pw_alloc(struct pw_host *h, const char *name, uint64_t count, uint32_t element_bytes);
void pw_free(struct pw_host *h, struct pw_array *a);

/* What kind of memory an allocation is in the program that a workload stands for. */
enum pw_memory_kind {
    PW_MEMORY_MANAGED, /* cudaMallocManaged; what built-in programs have */
    PW_MEMORY_DEVICE,  /* cudaMalloc */
    PW_MEMORY_HOST,    /* pinned host memory that kernels access */
    PW_MEMORY_UNKNOWN, /* kernels touch it, and nothing says how it was allocated */
    PW_MEMORY_SEVERAL, /* allocations of several kinds that share pages */
    PW_MEMORY_KIND_COUNT
};
const char *pw_memory_kind_name(enum pw_memory_kind kind); /* "managed" */

/* How a recorded program made what is one array here. */
struct pw_alloc_origin {
    enum pw_memory_kind memory;
    uint32_t order;   /* of the first allocation among those of its kind, from 1 */
    uint32_t members; /* allocations */
    uint64_t bytes;   /* of all of them */
    bool has_name;    /* of its own; else the name is an address of the recorded run */
};

/* Says how an array was allocated, right after pw_alloc; for reports. */
void pw_alloc_from(struct pw_host *h, const struct pw_array *a, const struct pw_alloc_origin *origin);

/* cudaMemPrefetchAsync: says that the array will be used on the GPU soon. Memory that is allocated on the device gets
 * its frames now instead of at the next launch; memory that can be elsewhere is moved. */
void pw_prefetch(struct pw_host *h, const struct pw_array *a);

/* Says what is in `bytes` bytes from byte `first` of an array on, before the next launch: a copy from the host, or what
 * the device itself has set (cudaMemset). Of an array of which nothing has been said before its first launch, all
 * counts as copied then. Matters only to what the caches have seen. */
enum pw_contents { PW_CONTENTS_COPIED, PW_CONTENTS_SET };
void pw_filled(struct pw_host *h, const struct pw_array *a, uint64_t first, uint64_t bytes, enum pw_contents how);

/* cudaMemAdvise: says how the array will be used, in flags of enum pw_memory_advice, in place of what was said before.
 * Means something only where pages come on demand. */
void pw_mem_advise(struct pw_host *h, const struct pw_array *a, unsigned advice);

/* mprotect, or cuMemSetAccess: what kernels may do with the array from now on, of PW_MAY_READ and PW_MAY_WRITE, in
 * place of what was said before. An array may be read and written at first; the host may always do both. A kernel that
 * does what it may not ends the run with an error. */
void pw_protect(struct pw_host *h, const struct pw_array *a, unsigned permissions);

void pw_launch(struct pw_host *h, const struct pw_launch *launch);

/* zeroed host memory that lives as long as the program. */
void *pw_host_keep(struct pw_host *h, size_t bytes);

/* Has `release` called when the program is gone, however it ended: for what a program owns beside memory. Objects are
 * released in reverse order, before memory that was kept. */
void pw_host_at_end(struct pw_host *h, void (*release)(void *object), void *object);

/* Random numbers of this program's own stream. */
struct pw_random *pw_host_random(struct pw_host *h);

/* Says how many launches are to come, for the progress bar: in all, or in each pass and besides them. 0 planned: it is
 * not known. */
void pw_host_plan(struct pw_host *h, uint32_t launches);
void pw_host_plan_passes(struct pw_host *h, uint32_t launches_of_one, uint32_t others);
uint32_t pw_host_planned(const struct pw_host *h);

/* Whether a further pass over the data begins, `done` of `passes` having ended (0 passes: as many as the algorithm
 * takes). The first always does; none begins once the program's launches have issued as many warp instructions as the
 * parameter `instructions` says, times the scale: a smaller program passes over its data as often. The count is taken
 * between launches, when all that was launched has been issued, so that it depends neither on machine nor on design. */
bool pw_host_pass(struct pw_host *h, uint32_t done, uint32_t passes);

/* Passes begun; 1 for a program that has no others. */
uint32_t pw_host_passes(const struct pw_host *h);

/* The common parameter scale=FACTOR (1 by default): workloads multiply the size of their data by it. */
double pw_host_scale(const struct pw_host *h);

/* `size` times the scale (or, for the side of something with two dimensions, its square root), rounded to a positive
 * multiple of `step`. */
uint64_t pw_host_scaled(const struct pw_host *h, uint64_t size, uint64_t step);
uint64_t pw_host_scaled_side(const struct pw_host *h, uint64_t size, uint64_t step);

/* Whether arrays have host copies. */
bool pw_host_values(const struct pw_host *h);

/* Whether the caller wants the result checked against a plain sequential implementation. */
bool pw_host_verifying(const struct pw_host *h);

/* Reports the outcome of one check; the first failure is kept for the report. */
void pw_host_expect(struct pw_host *h, bool holds, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Ends the program with a user error (an impossible combination of parameters, an input file that does not parse). */
void pw_host_fail(struct pw_host *h, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));

/* Ends the program with this error. */
void pw_host_fail_with(struct pw_host *h, const struct pw_error *err) __attribute__((noreturn));

/* Whether the user wants the run to end; for what takes long between launches. */
bool pw_host_interrupted(const struct pw_host *h);

/* What every result of the program should say of it, such as that it was recorded in part. */
void pw_host_note(struct pw_host *h, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *pw_host_get_note(const struct pw_host *h); /* "" where there is none */

/* What a program keeps for the next time it starts over, and for whoever runs the same struct pw_program next:
 * something that took long to read. */
struct pw_program_object {
    void *object; /* NULL at first */
    void (*release)(void *object);
};
struct pw_program_object *pw_host_program_object(struct pw_host *h);

/* A named size of a workload: parameters as the user would write them, "rows=2048:columns=2048". */
struct pw_preset {
    const char *name;
    const char *parameters;
};

/* A workload: its parameters (typed rows over a struct of its own) and its program. */
struct pw_workload {
    const char *name;
    const char *suite;
    const char *papers;                 /* that use it, separated by spaces; NULL: none */
    const char *summary;                /* one sentence */
    const struct pw_option *parameters; /* ends with a NULL name */
    const struct pw_preset *presets;    /* for size=NAME; ends with a NULL name; NULL: none */
    /* The parameter that counts passes over the data (pw_host_pass); NULL: there is one pass, or none is ever cut. */
    const char *passes;
    size_t parameters_bytes;
    bool needs_values;  /* addresses depend on data: values=off is refused */
    bool has_no_values; /* it computes nothing: arrays never have host copies */
    /* A parameter without which it cannot run; NULL: all have defaults. NAME:VALUE sets it too. */
    const char *required;
    /* A digest of a file's bytes, on which a run depends, where a parameter has the unit "file"; else NULL. */
    enum pw_status (*digest_file)(const char *path, uint64_t *out, struct pw_error *err);
    void (*main)(struct pw_host *h, const void *parameters);
};

/* All workloads, NULL-terminated, in the order of workloads.def. */
extern const struct pw_workload *const pw_workloads[];
const struct pw_workload *pw_workload_find(const char *name);

/* A workload with its parameters filled in from "NAME:key=value:key=value". size=NAME applies a preset before the other
 * parameters. `values` is the common parameter values=on|off; `scale` the common scale=FACTOR, which workloads apply to
 * their sizes; `instructions` that of workloads with passes, 0: no pass is cut. Who gives the number of passes gets it:
 * then `instructions` is 0 unless it is given too. */
struct pw_program {
    const struct pw_workload *workload;
    void *parameters; /* owned */
    bool values;
    double scale;
    uint32_t instructions;
    struct pw_program_object *kept; /* owned */
    char text[256];                 /* as given, for results */
};
enum pw_status pw_program_parse(const char *text, struct pw_program *out, struct pw_error *err);
void pw_program_release(struct pw_program *p);

/* Parameter `index` of the program with its present value, those common to all workloads last; false behind the last.
 * The origin is not set. */
bool pw_program_parameter(const struct pw_program *p, size_t index, struct pw_option_view *out);

/* What a backend gives. `launch` and `alloc` may suspend the program (pw_host_suspend) and are called on its stack. */
struct pw_backend {
    enum pw_status (*alloc)(void *backend, uint32_t id, const char *name, uint64_t bytes, pw_vaddr *out,
                            struct pw_error *err);
    enum pw_status (*free)(void *backend, uint32_t id, pw_vaddr base, uint64_t bytes, struct pw_error *err);
    enum pw_status (*launch)(void *backend, const struct pw_launch *launch, struct pw_error *err);
    /* Warp instructions issued so far, those before this program's start included. */
    uint64_t (*issued)(void *backend);
    /* Optional. */
    enum pw_status (*prefetch)(void *backend, uint32_t id, pw_vaddr base, struct pw_error *err);
    enum pw_status (*advise)(void *backend, uint32_t id, pw_vaddr base, unsigned advice, struct pw_error *err);
    enum pw_status (*protect)(void *backend, uint32_t id, pw_vaddr base, unsigned permissions, struct pw_error *err);
    bool (*interrupted)(void *backend);
    enum pw_status (*filled)(void *backend, uint32_t id, pw_vaddr base, uint64_t first, uint64_t bytes,
                             enum pw_contents how, struct pw_error *err);
    enum pw_status (*origin)(void *backend, uint32_t id, const struct pw_alloc_origin *origin, struct pw_error *err);
};

enum pw_status pw_host_create(const struct pw_program *program, uint64_t seed, unsigned instance, bool verify,
                              const struct pw_backend *backend, void *backend_object, struct pw_host **out,
                              struct pw_error *err);
void pw_host_destroy(struct pw_host *h);

/* Runs the program until it suspends (returns false) or has ended (returns true). */
bool pw_host_resume(struct pw_host *h);

/* Called by a backend on the program's stack: hands control back to the caller of pw_host_resume. */
void pw_host_suspend(struct pw_host *h);

/* After the end: PW_OK, or how it failed. Checks that did not hold give PW_FAILED. */
enum pw_status pw_host_outcome(const struct pw_host *h, struct pw_error *err);
unsigned pw_host_checks(const struct pw_host *h);

/* Warps, for backends. A pool reuses stacks; memory per warp in use is its stack and buffer. */
struct pw_warp_pool;
struct pw_warp_pool *pw_warp_pool_create(struct pw_error *err);
void pw_warp_pool_destroy(struct pw_warp_pool *p);

/* A warp at the start of its kernel, or NULL when memory is out. */
struct pw_warp *pw_warp_start(struct pw_warp_pool *p, const struct pw_launch *launch, uint32_t cta_index,
                              uint32_t warp_index, void *shared);
/* Runs the kernel until its buffer has something to read. Call when read == write and not exited. After the kernel has
 * returned, the last operation is PW_OP_EXIT. After a PW_OP_BARRIER (always the last operation of its batch) call it
 * only when the whole CTA has come to the barrier. False: the run must end, and the warp's next operation is its exit.
 * Its kernel could not go on, or it has overrun its stack, perhaps into that of another warp: then every warp of the
 * pool has its exit next. */
bool pw_warp_refill(struct pw_warp *w);
/* Says which. */
enum pw_status pw_warp_failure(const struct pw_warp *w, struct pw_error *err);
void pw_warp_finish(struct pw_warp_pool *p, struct pw_warp *w);

static inline uint32_t pw_launch_threads(const struct pw_launch *l)
{
    return l->block.x * l->block.y * l->block.z;
}
static inline uint32_t pw_launch_warps(const struct pw_launch *l)
{
    return (pw_launch_threads(l) + PW_WARP_LANES - 1) / PW_WARP_LANES;
}
static inline uint32_t pw_launch_ctas(const struct pw_launch *l)
{
    return l->grid.x * l->grid.y * l->grid.z;
}

#endif
