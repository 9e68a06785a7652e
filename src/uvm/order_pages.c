/* LRU over single pages: one doubly linked list by page numbers, accessed pages first (UVM, Sec. 4.2 and 5).
 *
 * The border between the pages that are left out and the others is a place in the list. A bit per page says on which
 * side it lies, so that removing or inserting a page keeps the count of pages before the border right; the next search
 * moves the border by the difference to what it wants. */
#include "uvm/order_internal.h"

#include <stdlib.h>
#include <string.h>

enum pw_status pw_page_list_resize(struct pw_page_list *o, size_t old_pages, size_t pages, struct pw_error *err)
{
    size_t old_words = (old_pages + 63) / 64, words = (pages + 63) / 64;
    struct pw_page_links *links = realloc(o->links, pages * sizeof *links);
    if (links)
        o->links = links;
    uint64_t *reserved = realloc(o->reserved, words * sizeof *reserved);
    if (reserved)
        o->reserved = reserved;
    if (!links || !reserved)
        return pw_fail_memory(err, "the order of resident pages");
    memset(reserved + old_words, 0, (words - old_words) * sizeof *reserved);
    return PW_OK;
}

static bool is_reserved(const struct pw_page_list *o, pw_page_id page)
{
    return o->reserved[page / 64] >> (page % 64) & 1;
}

static void set_reserved(struct pw_page_list *o, pw_page_id page, bool reserved)
{
    uint64_t bit = 1ULL << (page % 64);
    if (reserved)
        o->reserved[page / 64] |= bit;
    else
        o->reserved[page / 64] &= ~bit;
}

/* A page that comes right before the border becomes the border. */
static void insert_after(struct pw_page_list *o, pw_page_id page, pw_page_id previous)
{
    pw_page_id next = previous == PW_NO_PAGE ? o->head : o->links[previous].next;
    o->links[page] = (struct pw_page_links){next, previous};
    *(previous == PW_NO_PAGE ? &o->head : &o->links[previous].next) = page;
    *(next == PW_NO_PAGE ? &o->tail : &o->links[next].previous) = page;
    bool reserved = next != o->border && next != PW_NO_PAGE && is_reserved(o, next);
    set_reserved(o, page, reserved);
    o->before_border += reserved;
    if (next == o->border)
        o->border = page;
}

static void unlink_page(struct pw_page_list *o, pw_page_id page)
{
    struct pw_page_links at = o->links[page];
    *(at.previous == PW_NO_PAGE ? &o->head : &o->links[at.previous].next) = at.next;
    *(at.next == PW_NO_PAGE ? &o->tail : &o->links[at.next].previous) = at.previous;
    if (page == o->accessed_tail)
        o->accessed_tail = at.previous;
    if (page == o->border)
        o->border = at.next;
    else
        o->before_border -= is_reserved(o, page);
}

void pw_page_list_arrive(struct pw_page_list *o, pw_page_id page, bool accessed)
{
    insert_after(o, page, accessed ? o->accessed_tail : o->tail);
    if (accessed)
        o->accessed_tail = page;
}

void pw_page_list_touch(struct pw_page_list *o, pw_page_id page)
{
    if (page == o->accessed_tail)
        return;
    unlink_page(o, page);
    insert_after(o, page, o->accessed_tail);
    o->accessed_tail = page;
}

void pw_page_list_leave(struct pw_page_list *o, pw_page_id page)
{
    unlink_page(o, page);
}

void pw_page_list_start(struct pw_page_list *o, uint64_t reserved)
{
    for (; o->before_border < reserved && o->border != PW_NO_PAGE; o->before_border++) {
        set_reserved(o, o->border, true);
        o->border = o->links[o->border].next;
    }
    for (; o->before_border > reserved; o->before_border--) {
        o->border = o->border == PW_NO_PAGE ? o->tail : o->links[o->border].previous;
        set_reserved(o, o->border, false);
    }
    o->cursor = o->border;
}

pw_page_id pw_page_list_next(struct pw_page_list *o)
{
    pw_page_id page = o->cursor;
    if (page != PW_NO_PAGE)
        o->cursor = o->links[page].next;
    return page;
}

struct pw_page_mask pw_page_list_left_out(const struct pw_page_list *o, uint32_t block)
{
    struct pw_page_mask pages;
    memcpy(pages.words, o->reserved + (size_t)block * PW_BLOCK_PAGES / 64, sizeof pages.words);
    return pages;
}

enum pw_status pw_page_list_check(const struct pw_page_list *o, uint64_t count, pw_order_holds *holds, void *context,
                                  struct pw_error *err)
{
    uint64_t seen = 0, before_border = 0;
    bool beyond = false, accessed_tail_seen = o->accessed_tail == PW_NO_PAGE;
    pw_page_id previous = PW_NO_PAGE;
    for (pw_page_id page = o->head; page != PW_NO_PAGE; page = o->links[page].next) {
        if (seen++ == count || o->links[page].previous != previous || !holds(context, page))
            return pw_fail(err, PW_FAILED, "page order: page %u does not belong where it is listed", page);
        beyond |= page == o->border;
        if (is_reserved(o, page) == beyond)
            return pw_fail(err, PW_FAILED, "page order: page %u is on the wrong side of the border", page);
        before_border += !beyond;
        accessed_tail_seen |= page == o->accessed_tail;
        previous = page;
    }
    if (seen != count || previous != o->tail || before_border != o->before_border || !accessed_tail_seen ||
        beyond != (o->border != PW_NO_PAGE))
        return pw_fail(err, PW_FAILED, "page order: %llu pages are listed, %llu are resident", (unsigned long long)seen,
                       (unsigned long long)count);
    return PW_OK;
}
