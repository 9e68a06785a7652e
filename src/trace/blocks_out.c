/* Sorting, filling and writing of blocks. */
#include "trace/blocks_out.h"

#include "sim/grow.h"

enum { COLLECT_BYTES = 8 << 20, BLOCK_LEVEL = 3, TABLE_LEVEL = 3 };

enum pw_status pw_blocks_out_init(struct pw_blocks_out *b, struct pw_writer_file *file, struct pw_error *err)
{
    *b = (struct pw_blocks_out){.file = file, .packer = pw_packer_create(), .most_collected = COLLECT_BYTES};
    return b->packer ? PW_OK : pw_fail_memory(err, "a trace");
}

void pw_blocks_out_release(struct pw_blocks_out *b)
{
    pw_packer_destroy(b->packer);
    pw_bytes_free(&b->collected);
    free(b->pieces);
    pw_block_release(&b->shared);
    pw_block_release(&b->alone);
    free(b->shared_ctas);
    pw_table_release(&b->table);
}

void pw_blocks_out_begin(struct pw_blocks_out *b)
{
    b->begin = b->file->at;
    b->checksum = PW_CHECKSUM_START;
}

static enum pw_status write_part(struct pw_blocks_out *b, const struct pw_bytes_out *raw, int level,
                                 struct pw_part *out_part, struct pw_error *err)
{
    size_t bytes = 0;
    const uint8_t *packed =
        raw->failed ? NULL : pw_pack(b->packer, b->file->at, raw->bytes, raw->used, level, out_part, &bytes);
    if (!packed)
        return pw_fail_memory(err, "a block of a trace");
    b->checksum = pw_checksum_word(b->checksum, pw_load_bytes(packed, PW_PART_SEAL));
    return pw_writer_file_write(b->file, packed, bytes, err);
}

static enum pw_status write_block(struct pw_blocks_out *b, struct pw_block_out *block, const uint32_t *ctas,
                                  size_t count, struct pw_error *err)
{
    struct pw_part part;
    uint32_t number = (uint32_t)b->table.block_count;
    enum pw_status status = write_part(b, pw_block_finish(block), BLOCK_LEVEL, &part, err);
    if (status != PW_OK)
        return status;
    bool added = pw_table_add_block(&b->table, &part);
    for (size_t i = 0; i < count && added; i++)
        added = pw_table_add_cta(&b->table, ctas[i], number);
    return added ? PW_OK : pw_fail_memory(err, "the table of a launch");
}

static enum pw_status write_shared(struct pw_blocks_out *b, struct pw_error *err)
{
    size_t count = b->shared_count;
    b->shared_count = 0;
    return count ? write_block(b, &b->shared, b->shared_ctas, count, err) : PW_OK;
}

static void add_segments(struct pw_block_out *block, const struct pw_cta_piece *piece, const uint8_t *at)
{
    for (size_t i = 0; i < piece->segments; i++) {
        struct pw_segment_head head;
        memcpy(&head, at, sizeof head);
        at += sizeof head;
        struct pw_segment s = {
            .origin = head.origin, .cta = piece->cta, .bytes = head.bytes, .warp = head.warp, .fresh = head.fresh};
        pw_block_add(block, &s, at);
        at += head.bytes;
    }
}

static enum pw_status place(struct pw_blocks_out *b, const struct pw_cta_piece *piece, struct pw_error *err)
{
    const uint8_t *at = b->collected.bytes + piece->at;
    size_t bytes = piece->bytes - piece->segments * sizeof(struct pw_segment_head);
    bool after_itself = b->shared_count && b->shared_ctas[b->shared_count - 1] == piece->cta;
    enum pw_status status = PW_OK;
    if (after_itself || (!piece->alone && !pw_block_fits(&b->shared, bytes, piece->segments)))
        status = write_shared(b, err);
    if (status != PW_OK)
        return status;
    if (piece->alone) {
        add_segments(&b->alone, piece, at);
        return write_block(b, &b->alone, &piece->cta, 1, err);
    }
    uint32_t *grown = pw_grow(b->shared_ctas, b->shared_count, &b->shared_capacity, sizeof *b->shared_ctas);
    if (!grown)
        return pw_fail_memory(err, "a block of a trace");
    b->shared_ctas = grown;
    b->shared_ctas[b->shared_count++] = piece->cta;
    add_segments(&b->shared, piece, at);
    return PW_OK;
}

static int in_order(const void *a, const void *b)
{
    const struct pw_cta_piece *p = a, *q = b;
    if (p->cta != q->cta)
        return p->cta < q->cta ? -1 : 1;
    return (p->order > q->order) - (p->order < q->order);
}

static enum pw_status place_all(struct pw_blocks_out *b, struct pw_error *err)
{
    if (b->piece_count)
        qsort(b->pieces, b->piece_count, sizeof *b->pieces, in_order);
    enum pw_status status = PW_OK;
    for (size_t i = 0; i < b->piece_count && status == PW_OK; i++)
        status = place(b, &b->pieces[i], err);
    b->piece_count = 0;
    b->collected.used = 0;
    return status == PW_OK ? write_shared(b, err) : status;
}

uint8_t *pw_blocks_out_room(struct pw_blocks_out *b, size_t bytes)
{
    return pw_bytes_room(&b->collected, bytes);
}

enum pw_status pw_blocks_out_add(struct pw_blocks_out *b, const struct pw_cta_piece *piece, struct pw_error *err)
{
    struct pw_cta_piece *grown = pw_grow(b->pieces, b->piece_count, &b->piece_capacity, sizeof *b->pieces);
    if (!grown)
        return pw_fail_memory(err, "a trace");
    b->pieces = grown;
    struct pw_cta_piece *added = &b->pieces[b->piece_count++];
    *added = *piece;
    added->at = b->collected.used;
    added->order = b->next_order++;
    b->collected.used += piece->bytes;
    return b->collected.used >= b->most_collected ? place_all(b, err) : PW_OK;
}

enum pw_status pw_blocks_out_end(struct pw_blocks_out *b, struct pw_launch_place *out_place, uint64_t *out_ctas,
                                 struct pw_error *err)
{
    enum pw_status status = place_all(b, err);
    if (status != PW_OK)
        return status;
    if (!pw_table_sort(&b->table))
        return pw_fail_memory(err, "a launch of a trace");
    *out_ctas = pw_table_ctas(&b->table);
    struct pw_bytes_out raw = {0};
    if (!pw_table_write(&b->table, &raw))
        raw.failed = true;
    out_place->blocks = b->begin;
    status = write_part(b, &raw, TABLE_LEVEL, &out_place->table, err);
    out_place->checksum = b->checksum;
    pw_bytes_free(&raw);
    return status;
}
