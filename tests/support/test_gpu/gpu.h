/* A GPU for tests of the recorder where there is none: a driver with contexts, modules, memory, streams and launches,
 * and the part of the Compute Sanitizer API that the recorder uses, over both.
 *
 * Kernels are C functions, one call per warp, that say what its instructions do; threads run their CTAs while the
 * program goes on. Where a module is patched, the functions of capture/patch.cu run before an instruction, once per
 * lane. Stricter than the real one where that is cheap: a patched launch whose patches were given no data crashes, a
 * context's memory cannot be used when it is gone, and the driver aborts when it is called from a callback.
 *
 * The variable GPU_FAILS names functions of the API that fail; GPU_SLOW_LAUNCH is a time in microseconds that launching
 * takes. What kernels do is written to the file that GPU_LOG names, for comparison with the trace. */
#ifndef PW_TEST_GPU_H
#define PW_TEST_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { GPU_MOST_KERNELS = 5 };

struct gpu_warp; /* of a kernel under way */

struct gpu_kernel {
    const char *name;
    void (*run)(struct gpu_warp *w);
    uint32_t instructions; /* of its code */
    bool copies_tensors;   /* its second instruction is UTMALDG */
};

struct gpu_context;
struct gpu_module;
struct gpu_stream;

/* What happens when a program first uses CUDA: loads the library that CUDA_INJECTION64_PATH names. */
void gpu_start(void);
struct gpu_context *gpu_context_create(void);
void gpu_context_destroy(struct gpu_context *c);
struct gpu_stream *gpu_stream_create(struct gpu_context *c);
struct gpu_module *gpu_module_load(struct gpu_context *c, const struct gpu_kernel *kernels, uint32_t count);
void gpu_module_unload(struct gpu_module *m);

enum gpu_memory { GPU_DEVICE, GPU_MANAGED, GPU_HOST, GPU_ASYNC };
void *gpu_alloc(enum gpu_memory memory, size_t bytes);
void gpu_free(enum gpu_memory memory, void *address);
/* `direction` as the API has it. With rows, `bytes` is the width of one. */
void gpu_copy(int direction, const void *to, const void *from, size_t bytes, size_t rows, size_t pitch);
void gpu_set(const void *address, size_t bytes);
/* `call` as the API numbers it, with its parameters. */
void gpu_driver_call(uint32_t call, const void *parameters);
void gpu_graph_launch(void);

struct gpu_geometry {
    unsigned grid[3], block[3], shared;
};

/* The kernel runs until the program waits for its stream. */
void gpu_launch(struct gpu_module *m, const char *kernel, struct gpu_stream *s, struct gpu_geometry g);
/* Begins and comes to nothing. */
void gpu_launch_refused(struct gpu_module *m, const char *kernel, struct gpu_stream *s, struct gpu_geometry g);
bool gpu_wait(struct gpu_stream *s);

/* For kernels. `number` is that of the instruction in the code. */
struct gpu_place {
    unsigned cta, warp, lanes; /* lanes: a mask of those that the block has */
    uint64_t number;           /* of the warp in the launch */
};
struct gpu_place gpu_place(const struct gpu_warp *w);
enum gpu_access { GPU_LOAD, GPU_STORE, GPU_ATOMIC, GPU_COPY_ASYNC, GPU_PREFETCH };
enum { GPU_GENERIC = 8 /* added to an access: the patches for all kinds of memory are called */ };
void gpu_access(struct gpu_warp *w, unsigned number, unsigned kind, unsigned bytes, unsigned mask,
                const uint64_t addresses[32]);
enum gpu_step { GPU_SHARED, GPU_LOCAL, GPU_MATRIX, GPU_BARRIER, GPU_COMMIT, GPU_WAIT_GROUPS };
void gpu_step(struct gpu_warp *w, unsigned number, enum gpu_step kind, unsigned mask);
void gpu_exit(struct gpu_warp *w, unsigned number, unsigned mask);
/* The launch fails. */
void gpu_fault(struct gpu_warp *w);

#endif
