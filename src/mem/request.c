/* Storage of requests: chunks that are handed out and taken back, so that the hot path allocates nothing. */
#include "mem/request.h"

#include "sim/host_memory.h"

#include <stdlib.h>

enum { REQUESTS_PER_CHUNK = PW_HUGE_BYTES / sizeof(struct pw_request) - 1 };

struct pw_request_chunk {
    struct pw_request requests[REQUESTS_PER_CHUNK];
    struct pw_request_chunk *next;
};

void pw_request_pool_init(struct pw_request_pool *p)
{
    *p = (struct pw_request_pool){0};
}

void pw_request_pool_destroy(struct pw_request_pool *p)
{
    for (struct pw_request_chunk *c = p->chunks, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    *p = (struct pw_request_pool){0};
}

struct pw_request *pw_request_pool_grow(struct pw_request_pool *p)
{
    struct pw_request_chunk *c = pw_host_memory(1, sizeof *c);
    if (!c) {
        p->out_of_memory = true;
        p->spare.next = NULL;
        return &p->spare;
    }
    c->next = p->chunks;
    p->chunks = c;
    for (size_t i = 0; i < REQUESTS_PER_CHUNK; i++)
        c->requests[i].next = i + 1 < REQUESTS_PER_CHUNK ? &c->requests[i + 1] : NULL;
    return c->requests;
}
