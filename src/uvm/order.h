/* In which order resident pages are offered for eviction. No operation scans: each takes a few steps, however many
 * pages there are.
 *
 * Pages are numbered by the caller: number / 512 is the 2 MiB block. About 8 bytes per page where the order is one of
 * pages (lru4k, random), less than one where it is one of blocks. Units larger than 4 KiB are known by their first
 * page. */
#ifndef PW_UVM_ORDER_H
#define PW_UVM_ORDER_H

#include "policy/evict/evict_policy.h"
#include "sim/random.h"
#include "sim/status.h"

#include <stddef.h>

typedef uint32_t pw_page_id;
#define PW_NO_PAGE UINT32_MAX

struct pw_order;
enum pw_status pw_order_create(enum pw_evict_order kind, struct pw_random *random, struct pw_order **out,
                               struct pw_error *err);
void pw_order_destroy(struct pw_order *o);

/* Makes room for pages up to `outer`, without work per page. */
enum pw_status pw_order_extend(struct pw_order *o, pw_page_id outer, struct pw_error *err);

/* A page is resident from now on; `accessed` when what asked for it is waiting. Touching moves it to the young end. */
void pw_order_arrive(struct pw_order *o, pw_page_id page, bool accessed);
void pw_order_touch(struct pw_order *o, pw_page_id page);
void pw_order_leave(struct pw_order *o, pw_page_id page);

uint64_t pw_order_pages(const struct pw_order *o);

/* Candidates from the oldest on, after leaving out the oldest `reserved` pages (UVM, Sec. 5.3; ignored by random):
 * start, then next until it suits. Taking candidates changes nothing; leave, arrive and touch end the search. Orders of
 * blocks offer one page of each 64 KiB leaf, the first that is not left out. Under PW_ORDER_RANDOM every call draws
 * from the pages that this search has not offered yet. PW_NO_PAGE when there are no more.
 *
 * Finding the border of the reserved pages takes as many steps as it has moved since the last search, so its cost is
 * borne by the arrivals, touches and departures in between. */
void pw_order_start(struct pw_order *o, uint64_t reserved);
pw_page_id pw_order_next(struct pw_order *o);

/* The pages of a block that the search under way leaves out, larger units by their first page; beside them the mask may
 * have pages that are not resident. */
struct pw_page_mask pw_order_left_out(const struct pw_order *o, uint32_t block);

size_t pw_order_bytes(const struct pw_order *o); /* of memory held */

/* Recounts: lists, counts and the border; holds() must be true of each page in the order. */
typedef bool pw_order_holds(void *context, pw_page_id page);
enum pw_status pw_order_check(const struct pw_order *o, pw_order_holds *holds, void *context, struct pw_error *err);

#endif
