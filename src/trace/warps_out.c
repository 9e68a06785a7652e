/* Warps' segments in memory: each with a head before its bytes, one behind the other. */
#include "trace/warps_out.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_BYTES = 96 << 20, /* under way, in all */
    LEAST_PIECE = 4 << 10,
    MOST_PIECE = 60 << 10, /* with what a last operation and the directory add, a block */
    KEPT_WARPS = 4096,
    KEPT_BYTES = 8 << 10, /* of each */
    FIRST_BYTES = 512,
};

struct pw_warp_out {
    struct pw_warp_out *next; /* of those that are free */
    struct pw_op_coder coder;
    uint8_t *bytes;
    uint32_t used, capacity;
    uint32_t segment; /* the head of the one that is open; `used`: none is */
    uint32_t segments;
    bool begun; /* the coder has its origin */
    bool fresh; /* the next segment begins with a new coder */
    bool exited;
};

struct pw_cta_out {
    struct pw_key_link link; /* first; its key is the CTA's number */
    struct pw_warp_out *warps[PW_CTA_WARPS];
    size_t bytes; /* of operations */
};

enum pw_status pw_warps_out_init(struct pw_warps_out *w, struct pw_error *err)
{
    *w = (struct pw_warps_out){.most = MOST_BYTES, .most_piece = MOST_PIECE};
    return pw_key_map_init(&w->ctas, "CTAs of a trace", err);
}

static void free_warp(struct pw_warp_out *warp)
{
    free(warp->bytes);
    free(warp);
}

/* Takes out a CTA; its warps are kept for others, unless memory is short. */
static void drop(struct pw_warps_out *w, struct pw_cta_out *cta, bool keep)
{
    pw_key_map_remove(&w->ctas, &cta->link);
    w->last = w->last == cta ? NULL : w->last;
    for (unsigned i = 0; i < PW_CTA_WARPS; i++) {
        struct pw_warp_out *warp = cta->warps[i];
        if (!warp)
            continue;
        w->bytes -= sizeof *warp + warp->capacity;
        if (keep && w->free_count < KEPT_WARPS && warp->capacity <= KEPT_BYTES) {
            warp->next = w->free;
            w->free = warp;
            w->free_count++;
        } else {
            free_warp(warp);
        }
    }
    w->bytes -= sizeof *cta;
    free(cta);
}

void pw_warps_out_release(struct pw_warps_out *w)
{
    for (struct pw_key_link *l; w->ctas.buckets && (l = pw_key_map_next(&w->ctas, NULL));)
        drop(w, (struct pw_cta_out *)l, false);
    for (struct pw_warp_out *warp; (warp = w->free);) {
        w->free = warp->next;
        free_warp(warp);
    }
    pw_key_map_release(&w->ctas);
}

/* A piece is to have one segment of each warp, so that a block is done with as soon as all have come to it. Warps do
 * not go on at quite the same speed: with seven eighths of a segment on average, few of them have a second one. */
void pw_warps_out_begin(struct pw_warps_out *w, uint32_t warps)
{
    size_t bytes = (size_t)warps * (PW_SEGMENT_MOST * 7 / 8);
    w->piece_bytes = bytes < LEAST_PIECE ? LEAST_PIECE : bytes;
    w->piece_bytes = w->piece_bytes < w->most_piece ? w->piece_bytes : w->most_piece;
}

static struct pw_cta_out *find_cta(struct pw_warps_out *w, uint32_t number)
{
    if (w->last && w->last->link.key == number)
        return w->last;
    struct pw_cta_out *cta = (struct pw_cta_out *)pw_key_map_find(&w->ctas, number);
    if (!cta) {
        cta = calloc(1, sizeof *cta);
        if (!cta)
            return NULL;
        pw_key_map_add(&w->ctas, &cta->link, number);
        w->bytes += sizeof *cta;
    }
    w->last = cta;
    return cta;
}

static struct pw_warp_out *find_warp(struct pw_warps_out *w, struct pw_cta_out *cta, uint32_t number)
{
    struct pw_warp_out *warp = cta->warps[number];
    if (warp)
        return warp;
    warp = w->free;
    if (warp) {
        w->free = warp->next;
        w->free_count--;
        struct pw_warp_out empty = {.bytes = warp->bytes, .capacity = warp->capacity};
        *warp = empty;
    } else {
        warp = calloc(1, sizeof *warp);
        if (!warp)
            return NULL;
    }
    warp->fresh = true;
    w->bytes += sizeof *warp + warp->capacity;
    cta->warps[number] = warp;
    return warp;
}

static bool make_room(struct pw_warps_out *w, struct pw_warp_out *warp)
{
    size_t wanted = warp->used + sizeof(struct pw_segment_head) + PW_OP_CODE_MOST;
    if (wanted <= warp->capacity)
        return true;
    size_t capacity = warp->capacity ? 2 * (size_t)warp->capacity : FIRST_BYTES;
    uint8_t *grown = realloc(warp->bytes, capacity);
    if (!grown)
        return false;
    w->bytes += capacity - warp->capacity;
    warp->bytes = grown;
    warp->capacity = (uint32_t)capacity;
    return true;
}

