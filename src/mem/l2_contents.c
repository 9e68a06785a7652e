/* What is in the L2 without a request: what lay there before, what the host copies, and what must go.
 *
 * With l2.copies, what the host copies passes through the L2 and stays there, but it is the first to go: a copied line
 * takes a way that is free, or else that of the line which has gone unused longest, and counts as unused longest
 * itself. So once a cache is full, copied lines take each other's places, and what was copied first stays. l2.occupied
 * is the share in which something else lies when a program begins; what kernels use replaces that too, after the copies
 * that nobody has read.
 *
 * Concluded from an H200 (docs/silicon.md). Of 40 MB that pathfinder copies into its 60 MB, 21 MB are there when they
 * are read: most of what was copied first, little of what was copied last. Of 17 MB of fdtd's, 0.5 MB are missing.
 * What lies in the rest is not known. */
#include "mem/memory_internal.h"

void pw_memory_forget_frame(struct pw_memory *m, unsigned app, pw_pfn frame)
{
    struct pw_request r = {.app = (uint8_t)app};
    if ((frame.v << (PW_PAGE_SHIFT - PW_LINE_SHIFT)) - m->first_line >= m->line_count)
        return;
    for (uint32_t i = 0; i < PW_PAGE_BYTES / PW_LINE_BYTES; i++) {
        r.line = (frame.v << (PW_PAGE_SHIFT - PW_LINE_SHIFT)) + i;
        struct pw_slice *s = pw_memory_find_slice(m, &r);
        struct pw_way way = pw_cache_find_in(&s->cache, r.line, r.set);
        if (way.at >= 0)
            pw_cache_drop(&s->cache, way);
        if (m->half_slices)
            pw_copy_drop(s, &r);
    }
}

static struct pw_way place_copy(struct pw_slice *s, const struct pw_request *r, struct pw_way way, pw_cycle now)
{
    struct pw_victim victim;
    if (way.at >= 0)
        return way;
    way = pw_cache_insert_last(&s->cache, r->line, r->set, &victim);
    if (victim.dirty)
        pw_slice_write_back(s, &victim, r->app, now);
    return way;
}

void pw_memory_fill(struct pw_memory *m, unsigned app, struct pw_memory_piece piece, bool set)
{
    struct pw_request r = {.app = (uint8_t)app, .kind = PW_REQUEST_WRITE};
    uint32_t first = piece.frame.v << (PW_PAGE_SHIFT - PW_LINE_SHIFT);
    if (!m->config.l2.copies || first - m->first_line >= m->line_count)
        return;
    pw_cycle now = m->events->now;
    uint32_t outer = (piece.first + piece.bytes + PW_LINE_BYTES - 1) >> PW_LINE_SHIFT;
    for (uint32_t i = piece.first >> PW_LINE_SHIFT; i < outer; i++) {
        r.line = first + i;
        struct pw_slice *s = pw_memory_find_slice(m, &r);
        struct pw_way way = pw_cache_find_in(&s->cache, r.line, r.set);
        way = set ? pw_slice_way_for(s, &r, way, now) : place_copy(s, &r, way, now);
        pw_way_set_valid(way, PW_ALL_SECTORS);
        if (set)
            pw_way_set_dirty(way, PW_ALL_SECTORS);
        if (m->half_slices)
            pw_copy_drop(s, &r);
    }
}

/* A share of every set, in whole ways: spread so that all sets together have it. */
void pw_memory_occupy(struct pw_memory *m)
{
    for (uint32_t i = 0; i < m->slice_count; i++) {
        struct pw_cache *c = &m->slices[i].cache;
        uint64_t taken = 0, sets = c->sets.by,
                 whole = (uint64_t)(m->config.l2.occupied / 100 * (double)(sets * c->ways));
        for (uint64_t set = 0; set < sets; set++)
            for (uint32_t way = 0; taken < whole * (set + 1) / sets; way++, taken++)
                c->lines[set * c->stride + way] = PW_OTHER_LINE;
    }
}
