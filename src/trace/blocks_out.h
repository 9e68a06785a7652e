/* The blocks of the launch that is being written.
 *
 * Pieces of CTAs are collected until there are a few megabytes of them and then put into blocks in order of CTA: CTAs
 * that a GPU runs side by side, and a replay will, too, lie side by side in the file, in whatever order they ended.
 * Small pieces share a block; one that is there because its CTA is long has a block for itself, so that each of its
 * warps finds its next segment in a block that the others read, too, at that time. */
#ifndef PW_TRACE_BLOCKS_OUT_H
#define PW_TRACE_BLOCKS_OUT_H

#include "trace/directory.h"
#include "trace/index.h"
#include "trace/table.h"
#include "trace/writer_file.h"

/* Before the bytes of a segment. */
struct pw_segment_head {
    uint64_t origin;
    uint16_t bytes;
    uint8_t warp;
    bool fresh;
};

/* Of one CTA, collected. */
struct pw_cta_piece {
    size_t at, bytes, segments; /* heads included in bytes */
    uint64_t order;             /* in which it came */
    uint32_t cta;
    bool alone;
};

struct pw_blocks_out {
    struct pw_writer_file *file;
    struct pw_packer *packer;
    struct pw_bytes_out collected;
    size_t most_collected;
    struct pw_cta_piece *pieces;
    size_t piece_count, piece_capacity;
    struct pw_block_out shared, alone;
    uint32_t *shared_ctas;
    size_t shared_count, shared_capacity;
    struct pw_table table;
    uint64_t begin, checksum;
    uint64_t next_order;
};

enum pw_status pw_blocks_out_init(struct pw_blocks_out *b, struct pw_writer_file *file, struct pw_error *err);
void pw_blocks_out_release(struct pw_blocks_out *b);

/* Before the first operation of a launch. */
void pw_blocks_out_begin(struct pw_blocks_out *b);

/* Room for a piece: heads and bytes of segments of one CTA, in order. NULL: out of memory. */
uint8_t *pw_blocks_out_room(struct pw_blocks_out *b, size_t bytes);
/* What is in this room now is a piece. */
enum pw_status pw_blocks_out_add(struct pw_blocks_out *b, const struct pw_cta_piece *piece, struct pw_error *err);

/* Writes what is left, and the launch's table. *out_ctas: how many CTAs have operations. */
enum pw_status pw_blocks_out_end(struct pw_blocks_out *b, struct pw_launch_place *out_place, uint64_t *out_ctas,
                                 struct pw_error *err);

#endif
