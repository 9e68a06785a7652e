/* Lists of blocks and pieces as varints of differences, and back with every one of them checked. */
#include "trace/table.h"

#include "sim/grow.h"
#include "trace/format.h"

void pw_table_release(struct pw_table *t)
{
    free(t->blocks);
    free(t->places);
    free(t->pieces);
    *t = (struct pw_table){0};
}

struct pw_part pw_table_block(const struct pw_table *t, uint32_t block)
{
    uint64_t place = t->places[block / PW_TABLE_STEP];
    for (uint32_t i = block - block % PW_TABLE_STEP; i < block; i++)
        place += PW_PART_SEAL + t->blocks[i].stored + UINT64_C(1);
    return (struct pw_part){
        .offset = place, .stored = t->blocks[block].stored + UINT64_C(1), .raw = t->blocks[block].raw + UINT64_C(1)};
}

size_t pw_table_find(const struct pw_table *t, uint32_t cta)
{
    size_t low = 0, high = t->piece_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (t->pieces[middle].cta + (uint64_t)t->pieces[middle].count <= cta)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t pw_table_ctas(const struct pw_table *t)
{
    uint64_t count = 0;
    for (size_t i = 0; i < t->piece_count; i++)
        if (!i || t->pieces[i].cta != t->pieces[i - 1].cta)
            count += t->pieces[i].count;
    return count;
}

enum pw_status pw_table_check_idle(const char *path, size_t launch, uint64_t ctas, uint32_t warps, struct pw_error *err)
{
    if (ctas * warps <= PW_IDLE_WARPS)
        return PW_OK;
    return pw_fail(err, PW_USER_ERROR,
                   "%s: launch %zu has %llu CTAs of %u warps without any operation; at most %d such warps are replayed",
                   path, launch, (unsigned long long)ctas, warps, PW_IDLE_WARPS);
}

bool pw_table_add_block(struct pw_table *t, const struct pw_part *block)
{
    struct pw_block_lengths *grown = pw_grow(t->blocks, t->block_count, &t->block_capacity, sizeof *t->blocks);
    if (!grown)
        return false;
    t->blocks = grown;
    t->blocks[t->block_count++] =
        (struct pw_block_lengths){.stored = (uint16_t)(block->stored - 1), .raw = (uint16_t)(block->raw - 1)};
    return true;
}

bool pw_table_add_cta(struct pw_table *t, uint32_t cta, uint32_t block)
{
    struct pw_piece *last = t->piece_count ? &t->pieces[t->piece_count - 1] : NULL;
    if (last && last->block == block && last->cta + last->count == cta) {
        last->count++;
        return true;
    }
    struct pw_piece *grown = pw_grow(t->pieces, t->piece_count, &t->piece_capacity, sizeof *t->pieces);
    if (!grown)
        return false;
    t->pieces = grown;
    t->pieces[t->piece_count++] = (struct pw_piece){.cta = cta, .count = 1, .block = block};
    return true;
}

static int in_order(const void *a, const void *b)
{
    const struct pw_piece *p = a, *q = b;
    if (p->cta != q->cta)
        return p->cta < q->cta ? -1 : 1;
    return (p->block > q->block) - (p->block < q->block);
}

static bool overlaps(const struct pw_table *t)
{
    for (size_t i = 1; i < t->piece_count; i++)
        if (t->pieces[i].cta < t->pieces[i - 1].cta + (uint64_t)t->pieces[i - 1].count)
            return true;
    return false;
}

/* Every range becomes as many pieces as it has CTAs. */
static bool expand(struct pw_table *t)
{
    size_t count = 0, at = 0;
    for (size_t i = 0; i < t->piece_count; i++)
        count += t->pieces[i].count;
    struct pw_piece *single = calloc(count, sizeof *single);
    if (!single)
        return false;
    for (size_t i = 0; i < t->piece_count; i++)
        for (uint32_t k = 0; k < t->pieces[i].count; k++)
            single[at++] = (struct pw_piece){.cta = t->pieces[i].cta + k, .count = 1, .block = t->pieces[i].block};
    free(t->pieces);
    t->pieces = single;
    t->piece_count = t->piece_capacity = count;
    return true;
}

/* Whether a CTA, the last of the piece before `next`, has no other piece. */
static bool is_alone(const struct pw_table *t, size_t next, uint32_t cta)
{
    bool before = next >= 2 && t->pieces[next - 2].cta == cta && t->pieces[next - 2].count == 1;
    return !before && (next == t->piece_count || t->pieces[next].cta != cta);
}

/* CTAs that follow one another in the same block, each of which has no other, become one range. */
static void merge(struct pw_table *t)
{
    size_t kept = 0;
    bool open = false; /* the piece kept last may become longer */
    for (size_t i = 0; i < t->piece_count; i++) {
        struct pw_piece piece = t->pieces[i], *last = kept ? &t->pieces[kept - 1] : NULL;
        bool alone = piece.count > 1 || ((!i || t->pieces[i - 1].cta + t->pieces[i - 1].count - 1 != piece.cta) &&
                                         is_alone(t, i + 1, piece.cta));
        if (last && open && alone && last->block == piece.block && last->cta + last->count == piece.cta)
            last->count += piece.count;
        else
            t->pieces[kept++] = piece;
        open = alone;
    }
    t->piece_count = kept;
}

bool pw_table_sort(struct pw_table *t)
{
    if (t->piece_count)
        qsort(t->pieces, t->piece_count, sizeof *t->pieces, in_order);
    if (!overlaps(t))
        return true;
    if (!expand(t))
        return false;
    qsort(t->pieces, t->piece_count, sizeof *t->pieces, in_order);
    merge(t);
    return true;
}

bool pw_table_write(struct pw_table *t, struct pw_bytes_out *out)
{
    pw_add_varint(out, t->block_count);
    for (size_t i = 0; i < t->block_count; i++) {
        pw_add_varint(out, t->blocks[i].stored);
        pw_add_varint(out, t->blocks[i].raw - t->blocks[i].stored);
    }
    pw_add_varint(out, t->piece_count);
    uint32_t end = 0, block = 0;
    for (size_t i = 0; i < t->piece_count; i++) {
        struct pw_piece p = t->pieces[i];
        bool further = i && p.cta == t->pieces[i - 1].cta;
        pw_add_varint(out, (uint64_t)(p.count - 1) << 1 | further);
        if (!further)
            pw_add_varint(out, p.cta - end);
        pw_add_signed(out, (uint64_t)p.block - block);
        end = p.cta + p.count;
        block = p.block;
    }
    t->block_count = t->piece_count = 0;
    return !out->failed;
}

static bool read_blocks(struct pw_table *t, struct pw_bytes_in *in, uint64_t place, uint64_t end)
{
    for (size_t i = 0; i < t->block_count; i++) {
        uint64_t stored = pw_take_varint(in, PW_BLOCK_MOST - 1);
        uint64_t raw = stored + pw_take_varint(in, PW_BLOCK_MOST - 1 - stored);
        if (in->bad || end - place < PW_PART_SEAL + stored + 1)
            return false;
        t->blocks[i] = (struct pw_block_lengths){.stored = (uint16_t)stored, .raw = (uint16_t)raw};
        if (i % PW_TABLE_STEP == 0)
            t->places[i / PW_TABLE_STEP] = place;
        place += PW_PART_SEAL + stored + 1;
    }
    return place == end;
}

static bool read_pieces(struct pw_table *t, struct pw_bytes_in *in, uint32_t ctas)
{
    uint64_t end = 0;
    struct pw_piece last = {0};
    for (size_t i = 0; i < t->piece_count; i++) {
        uint64_t counted = pw_take_varint(in, UINT64_C(1) << 33);
        bool further = counted & 1;
        uint64_t count = (counted >> 1) + 1, cta = further ? last.cta : end + pw_take_varint(in, ctas);
        uint64_t block = last.block + pw_take_signed(in);
        if (in->bad || cta + count > ctas || block >= t->block_count ||
            count > (t->blocks[block].raw + UINT64_C(1)) / PW_SEGMENT_LEAST)
            return false;
        if (further && (!i || count > 1 || last.count > 1 || block <= last.block))
            return false;
        last = (struct pw_piece){.cta = (uint32_t)cta, .count = (uint32_t)count, .block = (uint32_t)block};
        t->pieces[i] = last;
        end = cta + count;
    }
    return !in->bad && in->at == in->end;
}

bool pw_table_read(struct pw_table *t, const uint8_t *raw, size_t bytes, uint32_t ctas, uint64_t place, uint64_t end,
                   bool *out_memory)
{
    struct pw_bytes_in in = {.at = raw, .end = raw + bytes};
    *out_memory = false;
    t->block_count = pw_take_varint(&in, bytes / 2);
    t->blocks = calloc(t->block_count + 1, sizeof *t->blocks);
    t->places = calloc(t->block_count / PW_TABLE_STEP + 1, sizeof *t->places);
    if (!t->blocks || !t->places) {
        *out_memory = true;
        return false;
    }
    if (!read_blocks(t, &in, place, end))
        return false;
    t->piece_count = pw_take_varint(&in, (uint64_t)(in.end - in.at) / 2);
    t->pieces = calloc(t->piece_count + 1, sizeof *t->pieces);
    *out_memory = !t->pieces;
    return t->pieces && read_pieces(t, &in, ctas);
}
