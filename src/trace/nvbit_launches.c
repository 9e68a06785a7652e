/* Launches and warps of NVBit's mem_trace (nvbit_launches.h). */
#include "trace/nvbit_launches.h"

#include "sim/grow.h"

#include <string.h>

enum { MOST_LAUNCHES = 1 << 17, MOST_BLOCKS = 1 << 19 /* of a launch, that are accessed from */ };

static enum pw_status add(struct pw_nvbit_launches *l, const struct pw_lines *t, uint64_t id, struct pw_error *err)
{
    if (l->count == MOST_LAUNCHES)
        return pw_lines_fail(t, err, "there are more than %d launches", MOST_LAUNCHES);
    struct pw_nvbit_launch *grown = pw_grow(l->item, l->count, &l->capacity, sizeof *grown);
    if (!grown)
        return pw_fail_memory(err, "launches");
    l->item = grown;
    l->item[l->count++] = (struct pw_nvbit_launch){.id = id};
    return PW_OK;
}

static enum pw_status describe(struct pw_nvbit_launch *l, const struct pw_nvbit_line *line, struct pw_error *err)
{
    free(l->name);
    l->name = strdup(line->name);
    if (!l->name)
        return pw_fail_memory(err, "launches");
    l->described = line->grid.x != 0;
    if (l->described) {
        l->grid = line->grid;
        l->block = line->block;
        l->direct = l->order_fits = true; /* so far */
    }
    l->shared_bytes = line->shared_bytes;
    l->registers = line->registers;
    return PW_OK;
}

/* The first launch whose number is not below this one. */
static size_t place(const struct pw_nvbit_launches *l, uint64_t id)
{
    size_t low = 0, high = l->count;
    if (l->current < l->count && l->item[l->current].id == id)
        return l->current;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (l->item[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

enum pw_status pw_nvbit_find_launch(struct pw_nvbit_launches *l, const struct pw_lines *t,
                                    const struct pw_nvbit_line *line, size_t *out, struct pw_error *err)
{
    size_t at = place(l, line->launch);
    enum pw_status status = at == l->count ? add(l, t, line->launch, err) : PW_OK;
    if (status != PW_OK)
        return status;
    bool launch = line->kind == PW_NVBIT_LAUNCH;
    if (l->item[at].id != line->launch || (!launch && at < l->current))
        return pw_lines_fail(t, err,
                             "launch %llu comes after a later one; kernels that ran at the same time are not "
                             "understood",
                             (unsigned long long)line->launch);
    *out = at;
    if (launch)
        return describe(&l->item[at], line, err);
    l->current = at;
    return PW_OK;
}

static void include(uint32_t *most, uint32_t coordinate)
{
    if (coordinate >= *most)
        *most = coordinate + 1;
}

static bool has_lanes(uint32_t threads, uint32_t warp, uint32_t lanes)
{
    return warp * PW_WARP_LANES < threads && !(lanes & ~pw_import_lanes(threads, warp));
}

void pw_nvbit_include(struct pw_nvbit_launch *l, const struct pw_nvbit_line *line, uint32_t warp)
{
    include(&l->most_warps, warp);
    if (l->described) {
        uint32_t threads = pw_import_threads(&l->block);
        l->direct &= has_lanes(threads, line->warp, line->mask);
        l->order_fits &= has_lanes(threads, warp, line->mask);
        return;
    }
    include(&l->grid.x, line->cta.x);
    include(&l->grid.y, line->cta.y);
    include(&l->grid.z, line->cta.z);
}

enum pw_status pw_nvbit_launches_finish(struct pw_nvbit_launches *l, const struct pw_lines *t, struct pw_error *err)
{
    for (size_t i = 0; i < l->count; i++) {
        struct pw_nvbit_launch *one = &l->item[i];
        if (!one->described)
            one->block = (struct pw_dim3){(one->most_warps ? one->most_warps : 1) * PW_WARP_LANES, 1, 1};
        if (!one->described && !one->most_warps)
            one->grid = (struct pw_dim3){1, 1, 1};
        uint32_t threads = pw_import_threads(&one->block);
        if (!pw_import_ctas(&one->grid) || !threads)
            return pw_fail(err, PW_USER_ERROR, "%s: launch %llu has not 1 to %d thread blocks of 1 to %d threads",
                           t->path, (unsigned long long)one->id, PW_IMPORT_CTAS, PW_CTA_THREADS);
        /* Which warp is the one with fewer lanes shows only in its last access. */
        if (one->described && !one->direct && !one->order_fits && threads > PW_WARP_LANES)
            one->block = (struct pw_dim3){(threads + PW_WARP_LANES - 1) / PW_WARP_LANES * PW_WARP_LANES, 1, 1};
    }
    return PW_OK;
}

void pw_nvbit_launches_release(struct pw_nvbit_launches *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->item[i].name);
    free(l->item);
}

enum pw_status pw_nvbit_number_warp(struct pw_nvbit_blocks *b, const struct pw_lines *t,
                                    const struct pw_nvbit_line *line, uint32_t *out, struct pw_error *err)
{
    const struct pw_dim3 *cta = &line->cta;
    if (cta->y > UINT16_MAX || cta->z > UINT16_MAX)
        return pw_lines_fail(t, err, "no grid has a thread block %u,%u,%u", cta->x, cta->y, cta->z);
    uint64_t key = cta->x | (uint64_t)cta->y << 32 | (uint64_t)cta->z << 48;
    struct pw_nvbit_block *block = (struct pw_nvbit_block *)pw_key_map_find(&b->map, key);
    if (!block) {
        if (b->map.count == MOST_BLOCKS)
            return pw_lines_fail(t, err, "a launch has more than %d thread blocks", MOST_BLOCKS);
        block = calloc(1, sizeof *block);
        if (!block)
            return pw_fail_memory(err, "thread blocks");
        block->cta = *cta;
        pw_key_map_add(&b->map, &block->link, key);
    }
    uint64_t bit = UINT64_C(1) << line->warp;
    if (!(block->seen & bit))
        block->order[line->warp] = (uint8_t)block->count++;
    block->seen |= bit;
    *out = block->order[line->warp];
    return PW_OK;
}

void pw_nvbit_blocks_clear(struct pw_nvbit_blocks *b)
{
    for (struct pw_key_link *l = pw_key_map_next(&b->map, NULL), *next; l; l = next) {
        next = pw_key_map_next(&b->map, l);
        pw_key_map_remove(&b->map, l);
        free(l);
    }
}
