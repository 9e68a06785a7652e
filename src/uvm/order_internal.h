/* The three ways of keeping an order; order.c chooses between them. */
#ifndef PW_UVM_ORDER_INTERNAL_H
#define PW_UVM_ORDER_INTERNAL_H

#include "uvm/order.h"

/* A list of pages: those that were accessed, least recently first, then the others as they came. */
struct pw_page_links {
    pw_page_id next, previous;
};
struct pw_page_list {
    struct pw_page_links *links; /* by page */
    uint64_t *reserved;          /* a bit per page: it lies before the border */
    pw_page_id head, tail;
    pw_page_id accessed_tail; /* the youngest of the accessed; PW_NO_PAGE when there is none */
    pw_page_id border;        /* the first page not left out, PW_NO_PAGE when all are */
    uint64_t before_border;   /* pages */
    pw_page_id cursor;
};

/* A list of blocks, oldest first; in a block, leaves by the time of their last access or (arrival order) first page.
 * What a touch moves is kept apart from what it stamps, so that many blocks' links share a line of the host's cache. */
struct pw_block_link {
    uint32_t next, previous;
    uint16_t count; /* of pages; in the list when it is not 0 */
    bool reserved;  /* the block lies before the border */
};
struct pw_block_leaves {
    uint64_t stamp[PW_BLOCK_LEAVES];
    uint16_t pages[PW_BLOCK_LEAVES]; /* of each leaf, as a set */
};
struct pw_block_list {
    struct pw_block_link *links;
    struct pw_block_leaves *leaves;
    uint32_t head, tail;
    uint32_t border;        /* the block in which the first page not left out lies */
    uint64_t before_border; /* pages in blocks before that */
    uint64_t clock;         /* the last stamp given */
    uint32_t last_leaf;     /* number of the leaf that has it; PW_NO_PAGE at first */
    bool by_arrival;
    uint32_t cursor; /* block */
    uint64_t cursor_stamp;
    uint64_t left_out;     /* pages of the border's block that the search has not passed yet */
    uint64_t border_pages; /* all of them */
};

/* Resident pages in no order, and the place of each among them. */
struct pw_page_pool {
    pw_page_id *pages;
    uint32_t *place; /* by page */
    uint64_t drawn;  /* in this search: the first so many */
    struct pw_random *random;
};

struct pw_order {
    enum pw_evict_order kind;
    uint64_t count;
    size_t capacity; /* in pages (or blocks, for orders of blocks) */
    struct pw_page_list by_page;
    struct pw_block_list by_block;
    struct pw_page_pool pool;
};

enum pw_status pw_page_list_resize(struct pw_page_list *o, size_t old_pages, size_t pages, struct pw_error *err);
void pw_page_list_arrive(struct pw_page_list *o, pw_page_id page, bool accessed);
void pw_page_list_touch(struct pw_page_list *o, pw_page_id page);
void pw_page_list_leave(struct pw_page_list *o, pw_page_id page);
void pw_page_list_start(struct pw_page_list *o, uint64_t reserved);
pw_page_id pw_page_list_next(struct pw_page_list *o);
struct pw_page_mask pw_page_list_left_out(const struct pw_page_list *o, uint32_t block);
enum pw_status pw_page_list_check(const struct pw_page_list *o, uint64_t count, pw_order_holds *holds, void *context,
                                  struct pw_error *err);

enum pw_status pw_block_list_resize(struct pw_block_list *o, size_t old_blocks, size_t blocks, struct pw_error *err);
void pw_block_list_arrive(struct pw_block_list *o, pw_page_id page);
void pw_block_list_touch(struct pw_block_list *o, pw_page_id page);
void pw_block_list_leave(struct pw_block_list *o, pw_page_id page);
void pw_block_list_start(struct pw_block_list *o, uint64_t reserved);
pw_page_id pw_block_list_next(struct pw_block_list *o);
struct pw_page_mask pw_block_list_left_out(const struct pw_block_list *o, uint32_t block);
enum pw_status pw_block_list_check(const struct pw_block_list *o, uint64_t count, pw_order_holds *holds, void *context,
                                   struct pw_error *err);

#endif
