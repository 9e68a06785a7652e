/* Managed allocations: which blocks there are, and where they lie.
 *
 * An allocation gets a run of block numbers, used again after it is freed. Nothing is done per page: the masks of its
 * blocks are zeroed, and only the last block may hold less than 512 pages. An address is found by two reads, through a
 * directory per address space over tables of 8192 blocks (16 GiB), so that allocations may lie far apart. */
#include "uvm/residency_internal.h"

#include "sim/grow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIRECTORY_ENTRIES = 1 << PW_DIRECTORY_BITS, TABLE_ENTRIES = 1 << PW_LEAF_TABLE_BITS };

/* Numbers of pages are 32 bits, one of which says that there is none. */
enum { MAX_BLOCKS = (int)(UINT32_MAX / PW_BLOCK_PAGES) - 1 };

uint32_t *pw_residency_entry(const struct pw_residency *r, pw_asid asid, uint64_t number)
{
    if (asid >= PW_MAX_APPS || number >> PW_BLOCK_NUMBER_BITS || !r->directories[asid])
        return NULL;
    uint32_t *table = r->directories[asid][number >> PW_LEAF_TABLE_BITS];
    return table ? &table[number & (TABLE_ENTRIES - 1)] : NULL;
}

pw_page_id pw_residency_find(const struct pw_residency *r, pw_asid asid, pw_vpn vpn)
{
    const uint32_t *entry = pw_residency_entry(r, asid, vpn.v / PW_BLOCK_PAGES);
    if (!entry || !*entry || vpn.v % PW_BLOCK_PAGES >= r->blocks[*entry - 1].exists)
        return PW_NO_PAGE;
    return (*entry - 1) * PW_BLOCK_PAGES + (pw_page_id)(vpn.v % PW_BLOCK_PAGES);
}

pw_asid pw_residency_asid(const struct pw_residency *r, pw_page_id page)
{
    return r->ranges[r->blocks[page / PW_BLOCK_PAGES].range].asid;
}

pw_vpn pw_residency_vpn(const struct pw_residency *r, pw_page_id page)
{
    return (pw_vpn){r->blocks[page / PW_BLOCK_PAGES].number * PW_BLOCK_PAGES + page % PW_BLOCK_PAGES};
}

/* Tables for the blocks [first, first + count) of an address space. */
static enum pw_status prepare_tables(struct pw_residency *r, pw_asid asid, uint64_t first, uint64_t count,
                                     struct pw_error *err)
{
    if (!r->directories[asid]) {
        r->directories[asid] = calloc(DIRECTORY_ENTRIES, sizeof *r->directories[asid]);
        r->directory_bytes += DIRECTORY_ENTRIES * sizeof *r->directories[asid];
    }
    if (!r->directories[asid])
        return pw_fail_memory(err, "the directory of managed memory");
    for (uint64_t i = first >> PW_LEAF_TABLE_BITS; i <= (first + count - 1) >> PW_LEAF_TABLE_BITS; i++) {
        uint32_t **table = &r->directories[asid][i];
        if (*table)
            continue;
        *table = calloc(TABLE_ENTRIES, sizeof **table);
        r->directory_bytes += TABLE_ENTRIES * sizeof **table;
        if (!*table)
            return pw_fail_memory(err, "the directory of managed memory");
    }
    return PW_OK;
}

static enum pw_status too_much(struct pw_error *err)
{
    return pw_fail(err, PW_USER_ERROR, "more than %u GiB of managed memory: allocate less", (unsigned)MAX_BLOCKS / 512);
}

