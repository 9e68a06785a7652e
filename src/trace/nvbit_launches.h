/* The launches of a trace by NVBit's mem_trace, and the warps of the one under way. */
#ifndef PW_TRACE_NVBIT_LAUNCHES_H
#define PW_TRACE_NVBIT_LAUNCHES_H

#include "sim/key_map.h"
#include "trace/nvbit_line.h"

struct pw_nvbit_launch {
    uint64_t id;
    char *name; /* NULL: nobody said */
    struct pw_dim3 grid, block;
    uint32_t shared_bytes, registers;
    uint32_t most_warps; /* of a thread block */
    bool described;      /* grid and block are those of the LAUNCH line */
    bool direct;         /* the tool's numbers of warps fit the block */
    bool order_fits;     /* so does the order in which they come, with the lanes that they have */
};

struct pw_nvbit_launches {
    struct pw_nvbit_launch *item; /* by id */
    size_t count, capacity;
    size_t current; /* of the last access */
};

/* A thread block of which warps were seen. */
struct pw_nvbit_block {
    struct pw_key_link link;
    struct pw_dim3 cta;
    uint32_t count;
    uint64_t seen; /* by the tool's number */
    uint8_t order[PW_NVBIT_WARPS];
};

struct pw_nvbit_blocks {
    struct pw_key_map map;
};

/* The launch that a line is of; a LAUNCH line's is described then, and one that is not known yet is added. Launches'
 * accesses follow one another. */
enum pw_status pw_nvbit_find_launch(struct pw_nvbit_launches *l, const struct pw_lines *t,
                                    const struct pw_nvbit_line *line, size_t *out, struct pw_error *err);
/* Takes the warp of an access, which its thread block has under this number, into what was seen. */
void pw_nvbit_include(struct pw_nvbit_launch *l, const struct pw_nvbit_line *line, uint32_t warp);
/* All lines were seen. */
enum pw_status pw_nvbit_launches_finish(struct pw_nvbit_launches *l, const struct pw_lines *t, struct pw_error *err);
void pw_nvbit_launches_release(struct pw_nvbit_launches *l);

/* The number of a warp in its thread block, in the order in which they come. */
enum pw_status pw_nvbit_number_warp(struct pw_nvbit_blocks *b, const struct pw_lines *t,
                                    const struct pw_nvbit_line *line, uint32_t *out, struct pw_error *err);
void pw_nvbit_blocks_clear(struct pw_nvbit_blocks *b);

#endif
