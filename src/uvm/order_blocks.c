/* Orders of 2 MiB blocks: hierarchical LRU (UVM, Sec. 5.3) and order of arrival (the NVIDIA driver).
 *
 * A doubly linked list of the blocks that have resident pages. Under LRU an arrival or a touch moves the block to the
 * young end and stamps the 64 KiB leaf; by arrival, a block keeps the place it got with its first page and a leaf the
 * stamp of its own. Stamps are unique, so the leaves of a block are visited in order by searching 32 of them each time
 * for the next larger stamp. Inside a leaf pages count in order of address.
 *
 * The border of the pages that are left out lies in a block; before_border counts the pages of the blocks before that
 * one, and a bit per block says whether it is one of them. Where in its block the border lies is found at the
 * search. */
#include "uvm/order_internal.h"

#include <stdlib.h>
#include <string.h>

#define NO_BLOCK UINT32_MAX

enum pw_status pw_block_list_resize(struct pw_block_list *o, size_t old_blocks, size_t blocks, struct pw_error *err)
{
    struct pw_block_link *links = realloc(o->links, blocks * sizeof *links);
    if (links)
        o->links = links;
    struct pw_block_leaves *leaves = realloc(o->leaves, blocks * sizeof *leaves);
    if (leaves)
        o->leaves = leaves;
    if (!links || !leaves)
        return pw_fail_memory(err, "the order of resident blocks");
    memset(links + old_blocks, 0, (blocks - old_blocks) * sizeof *links);
    memset(leaves + old_blocks, 0, (blocks - old_blocks) * sizeof *leaves);
    return PW_OK;
}

/* A block that joins right behind the last reserved one becomes the border. */
static void append(struct pw_block_list *o, uint32_t block)
{
    struct pw_block_link *b = &o->links[block];
    b->next = NO_BLOCK;
    b->previous = o->tail;
    *(o->tail == NO_BLOCK ? &o->head : &o->links[o->tail].next) = block;
    o->tail = block;
    b->reserved = false;
    if (o->border == NO_BLOCK)
        o->border = block;
}

static void unlink_block(struct pw_block_list *o, uint32_t block)
{
    struct pw_block_link b = o->links[block];
    *(b.previous == NO_BLOCK ? &o->head : &o->links[b.previous].next) = b.next;
    *(b.next == NO_BLOCK ? &o->tail : &o->links[b.next].previous) = b.previous;
    if (block == o->border)
        o->border = b.next;
    else if (b.reserved)
        o->before_border -= b.count;
}

void pw_block_list_touch(struct pw_block_list *o, pw_page_id page)
{
    if (o->by_arrival || page / PW_LEAF_PAGES == o->last_leaf)
        return;
    uint32_t block = page / PW_BLOCK_PAGES;
    if (block != o->tail) {
        unlink_block(o, block);
        append(o, block);
    }
    o->leaves[block].stamp[page % PW_BLOCK_PAGES / PW_LEAF_PAGES] = ++o->clock;
    o->last_leaf = page / PW_LEAF_PAGES;
}

void pw_block_list_arrive(struct pw_block_list *o, pw_page_id page)
{
    struct pw_block_link *b = &o->links[page / PW_BLOCK_PAGES];
    struct pw_block_leaves *leaves = &o->leaves[page / PW_BLOCK_PAGES];
    unsigned leaf = page % PW_BLOCK_PAGES / PW_LEAF_PAGES;
    if (!b->count)
        append(o, page / PW_BLOCK_PAGES);
    if (o->by_arrival && !leaves->pages[leaf])
        leaves->stamp[leaf] = ++o->clock;
    leaves->pages[leaf] |= (uint16_t)(1U << page % PW_LEAF_PAGES);
    b->count++;
    o->before_border += b->reserved;
    pw_block_list_touch(o, page);
}

void pw_block_list_leave(struct pw_block_list *o, pw_page_id page)
{
    struct pw_block_link *b = &o->links[page / PW_BLOCK_PAGES];
    unsigned leaf = page % PW_BLOCK_PAGES / PW_LEAF_PAGES;
    o->leaves[page / PW_BLOCK_PAGES].pages[leaf] &= (uint16_t) ~(1U << page % PW_LEAF_PAGES);
    o->before_border -= b->reserved;
    b->count--;
    if (!b->count)
        unlink_block(o, page / PW_BLOCK_PAGES);
}