/* A run of block numbers: of a freed allocation if one is long enough, else new ones. */
static enum pw_status take_blocks(struct pw_residency *r, uint32_t count, uint32_t *out_first, struct pw_error *err)
{
    for (size_t i = 0; i < r->free_span_count; i++) {
        struct pw_span *span = &r->free_spans[i];
        if (span->count < count)
            continue;
        *out_first = span->first;
        span->first += count;
        span->count -= count;
        if (!span->count)
            *span = r->free_spans[--r->free_span_count];
        return PW_OK;
    }
    if (count > (uint32_t)MAX_BLOCKS - r->block_count)
        return too_much(err);
    uint32_t wanted = r->block_count + count;
    enum pw_status status = pw_order_extend(r->order, wanted * PW_BLOCK_PAGES, err);
    if (status)
        return status;
    if (wanted > r->block_capacity) {
        uint32_t capacity = r->block_capacity + r->block_capacity / 4;
        capacity = capacity > wanted ? capacity : wanted;
        struct pw_managed_block *blocks = realloc(r->blocks, capacity * sizeof *blocks);
        if (!blocks)
            return pw_fail_memory(err, "managed memory");
        r->blocks = blocks;
        r->block_capacity = capacity;
    }
    *out_first = r->block_count;
    r->block_count = wanted;
    return PW_OK;
}

/* A run that is free again joins the free runs next to it, of which there are at most two. */
static enum pw_status give_blocks_back(struct pw_residency *r, uint32_t first, uint32_t count, struct pw_error *err)
{
    struct pw_span *spans = pw_grow(r->free_spans, r->free_span_count, &r->free_span_capacity, sizeof *spans);
    if (!spans)
        return pw_fail_memory(err, "managed memory");
    r->free_spans = spans;
    for (size_t i = r->free_span_count; i-- > 0;) {
        struct pw_span span = spans[i];
        if (span.first + span.count != first && first + count != span.first)
            continue;
        first = span.first < first ? span.first : first;
        count += span.count;
        spans[i] = spans[--r->free_span_count];
    }
    spans[r->free_span_count++] = (struct pw_span){first, count};
    return PW_OK;
}

/* How many pages the last block has, and its tree. */
static void last_extent(const struct pw_residency *r, uint64_t pages, uint16_t *out_exists, uint16_t *out_tree)
{
    unsigned exists, tree, last = (unsigned)((pages - 1) % PW_BLOCK_PAGES) + 1, unit = r->unit;
    r->prefetch->extent(r->prefetch_state, last, pages < PW_BLOCK_PAGES, &exists, &tree);
    exists = (exists + unit - 1) / unit * unit;
    *out_exists = (uint16_t)exists;
    *out_tree = (uint16_t)(tree > exists ? tree : exists);
}

static enum pw_status check_new(const struct pw_residency *r, pw_asid asid, const char *name, pw_vpn first,
                                uint64_t bytes, struct pw_error *err)
{
    uint64_t limit = 1ULL << (PW_BLOCK_NUMBER_BITS + 9 + PW_PAGE_SHIFT), start = first.v << PW_PAGE_SHIFT;
    if (asid >= PW_MAX_APPS)
        return pw_fail(err, PW_USER_ERROR, "allocation %s: at most %d address spaces", name, PW_MAX_APPS);
    if (!bytes)
        return pw_fail(err, PW_USER_ERROR, "allocation %s has no bytes: give it a size", name);
    if (first.v >= limit >> PW_PAGE_SHIFT || bytes > limit - start)
        return pw_fail(err, PW_USER_ERROR, "allocation %s does not fit into 48 bits of address", name);
    if (bytes > (uint64_t)MAX_BLOCKS * PW_BLOCK_PAGES * PW_PAGE_BYTES)
        return too_much(err);
    if (first.v % PW_BLOCK_PAGES)
        return pw_fail(err, PW_USER_ERROR, "allocation %s must begin at a multiple of 2 MiB", name);
    for (uint64_t i = 0; i < (bytes + (2 << 20) - 1) >> 21; i++) {
        const uint32_t *entry = pw_residency_entry(r, asid, first.v / PW_BLOCK_PAGES + i);
        if (entry && *entry)
            return pw_fail(err, PW_USER_ERROR, "allocation %s overlaps %s", name,
                           r->ranges[r->blocks[*entry - 1].range].name);
    }
    return PW_OK;
}

