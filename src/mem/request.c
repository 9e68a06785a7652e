/* Storage of requests: chunks that are handed out and taken back, so that the hot path allocates nothing. */
#include "mem/request.h"

#include "sim/host_memory.h"

#include <stdlib.h>

enum { REQUESTS_PER_CHUNK = PW_HUGE_BYTES / sizeof(struct pw_request) - 1 };

struct pw_request_chunk {
    struct pw_request requests[REQUESTS_PER_CHUNK];
    struct pw_request_chunk *next;
};

void pw_request_pool_init(struct pw_request_pool *p, struct pw_events *events)
{
    *p = (struct pw_request_pool){.events = events};
}

void pw_request_pool_destroy(struct pw_request_pool *p)
{
    for (struct pw_request_chunk *c = p->chunks, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    *p = (struct pw_request_pool){0};
}

static struct pw_request *link_up(struct pw_request *requests, size_t count)
{
    for (size_t i = 0; i < count; i++)
        requests[i].next = i + 1 < count ? &requests[i + 1] : NULL;
    return requests;
}

/* Once memory is out, no event runs after the present one, but what that one puts into lists it may also take from them
 * again, so every such request must be one of its own. Beyond the reserve a request can only be one that is sent off
 * for good, as writes of page tables are, and all of them may be the same. */
static struct pw_request *take_reserve(struct pw_request_pool *p)
{
    if (p->events)
        pw_events_out_of_memory(p->events);
    size_t count = p->reserve_taken ? 1 : PW_REQUEST_RESERVE;
    p->reserve_taken = true;
    return link_up(&p->reserve[PW_REQUEST_RESERVE - count], count);
}

struct pw_request *pw_request_pool_grow(struct pw_request_pool *p)
{
    struct pw_request_chunk *c = pw_host_memory(1, sizeof *c);
    if (!c)
        return take_reserve(p);
    c->next = p->chunks;
    p->chunks = c;
    return link_up(c->requests, REQUESTS_PER_CHUNK);
}
