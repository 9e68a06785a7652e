/* The log is a list of chunks for each warp. An operation is a header of kind, array and whether it waits for loads, a
 * word with its instructions or lanes, and the elements of its lanes; none is cut by the end of a chunk. */
#include "workload/lonestar/bh.h"

enum { CHUNK_WORDS = 508, CHUNKS_AT_A_TIME = 64, ARRAY_SHIFT = 8, WAITS_SHIFT = 16 };

struct pw_bh_chunk {
    struct pw_bh_chunk *next;
    uint32_t used;
    uint32_t words[CHUNK_WORDS];
};

struct pw_bh_warp_log {
    struct pw_bh_chunk *first, *last;
    bool waits; /* the next operation does */
};

void pw_bh_log_begin(struct pw_bh_log *log, uint32_t warps)
{
    for (uint32_t i = 0; i < log->warp_count; i++) {
        struct pw_bh_warp_log *w = &log->warps[i];
        if (w->first) {
            w->last->next = log->spare;
            log->spare = w->first;
        }
        *w = (struct pw_bh_warp_log){0};
    }
    log->warp_count = warps;
    if (warps > log->capacity) {
        log->warps = pw_host_keep(log->host, warps * sizeof *log->warps);
        log->capacity = warps;
    }
}

static struct pw_bh_chunk *take_chunk(struct pw_bh_log *log)
{
    if (!log->spare) {
        log->spare = pw_host_keep(log->host, CHUNKS_AT_A_TIME * sizeof *log->spare);
        for (int i = 0; i + 1 < CHUNKS_AT_A_TIME; i++)
            log->spare[i].next = &log->spare[i + 1];
    }
    struct pw_bh_chunk *chunk = log->spare;
    log->spare = chunk->next;
    chunk->next = NULL;
    chunk->used = 0;
    return chunk;
}

/* Room for an operation of so many words, its first two filled in. */
static uint32_t *append(struct pw_bh_log *log, uint32_t warp, uint32_t words, enum pw_op_kind kind, uint32_t array,
                        uint32_t count_or_mask)
{
    struct pw_bh_warp_log *w = &log->warps[warp];
    if (!w->last || w->last->used + words > CHUNK_WORDS) {
        struct pw_bh_chunk *chunk = take_chunk(log);
        if (w->last)
            w->last->next = chunk;
        else
            w->first = chunk;
        w->last = chunk;
    }
    uint32_t *at = &w->last->words[w->last->used];
    w->last->used += words;
    at[0] = (uint32_t)kind | array << ARRAY_SHIFT | (uint32_t)w->waits << WAITS_SHIFT;
    at[1] = count_or_mask;
    w->waits = false;
    return at + 2;
}

void pw_bh_log_compute(struct pw_bh_log *log, uint32_t warp, uint32_t count)
{
    append(log, warp, 2, PW_OP_COMPUTE, 0, count);
}

void pw_bh_log_use(struct pw_bh_log *log, uint32_t warp)
{
    log->warps[warp].waits = true;
}

void pw_bh_log_access(struct pw_bh_log *log, uint32_t warp, enum pw_op_kind kind, uint32_t array, uint32_t mask,
                      const int32_t index[PW_WARP_LANES])
{
    if (!mask)
        return;
    uint32_t *at = append(log, warp, 2 + pw_lane_count(mask), kind, array, mask);
    PW_FOR_LANES(lane, mask)
    *at++ = (uint32_t)index[lane];
}

void pw_bh_log_one(struct pw_bh_log *log, uint32_t warp, enum pw_op_kind kind, uint32_t array, uint32_t mask,
                   int32_t element)
{
    int32_t index[PW_WARP_LANES];
    for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++)
        index[lane] = element;
    pw_bh_log_access(log, warp, kind, array, mask, index);
}

void pw_bh_log_barrier(struct pw_bh_log *log, uint32_t warp)
{
    append(log, warp, 2, PW_OP_BARRIER, 0, 0);
}

/* Repeats one operation and returns the next one's place. */
static const uint32_t *repeat(struct pw_warp *w, const struct pw_bh *g, const uint32_t *at)
{
    enum pw_op_kind kind = (enum pw_op_kind)(at[0] & 0xff);
    uint32_t mask = at[1];
    if (at[0] >> WAITS_SHIFT & 1)
        pw_use(w);
    if (kind == PW_OP_COMPUTE) {
        pw_compute(w, at[1]);
        return at + 2;
    }
    if (kind == PW_OP_BARRIER) {
        pw_barrier(w);
        return at + 2;
    }
    uint64_t index[PW_WARP_LANES];
    const uint32_t *element = at + 2;
    PW_FOR_LANES(lane, mask)
    index[lane] = *element++;
    pw_access_lanes(w, kind, mask, &g->arrays[at[0] >> ARRAY_SHIFT & 0xff], index);
    return element;
}

void pw_bh_replay(struct pw_warp *w, const void *arguments)
{
    const struct pw_bh *g = arguments;
    uint32_t warps = (w->launch->block.x + PW_WARP_LANES - 1) / PW_WARP_LANES;
    const struct pw_bh_warp_log *log = &g->log.warps[w->cta_index * warps + w->index];
    for (const struct pw_bh_chunk *chunk = log->first; chunk; chunk = chunk->next)
        for (const uint32_t *at = chunk->words; at < chunk->words + chunk->used;)
            at = repeat(w, g, at);
}
