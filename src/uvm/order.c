/* The order of eviction candidates: dispatch over its kinds, and the one without any order.
 *
 * Random keeps the resident pages in a dense array and each page's place in it; a page that leaves is replaced by the
 * last one. A search shuffles as it goes (Fisher and Yates), so that each page is offered once and every draw is
 * uniform over those left. */
#include "uvm/order_internal.h"

#include <stdlib.h>

enum pw_status pw_order_create(enum pw_evict_order kind, struct pw_random *random, struct pw_order **out,
                               struct pw_error *err)
{
    struct pw_order *o = calloc(1, sizeof *o);
    if (!o)
        return pw_fail_memory(err, "the order of resident pages");
    o->kind = kind;
    o->by_page.head = o->by_page.tail = o->by_page.accessed_tail = PW_NO_PAGE;
    o->by_page.border = o->by_page.cursor = PW_NO_PAGE;
    o->by_block.head = o->by_block.tail = o->by_block.border = o->by_block.cursor = PW_NO_PAGE;
    o->by_block.last_leaf = PW_NO_PAGE;
    o->by_block.by_arrival = kind == PW_ORDER_ARRIVAL;
    o->pool.random = random;
    *out = o;
    return PW_OK;
}

void pw_order_destroy(struct pw_order *o)
{
    if (!o)
        return;
    free(o->by_page.links);
    free(o->by_page.reserved);
    free(o->by_block.links);
    free(o->by_block.leaves);
    free(o->pool.pages);
    free(o->pool.place);
    free(o);
}

static enum pw_status resize_random(struct pw_page_pool *o, size_t pages, struct pw_error *err)
{
    pw_page_id *dense = realloc(o->pages, pages * sizeof *dense);
    if (dense)
        o->pages = dense;
    uint32_t *place = realloc(o->place, pages * sizeof *place);
    if (place)
        o->place = place;
    return dense && place ? PW_OK : pw_fail_memory(err, "the set of resident pages");
}

static bool is_of_blocks(const struct pw_order *o)
{
    return o->kind == PW_ORDER_BLOCKS || o->kind == PW_ORDER_ARRIVAL;
}

enum pw_status pw_order_extend(struct pw_order *o, pw_page_id outer, struct pw_error *err)
{
    size_t wanted = is_of_blocks(o) ? ((size_t)outer + PW_BLOCK_PAGES - 1) / PW_BLOCK_PAGES : outer;
    if (wanted <= o->capacity)
        return PW_OK;
    if (wanted < o->capacity + o->capacity / 4)
        wanted = o->capacity + o->capacity / 4;
    enum pw_status status;
    if (is_of_blocks(o))
        status = pw_block_list_resize(&o->by_block, o->capacity, wanted, err);
    else if (o->kind == PW_ORDER_PAGES)
        status = pw_page_list_resize(&o->by_page, o->capacity, wanted, err);
    else
        status = resize_random(&o->pool, wanted, err);
    if (!status)
        o->capacity = wanted;
    return status;
}

static void put(struct pw_page_pool *o, uint64_t place, pw_page_id page)
{
    o->pages[place] = page;
    o->place[page] = (uint32_t)place;
}

void pw_order_arrive(struct pw_order *o, pw_page_id page, bool accessed)
{
    if (o->kind == PW_ORDER_PAGES)
        pw_page_list_arrive(&o->by_page, page, accessed);
    else if (is_of_blocks(o))
        pw_block_list_arrive(&o->by_block, page);
    else
        put(&o->pool, o->count, page);
    o->count++;
}

void pw_order_touch(struct pw_order *o, pw_page_id page)
{
    if (o->kind == PW_ORDER_BLOCKS)
        pw_block_list_touch(&o->by_block, page);
    else if (o->kind == PW_ORDER_PAGES)
        pw_page_list_touch(&o->by_page, page);
}

void pw_order_leave(struct pw_order *o, pw_page_id page)
{
    o->count--;
    if (o->kind == PW_ORDER_PAGES)
        pw_page_list_leave(&o->by_page, page);
    else if (is_of_blocks(o))
        pw_block_list_leave(&o->by_block, page);
    else
        put(&o->pool, o->pool.place[page], o->pool.pages[o->count]);
}

uint64_t pw_order_pages(const struct pw_order *o)
{
    return o->count;
}

void pw_order_start(struct pw_order *o, uint64_t reserved)
{
    if (o->kind == PW_ORDER_PAGES)
        pw_page_list_start(&o->by_page, reserved);
    else if (is_of_blocks(o))
        pw_block_list_start(&o->by_block, reserved);
    else
        o->pool.drawn = 0;
}

static pw_page_id draw(struct pw_page_pool *o, uint64_t count)
{
    if (o->drawn == count)
        return PW_NO_PAGE;
    uint64_t at = o->drawn + pw_random_below(o->random, count - o->drawn);
    pw_page_id page = o->pages[at];
    put(o, at, o->pages[o->drawn]);
    put(o, o->drawn++, page);
    return page;
}

pw_page_id pw_order_next(struct pw_order *o)
{
    if (o->kind == PW_ORDER_PAGES)
        return pw_page_list_next(&o->by_page);
    if (is_of_blocks(o))
        return pw_block_list_next(&o->by_block);
    return draw(&o->pool, o->count);
}

struct pw_page_mask pw_order_left_out(const struct pw_order *o, uint32_t block)
{
    if (o->kind == PW_ORDER_PAGES)
        return pw_page_list_left_out(&o->by_page, block);
    if (is_of_blocks(o))
        return pw_block_list_left_out(&o->by_block, block);
    return (struct pw_page_mask){0};
}

size_t pw_order_bytes(const struct pw_order *o)
{
    if (is_of_blocks(o))
        return sizeof *o + o->capacity * (sizeof *o->by_block.links + sizeof *o->by_block.leaves);
    if (o->kind == PW_ORDER_PAGES)
        return sizeof *o + o->capacity * sizeof *o->by_page.links + (o->capacity + 63) / 64 * sizeof(uint64_t);
    return sizeof *o + o->capacity * (sizeof *o->pool.pages + sizeof *o->pool.place);
}

enum pw_status pw_order_check(const struct pw_order *o, pw_order_holds *holds, void *context, struct pw_error *err)
{
    if (o->kind == PW_ORDER_PAGES)
        return pw_page_list_check(&o->by_page, o->count, holds, context, err);
    if (is_of_blocks(o))
        return pw_block_list_check(&o->by_block, o->count, holds, context, err);
    for (uint64_t i = 0; i < o->count; i++)
        if (o->pool.place[o->pool.pages[i]] != i || !holds(context, o->pool.pages[i]))
            return pw_fail(err, PW_FAILED, "random order: page %u is not where it is listed", o->pool.pages[i]);
    return PW_OK;
}