static void set_blocks(struct pw_residency *r, uint32_t range, uint64_t pages)
{
    struct pw_managed_range *a = &r->ranges[range];
    struct pw_managed_block *blocks = &r->blocks[a->first_block];
    memset(blocks, 0, a->block_count * sizeof *blocks);
    for (uint32_t i = 0; i < a->block_count; i++) {
        blocks[i].number = a->first.v / PW_BLOCK_PAGES + i;
        blocks[i].range = range;
        blocks[i].exists = blocks[i].tree_pages = PW_BLOCK_PAGES;
        *pw_residency_entry(r, a->asid, blocks[i].number) = a->first_block + i + 1;
    }
    struct pw_managed_block *last = &blocks[a->block_count - 1];
    last_extent(r, pages, &last->exists, &last->tree_pages);
    a->pages = (uint64_t)(a->block_count - 1) * PW_BLOCK_PAGES + last->exists;
}

enum pw_status pw_residency_add(struct pw_residency *r, pw_asid asid, const char *name, pw_vpn first, uint64_t bytes,
                                struct pw_error *err)
{
    enum pw_status status = check_new(r, asid, name, first, bytes, err);
    if (status)
        return status;
    uint64_t pages = (bytes + PW_PAGE_BYTES - 1) / PW_PAGE_BYTES;
    uint32_t count = (uint32_t)((pages + PW_BLOCK_PAGES - 1) / PW_BLOCK_PAGES), first_block;
    struct pw_managed_range *ranges = pw_grow(r->ranges, r->range_count, &r->range_capacity, sizeof *ranges);
    if (!ranges)
        return pw_fail_memory(err, "managed memory");
    r->ranges = ranges;
    if ((status = prepare_tables(r, asid, first.v / PW_BLOCK_PAGES, count, err)) ||
        (status = take_blocks(r, count, &first_block, err)))
        return status;
    struct pw_managed_range *a = &ranges[r->range_count];
    *a = (struct pw_managed_range){
        .asid = asid, .bytes = bytes, .first = first, .first_block = first_block, .block_count = count};
    snprintf(a->name, sizeof a->name, "%s", name);
    set_blocks(r, (uint32_t)r->range_count++, pages);
    return PW_OK;
}

/* Takes a block's pages away, those on their way as well. */
static void clear_block(struct pw_residency *r, uint32_t block, pw_residency_visit *visit, void *context)
{
    struct pw_managed_block *b = &r->blocks[block];
    struct pw_page_mask resident = b->resident, mapped = pw_mask_or(resident, &b->remote);
    unsigned first, outer;
    pw_residency_take_away(r, block, &resident);
    r->coming -= pw_mask_count(&b->coming);
    r->granted -= pw_mask_count(&b->granted);
    *pw_residency_entry(r, r->ranges[b->range].asid, b->number) = 0;
    for (unsigned at = 0; visit && pw_mask_next_run(&mapped, at, &first, &outer); at = outer)
        for (unsigned page = first; page < outer; page += r->unit)
            visit(context, r->ranges[b->range].asid, (pw_vpn){b->number * PW_BLOCK_PAGES + page});
    b->exists = 0;
    b->coming = b->granted = b->awaited = b->prefetched = b->remote = (struct pw_page_mask){0};
}

enum pw_status pw_residency_remove(struct pw_residency *r, pw_asid asid, pw_vpn first, pw_residency_visit *visit,
                                   void *context, struct pw_error *err)
{
    pw_page_id page = pw_residency_find(r, asid, first);
    struct pw_managed_range *a = page == PW_NO_PAGE ? NULL : &r->ranges[r->blocks[page / PW_BLOCK_PAGES].range];
    if (!a || a->first.v != first.v)
        return pw_fail(err, PW_USER_ERROR, "no managed allocation begins at address %#llx",
                       (unsigned long long)first.v << PW_PAGE_SHIFT);
    enum pw_status status = give_blocks_back(r, a->first_block, a->block_count, err);
    if (status)
        return status;
    for (uint32_t i = 0; i < a->block_count; i++)
        clear_block(r, a->first_block + i, visit, context);
    a->freed = true;
    return PW_OK;
}
