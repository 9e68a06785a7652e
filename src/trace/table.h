/* The table of a launch: its blocks, one behind the other, and in which of them each CTA's operations are.
 *
 * The latter is a list of pieces in order of CTA. A piece is a range of CTAs whose operations are all in one block, or
 * one CTA's part in one of several blocks, in their order. A warp's operations go on from piece to piece of its CTA. In
 * memory a block takes 4 bytes and a piece 12; the grid's size does not count. */
#ifndef PW_TRACE_TABLE_H
#define PW_TRACE_TABLE_H

#include "trace/part.h"

struct pw_piece {
    uint32_t cta, count, block;
};

/* Lengths of a block, less one, as both are 1 to 64 Ki. */
struct pw_block_lengths {
    uint16_t stored, raw;
};

enum { PW_TABLE_STEP = 64 /* blocks from one that has its place in `places` to the next */ };

struct pw_table {
    struct pw_block_lengths *blocks;
    uint64_t *places; /* when read: of every 64th block, in the file */
    struct pw_piece *pieces;
    size_t block_count, block_capacity, piece_count, piece_capacity;
};

void pw_table_release(struct pw_table *t);

/* Where a block lies, of a table that was read. */
struct pw_part pw_table_block(const struct pw_table *t, uint32_t block);

/* The first piece that has a CTA, or one behind it; piece_count when there is none. */
size_t pw_table_find(const struct pw_table *t, uint32_t cta);

/* CTAs that have operations, of a table in order. */
uint64_t pw_table_ctas(const struct pw_table *t);
/* Whether a launch, by its number from 1, may have so many CTAs of so many warps without operations. A replay starts and
 * ends each of them, so that a short file could ask for hours. */
enum pw_status pw_table_check_idle(const char *path, size_t launch, uint64_t ctas, uint32_t warps,
                                   struct pw_error *err);

/* Adds to a table that is being written; false when memory is out. */
bool pw_table_add_block(struct pw_table *t, const struct pw_part *block);
/* One CTA more that has operations in this block; those of one block in order. */
bool pw_table_add_cta(struct pw_table *t, uint32_t cta, uint32_t block);

/* Brings the pieces into order, once all of them are there; false when memory is out. */
bool pw_table_sort(struct pw_table *t);
/* Writes a table in order and empties it; false when memory is out. */
bool pw_table_write(struct pw_table *t, struct pw_bytes_out *out);

/* Reads a table of a launch of so many CTAs, whose blocks lie from `place` to `end` of the file. False: it is broken,
 * or memory is out (*out_memory). */
bool pw_table_read(struct pw_table *t, const uint8_t *raw, size_t bytes, uint32_t ctas, uint64_t place, uint64_t end,
                   bool *out_memory);

#endif
