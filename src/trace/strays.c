/* Notes of touched addresses. An access whose lanes are all in one block and alike there, which is nearly every one,
 * costs two comparisons. */
#include "trace/strays.h"

#include "trace/format.h"

#include <stdlib.h>
#include <string.h>

enum pw_status pw_strays_init(struct pw_strays *t, struct pw_error *err)
{
    *t = (struct pw_strays){0};
    return pw_key_map_init(&t->blocks, "touched addresses", err);
}

void pw_strays_release(struct pw_strays *t)
{
    for (struct pw_stray_block *b = t->newest, *before; b; b = before) {
        before = b->before;
        free(b);
    }
    pw_ranges_release(&t->live);
    pw_key_map_release(&t->blocks);
}

void pw_strays_change(struct pw_strays *t)
{
    t->changes++;
    memset(t->slots, 0, sizeof t->slots);
    for (struct pw_stray_block *b = t->newest; b && t->blocks.count; b = b->before)
        pw_key_map_remove(&t->blocks, &b->link);
}

/* Arrays often lie a large power of two apart, so the slot is a hash of the block. */
static inline struct pw_stray_slot *slot_of(struct pw_strays *t, uint64_t address)
{
    uint64_t hash = (address >> PW_STRAY_SHIFT) * UINT64_C(0x9e3779b97f4a7c15);
    return &t->slots[hash >> (64 - PW_STRAY_SLOT_BITS)];
}

static struct pw_stray_block *find_block(struct pw_strays *t, uint64_t number)
{
    struct pw_stray_block *b = (struct pw_stray_block *)pw_key_map_find(&t->blocks, number);
    if (b)
        return b;
    b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    *b = (struct pw_stray_block){.before = t->newest, .first = UINT64_MAX, .change = t->changes};
    pw_key_map_add(&t->blocks, &b->link, number);
    t->newest = b;
    t->count++;
    return b;
}

/* Makes a slot one of addresses around this one. */
static bool look_up(struct pw_strays *t, struct pw_stray_slot *s, uint64_t address)
{
    uint64_t number = address >> PW_STRAY_SHIFT;
    struct pw_stray_slot now = {.first = number << PW_STRAY_SHIFT, .end = (number + 1) << PW_STRAY_SHIFT};
    const struct pw_range *next = pw_ranges_from(&t->live, address), *before = pw_ranges_before(&t->live, address);
    if (next && next->first <= address) {
        now.first = next->first > now.first ? next->first : now.first;
        now.end = next->end < now.end ? next->end : now.end;
    } else {
        now.first = before && before->end > now.first ? before->end : now.first;
        now.end = next && next->first < now.end ? next->first : now.end;
        now.touched = find_block(t, number);
        if (!now.touched)
            return false;
    }
    *s = now;
    return true;
}

static inline void mark(struct pw_stray_slot *s, uint64_t first, uint64_t end)
{
    if (!s->touched)
        return;
    if (first < s->touched->first)
        s->touched->first = first;
    if (end > s->touched->end)
        s->touched->end = end;
}

/* Bytes of one lane, which may lie in two blocks or where what is allocated begins or ends. */
static enum pw_touch note_slowly(struct pw_strays *t, uint64_t first, unsigned bytes, uint64_t *out_beyond)
{
    *out_beyond = first;
    if (first > PW_TRACE_ADDRESS_END - bytes)
        return PW_TOUCH_BEYOND;
    for (uint64_t end = first + bytes; first < end;) {
        struct pw_stray_slot *s = slot_of(t, first);
        if ((first < s->first || first >= s->end) && !look_up(t, s, first))
            return PW_TOUCH_MEMORY;
        uint64_t stop = end < s->end ? end : s->end;
        mark(s, first, stop);
        first = stop;
    }
    return PW_TOUCH_NOTED;
}

/* Bytes from the lowest address of lanes up to `bytes` behind the highest, where they are alike; false: they are not,
 * or it is not known. */
static inline bool note_alike(struct pw_strays *t, uint64_t lowest, uint64_t highest, unsigned bytes)
{
    struct pw_stray_slot *s = slot_of(t, lowest);
    if (lowest < s->first || highest >= s->end || bytes > s->end - highest)
        return false;
    mark(s, lowest, highest + bytes);
    return true;
}

static enum pw_touch note_lanes(struct pw_strays *t, const struct pw_op *op, const uint64_t *words,
                                uint64_t *out_beyond)
{
    uint32_t mask = op->count_or_mask;
    for (unsigned i = 0; mask; mask &= mask - 1, i++) {
        uint64_t address = op->form == PW_FORM_AFFINE ? words[0] + (unsigned)__builtin_ctz(mask) * words[1] : words[i];
        if (note_alike(t, address, address, op->bytes))
            continue;
        enum pw_touch touch = note_slowly(t, address, op->bytes, out_beyond);
        if (touch != PW_TOUCH_NOTED)
            return touch;
    }
    return PW_TOUCH_NOTED;
}

/* The lowest and the highest address of an affine access: where neither is beyond what a GPU can address and the stride
 * is not, either, those of the lanes between them are between them. */
static bool ends_of_affine(const struct pw_op *op, const uint64_t *words, uint64_t *out_lowest, uint64_t *out_highest)
{
    uint32_t mask = op->count_or_mask;
    uint64_t a = words[0] + (unsigned)__builtin_ctz(mask) * words[1];
    uint64_t b = words[0] + (31U - (unsigned)__builtin_clz(mask)) * words[1];
    *out_lowest = a < b ? a : b;
    *out_highest = a < b ? b : a;
    return words[1] + PW_TRACE_ADDRESS_END <= 2 * PW_TRACE_ADDRESS_END && *out_highest < PW_TRACE_ADDRESS_END;
}

enum pw_touch pw_strays_note(struct pw_strays *t, const struct pw_op *op, const uint64_t *words, uint64_t *out_beyond)
{
    uint64_t lowest = words[0], highest = words[0];
    if (op->form == PW_FORM_AFFINE) {
        if (!ends_of_affine(op, words, &lowest, &highest))
            return note_lanes(t, op, words, out_beyond);
    } else {
        for (uint32_t i = 1, count = pw_lane_count(op->count_or_mask); i < count; i++) {
            lowest = words[i] < lowest ? words[i] : lowest;
            highest = words[i] > highest ? words[i] : highest;
        }
    }
    bool alike = note_alike(t, lowest, highest, op->bytes);
    return alike ? PW_TOUCH_NOTED : note_lanes(t, op, words, out_beyond);
}