void pw_block_list_start(struct pw_block_list *o, uint64_t reserved)
{
    while (o->border != NO_BLOCK && o->before_border + o->links[o->border].count <= reserved) {
        struct pw_block_link *b = &o->links[o->border];
        o->before_border += b->count;
        b->reserved = true;
        o->border = b->next;
    }
    while (o->before_border > reserved) {
        o->border = o->border == NO_BLOCK ? o->tail : o->links[o->border].previous;
        struct pw_block_link *b = &o->links[o->border];
        o->before_border -= b->count;
        b->reserved = false;
    }
    o->cursor = o->border;
    o->cursor_stamp = 0;
    o->left_out = o->border_pages = reserved - o->before_border;
}

/* The leaf of the block that has pages and the least stamp above `after`; PW_BLOCK_LEAVES when there is none. */
static unsigned next_leaf(const struct pw_block_leaves *b, uint64_t after)
{
    unsigned found = PW_BLOCK_LEAVES;
    uint64_t least = UINT64_MAX;
    for (unsigned i = 0; i < PW_BLOCK_LEAVES; i++)
        if (b->pages[i] && b->stamp[i] > after && b->stamp[i] < least) {
            least = b->stamp[i];
            found = i;
        }
    return found;
}

pw_page_id pw_block_list_next(struct pw_block_list *o)
{
    while (o->cursor != NO_BLOCK) {
        const struct pw_block_leaves *b = &o->leaves[o->cursor];
        unsigned leaf = next_leaf(b, o->cursor_stamp);
        if (leaf == PW_BLOCK_LEAVES) {
            o->cursor = o->links[o->cursor].next;
            o->cursor_stamp = 0;
            continue;
        }
        o->cursor_stamp = b->stamp[leaf];
        unsigned pages = b->pages[leaf];
        for (; pages && o->left_out; o->left_out--)
            pages &= pages - 1;
        if (pages)
            return o->cursor * PW_BLOCK_PAGES + leaf * PW_LEAF_PAGES + (unsigned)__builtin_ctz(pages);
    }
    return PW_NO_PAGE;
}

struct pw_page_mask pw_block_list_left_out(const struct pw_block_list *o, uint32_t block)
{
    struct pw_page_mask pages = {0};
    uint64_t left = block == o->border ? o->border_pages : o->links[block].reserved ? PW_BLOCK_PAGES : 0, stamp = 0;
    const struct pw_block_leaves *b = &o->leaves[block];
    for (unsigned leaf; left && (leaf = next_leaf(b, stamp)) != PW_BLOCK_LEAVES; stamp = b->stamp[leaf])
        for (unsigned some = b->pages[leaf]; some && left; some &= some - 1, left--)
            pw_mask_add(&pages, leaf * PW_LEAF_PAGES + (unsigned)__builtin_ctz(some));
    return pages;
}

static bool block_is_sound(const struct pw_block_list *o, uint32_t block, pw_order_holds *holds, void *context)
{
    unsigned count = 0;
    for (unsigned i = 0; i < PW_BLOCK_PAGES; i++)
        if (o->leaves[block].pages[i / PW_LEAF_PAGES] >> i % PW_LEAF_PAGES & 1) {
            count++;
            if (!holds(context, block * PW_BLOCK_PAGES + i))
                return false;
        }
    return count == o->links[block].count && count;
}

enum pw_status pw_block_list_check(const struct pw_block_list *o, uint64_t count, pw_order_holds *holds, void *context,
                                   struct pw_error *err)
{
    uint64_t seen = 0, before_border = 0;
    bool beyond = false;
    uint32_t previous = NO_BLOCK;
    for (uint32_t block = o->head; block != NO_BLOCK; block = o->links[block].next) {
        const struct pw_block_link *b = &o->links[block];
        if (b->previous != previous || seen > count || !block_is_sound(o, block, holds, context))
            return pw_fail(err, PW_FAILED, "block order: block %u does not belong where it is listed", block);
        beyond |= block == o->border;
        if (b->reserved == beyond)
            return pw_fail(err, PW_FAILED, "block order: block %u is on the wrong side of the border", block);
        seen += b->count;
        before_border += beyond ? 0 : b->count;
        previous = block;
    }
    if (seen != count || previous != o->tail || before_border != o->before_border || beyond != (o->border != NO_BLOCK))
        return pw_fail(err, PW_FAILED, "block order: %llu pages are listed, %llu are resident",
                       (unsigned long long)seen, (unsigned long long)count);
    return PW_OK;
}