static void open_segment(struct pw_warp_out *warp, uint32_t number)
{
    struct pw_segment_head head = {.warp = (uint8_t)number, .fresh = warp->fresh};
    memcpy(warp->bytes + warp->used, &head, sizeof head);
    warp->segment = warp->used;
    warp->used += (uint32_t)sizeof head;
    warp->segments++;
    warp->fresh = false;
}

/* Codes an operation into the open segment, or into a new one where it is full; its bytes. */
static size_t code(struct pw_warp_out *warp, uint32_t number, const struct pw_op *op, const uint64_t *words)
{
    struct pw_segment_head head;
    if (!warp->segments || warp->segment == warp->used)
        open_segment(warp, number);
    memcpy(&head, warp->bytes + warp->segment, sizeof head);
    if (!warp->begun && pw_op_is_access(*op)) {
        head.origin = head.fresh ? words[0] : 0;
        pw_op_coder_start(&warp->coder, head.origin);
        warp->begun = true;
        memcpy(warp->bytes + warp->segment, &head, sizeof head);
    }
    size_t bytes = pw_op_encode(&warp->coder, op, words, warp->bytes + warp->used);
    if (head.bytes + bytes > PW_SEGMENT_MOST) {
        uint8_t *from = warp->bytes + warp->used;
        memmove(from + sizeof head, from, bytes);
        open_segment(warp, number);
        memcpy(&head, warp->bytes + warp->segment, sizeof head);
    }
    head.bytes = (uint16_t)(head.bytes + bytes);
    memcpy(warp->bytes + warp->segment, &head, sizeof head);
    warp->used += (uint32_t)bytes;
    return bytes;
}

/* Hands over what a CTA has; its coders go on. */
static enum pw_status hand_over(struct pw_cta_out *cta, struct pw_blocks_out *blocks, bool alone, struct pw_error *err)
{
    struct pw_cta_piece piece = {.cta = (uint32_t)cta->link.key, .alone = alone};
    for (unsigned i = 0; i < PW_CTA_WARPS; i++)
        if (cta->warps[i]) {
            piece.bytes += cta->warps[i]->used;
            piece.segments += cta->warps[i]->segments;
        }
    if (!piece.bytes)
        return PW_OK;
    uint8_t *room = pw_blocks_out_room(blocks, piece.bytes);
    if (!room)
        return pw_fail_memory(err, "a trace");
    for (unsigned i = 0; i < PW_CTA_WARPS; i++) {
        struct pw_warp_out *warp = cta->warps[i];
        if (!warp || !warp->used)
            continue;
        memcpy(room, warp->bytes, warp->used);
        room += warp->used;
        warp->used = warp->segments = warp->segment = 0;
    }
    cta->bytes = 0;
    return pw_blocks_out_add(blocks, &piece, err);
}

static int by_number(const void *a, const void *b)
{
    const struct pw_cta_out *const *p = a, *const *q = b;
    return ((*p)->link.key > (*q)->link.key) - ((*p)->link.key < (*q)->link.key);
}

enum pw_status pw_warps_out_end_all(struct pw_warps_out *w, struct pw_blocks_out *blocks, struct pw_error *err)
{
    size_t count = 0;
    struct pw_cta_out **ctas = malloc((w->ctas.count + UINT64_C(1)) * sizeof(struct pw_cta_out *));
    if (!ctas)
        return pw_fail_memory(err, "a trace");
    for (struct pw_key_link *l = NULL; (l = pw_key_map_next(&w->ctas, l));)
        ctas[count++] = (struct pw_cta_out *)l;
    qsort(ctas, count, sizeof(struct pw_cta_out *), by_number);
    enum pw_status status = PW_OK;
    for (size_t i = 0; i < count && status == PW_OK; i++) {
        status = hand_over(ctas[i], blocks, false, err);
        drop(w, ctas[i], false);
    }
    free(ctas);
    return status;
}

enum pw_status pw_warps_out_end(struct pw_warps_out *w, struct pw_blocks_out *blocks, uint32_t cta,
                                struct pw_error *err)
{
    struct pw_cta_out *found = (struct pw_cta_out *)pw_key_map_find(&w->ctas, cta);
    if (!found)
        return PW_OK;
    enum pw_status status = hand_over(found, blocks, false, err);
    drop(w, found, true);
    return status;
}

enum pw_status pw_warps_out_add(struct pw_warps_out *w, struct pw_blocks_out *blocks, uint32_t cta, uint32_t warp,
                                const struct pw_op *op, const uint64_t *words, struct pw_error *err)
{
    struct pw_cta_out *in = find_cta(w, cta);
    struct pw_warp_out *of = in ? find_warp(w, in, warp) : NULL;
    if (!of || !make_room(w, of))
        return pw_fail_memory(err, "a trace");
    if (of->exited)
        return pw_fail(err, PW_USER_ERROR, "%s: CTA %u, warp %u has an operation behind its exit", blocks->file->path,
                       cta, warp);
    of->exited = op->kind == PW_OP_EXIT;
    in->bytes += code(of, warp, op, words);
    if (in->bytes >= w->piece_bytes)
        return hand_over(in, blocks, true, err);
    return w->bytes > w->most ? pw_warps_out_end_all(w, blocks, err) : PW_OK;
}
