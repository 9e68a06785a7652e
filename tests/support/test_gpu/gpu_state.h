/* What the driver of the test's GPU (gpu.c) shares with the API that looks on (sanitizer.c). */
#ifndef PW_TEST_GPU_STATE_H
#define PW_TEST_GPU_STATE_H

#include "gpu.h"
#include "lanes.h"
#include "sanitizer.h"

#include <pthread.h>
#include <string.h>

struct gpu_block {
    void *address;
    size_t bytes;
    struct gpu_block *next;
};

struct gpu_context {
    struct gpu_block *blocks; /* of the API, which go with it */
    bool has_patches;
};

struct gpu_stream {
    struct gpu_context *context;
    struct gpu_launch *last; /* NULL: nobody has to wait */
    pthread_mutex_t lock;
};

struct gpu_module {
    struct gpu_context *context;
    struct gpu_kernel kernels[GPU_MOST_KERNELS];
    uint32_t count;
    uint64_t address;
    lanes_patch *asked[GPU_INSTRUCTIONS], *patches[GPU_INSTRUCTIONS]; /* the latter run */
    bool patched;
    uint8_t *image;
    size_t bytes;
};

/* Of a kernel's first instruction; 0: the module has no such kernel. */
static inline uint64_t gpu_code_address(const struct gpu_module *m, const char *kernel)
{
    uint64_t at = m->address;
    for (uint32_t i = 0; i < m->count; at += 16 * (m->kernels[i++].instructions + 1))
        if (strcmp(m->kernels[i].name, kernel) == 0)
            return at;
    return 0;
}

/* Tells the subscriber, if it asked for it. */
void gpu_tell(Sanitizer_CallbackDomain domain, uint32_t id, const void *data);
/* Ends the program if the recorder calls what it may not. */
void gpu_forbid_callbacks(const char *function);

/* gpu_wait, also for callbacks. */
bool gpu_wait_for_launch(struct gpu_stream *s);

#define GPU_NO_DATA ((void *)1) /* what patches get that were given nothing */

struct gpu_launch {
    struct gpu_module *module;
    const struct gpu_kernel *kernel;
    struct gpu_geometry geometry;
    unsigned ctas, warps, next_cta, number;
    uint64_t address;
    void *data;
    bool failed;
    pthread_t sms[3];
    char **logs; /* by warp */
};

#endif
