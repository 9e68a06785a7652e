/* Storage of requests: a pool in huge pages of the host. */
#include "mem/request.h"

#include "sim/host_memory.h"

void pw_request_pool_init(struct pw_request_pool *p, struct pw_events *events)
{
    pw_record_pool_init(&p->records, events, sizeof(struct pw_request), PW_HUGE_BYTES, p->reserve, PW_REQUEST_RESERVE);
}

void pw_request_pool_destroy(struct pw_request_pool *p)
{
    pw_record_pool_destroy(&p->records);
}
