/* Lines of NVBit's mem_trace:
 *
 *     MEMTRACE: CTX 0x… - LAUNCH - Kernel pc 0x… - Kernel name NAME - grid launch id N - grid size X,Y,Z - block size
 *         X,Y,Z - nregs N - shmem N - cuda stream id N
 *     MEMTRACE: CTX 0x… - grid_launch_id N - CTA X,Y,Z - warp N - INSTRUCTION - 0x… (32 addresses)
 *
 * The first comes before the second ones of its launch, where the tool writes it at all. All other lines are what the
 * program or NVBit itself has printed. */
#ifndef PW_TRACE_NVBIT_LINE_H
#define PW_TRACE_NVBIT_LINE_H

#include "trace/import_private.h"
#include "trace/sass.h"

enum pw_nvbit_kind { PW_NVBIT_OTHER, PW_NVBIT_LAUNCH, PW_NVBIT_ACCESS };

enum { PW_NVBIT_WARPS = 64 /* of a multiprocessor, which the tool counts */ };

struct pw_nvbit_line {
    enum pw_nvbit_kind kind;
    uint64_t launch;
    struct pw_dim3 cta, grid, block;
    uint32_t warp, shared_bytes, registers;
    const struct pw_sass *sass;
    uint32_t mask; /* lanes with an address */
    char name[PW_IMPORT_NAME_BYTES];
    uint64_t addresses[PW_WARP_LANES]; /* of these lanes, in order */
};

/* Reads the line and skips it. *out_more false: there is none. */
enum pw_status pw_nvbit_read_line(struct pw_lines *t, struct pw_sass_cache *names, struct pw_nvbit_line *out,
                                  bool *out_more, struct pw_error *err);

#endif
