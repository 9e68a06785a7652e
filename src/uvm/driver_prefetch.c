/* The explicit prefetch call (cudaMemPrefetchAsync): pages move without having been asked for by an access, 2 MiB block
 * after 2 MiB block in order of address. One block is on its way at a time: the link is busy all the same, and pages
 * that came early in a large call may leave again for later ones, as they do on a real GPU. */
#include "uvm/driver_internal.h"

#include <stdlib.h>

static void end_call(struct prefetch_call *call, pw_cycle now)
{
    struct pw_uvm *u = call->uvm;
    for (struct prefetch_call **at = &u->calls; *at; at = &(*at)->next)
        if (*at == call) {
            *at = call->next;
            break;
        }
    if (call->done)
        pw_events_post(u->wiring.events, now, call->done, call->object, call->argument);
    free(call);
}

void pw_prefetch_continue(struct prefetch_call *call, pw_cycle now)
{
    struct pw_uvm *u = call->uvm;
    while (call->at.v < call->outer.v) {
        uint64_t outer = (call->at.v / PW_BLOCK_PAGES + 1) * PW_BLOCK_PAGES;
        outer = outer < call->outer.v ? outer : call->outer.v;
        unsigned first = (unsigned)(call->at.v % PW_BLOCK_PAGES), count = (unsigned)(outer - call->at.v);
        struct pw_page_mask wanted = pw_mask_range(first, first + count);
        struct pw_fetch decided = {0};
        pw_page_id page = pw_residency_find(u->residency, call->asid, call->at);
        call->at.v = outer;
        if (page != PW_NO_PAGE)
            pw_residency_decide_explicit(u->residency, page / PW_BLOCK_PAGES, &wanted, &decided);
        if (!pw_mask_any(&decided.prefetched))
            continue;
        struct fetch *f = pw_fetch_begin(u, &decided, OWNER_PREFETCH, now);
        if (!f)
            break;
        f->call = call;
        pw_fetch_serve(f, now);
        return;
    }
    end_call(call, now);
}

void pw_uvm_prefetch(struct pw_uvm *u, pw_asid asid, pw_vpn first, uint64_t pages, pw_cycle now, pw_event_fn *done,
                     void *object, uint64_t argument)
{
    struct prefetch_call *call = calloc(1, sizeof *call);
    if (!call) {
        pw_uvm_fail(u, PW_FAILED, "out of memory for a prefetch call");
        return;
    }
    *call = (struct prefetch_call){u, u->calls, asid, first, {first.v + pages}, done, object, argument};
    u->calls = call;
    pw_prefetch_continue(call, now);
}
