/* One request on its way through the memory system.
 *
 * A request is for one 128-byte line (or some 32-byte sectors of it). The same object travels from the L1 cache or the
 * walker to the L2 slice, the DRAM queue and back; at any time it is in exactly one list, linked by `next`. Page
 * table reads are ordinary requests of kind PW_REQUEST_WALK whose `level` says which level of the table they read
 * (0 for data). */
#ifndef PW_MEM_REQUEST_H
#define PW_MEM_REQUEST_H

#include "sim/record_pool.h"
#include "sim/status.h"
#include "sim/types.h"

enum pw_request_kind {
    PW_REQUEST_READ,
    PW_REQUEST_WRITE,     /* a store on its way to the L2 */
    PW_REQUEST_ATOMIC,    /* a read-modify-write at the L2 */
    PW_REQUEST_WALK,      /* a page-table read */
    PW_REQUEST_FETCH,     /* further sectors of a line for requests that wait at the L2 */
    PW_REQUEST_WRITEBACK, /* a dirty line on its way from the L2 to DRAM */
    PW_REQUEST_COPY,      /* a read of one half of the L2 in the other (l2_halves.c); `source` is the slice that asks */
    /* Requests of the page manager (vm/page_manager.h), which at the L2 are what they are without this bit. */
    PW_REQUEST_MANAGER = 8,
    PW_REQUEST_MANAGER_WRITE = PW_REQUEST_MANAGER | PW_REQUEST_WRITE, /* of a page-table entry, or of a page it moves */
    PW_REQUEST_MANAGER_READ = PW_REQUEST_MANAGER | PW_REQUEST_WALK,   /* of a page it moves */
};

/* The level that a request carries, in three bits (MASK, Section 5.3): 0 for data, and 7 for any that is deeper than
 * 6, as none of the tables here is. */
static inline unsigned pw_depth_tag(unsigned depth)
{
    return depth < 7 ? depth : 7;
}

/* Half a host cache line: thousands are in flight, and each is touched at every stop on its way. */
struct pw_request {
    struct pw_request *next;
    uint32_t line;             /* physical address / 128 */
    uint32_t owner;            /* meaning belongs to the source: the load slot, the walk */
    uint32_t set;              /* of its slice's cache (pw_cache_set) */
    uint16_t slice;            /* of the L2, over all channels */
    uint16_t source;           /* SM */
    uint16_t l1_miss, l2_miss; /* the miss registers it holds on its way */
    uint8_t kind : 4;          /* enum pw_request_kind */
    uint8_t level : 3;         /* page-table level 1 to 4, 0 for data (pw_depth_tag) */
    uint8_t foreign : 1;       /* it is at the memory of another GPU than that of its SM (mem/peer.h) */
    uint8_t sectors;           /* mask of 32-byte sectors, bit 0 the lowest address; 0xf is the whole line */
    union {
        uint8_t full;    /* of a write: sectors that are written completely */
        uint8_t awaited; /* of a read below the L2: the sectors it came for, while `sectors` are those it fetches */
    };
    pw_asid app;
};
_Static_assert(sizeof(struct pw_request) == 32, "a request is half a host cache line");

/* owner of a request that nobody waits for. */
#define PW_NO_OWNER UINT32_MAX

/* More requests than one event puts into lists: lines that wait at an L2 slice, or that are copied. */
enum { PW_REQUEST_RESERVE = 1024 };

/* Hands out requests and takes them back (sim/record_pool.h). */
struct pw_request_pool {
    struct pw_record_pool records;
    struct pw_request reserve[PW_REQUEST_RESERVE];
};

void pw_request_pool_init(struct pw_request_pool *p, struct pw_events *events);
void pw_request_pool_destroy(struct pw_request_pool *p);

/* Never NULL. */
static inline struct pw_request *pw_request_take(struct pw_request_pool *p)
{
    return pw_record_take(&p->records);
}

static inline void pw_request_give(struct pw_request_pool *p, struct pw_request *r)
{
    pw_record_give(&p->records, r);
}

/* A first-in first-out list of requests. */
struct pw_request_list {
    struct pw_request *first, *last;
    uint32_t count;
};

static inline void pw_request_list_push(struct pw_request_list *l, struct pw_request *r)
{
    r->next = NULL;
    if (l->first)
        l->last->next = r;
    else
        l->first = r;
    l->last = r;
    l->count++;
}

static inline struct pw_request *pw_request_list_pop(struct pw_request_list *l)
{
    struct pw_request *r = l->first;
    if (r) {
        l->first = r->next;
        l->count--;
        __builtin_prefetch(l->first);
    }
    return r;
}

#endif
