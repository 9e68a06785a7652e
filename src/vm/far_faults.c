/* The registers are an index pool with a list of requests for each page. The model is described in far_faults.h. */
#include "vm/far_faults.h"

#include <stdlib.h>

enum pw_status pw_far_faults_init(struct pw_far_faults *f, uint32_t registers, struct pw_error *err)
{
    f->waiting = calloc(registers, sizeof *f->waiting);
    if (!f->waiting)
        return pw_fail_memory(err, "far-fault registers");
    return pw_mshr_init(&f->mshr, "far-fault registers", registers, err);
}

void pw_far_faults_release(struct pw_far_faults *f)
{
    free(f->waiting);
    pw_mshr_release(&f->mshr);
}

void pw_far_faults_add(struct pw_far_faults *f, uint64_t key, struct pw_tlb_request *first)
{
    const struct pw_mshr_entry *e = pw_mshr_find(&f->mshr, key);
    if (!e)
        e = pw_mshr_add(&f->mshr, key);
    struct pw_tlb_requests *waiting = &f->waiting[pw_mshr_place(&f->mshr, e)];
    for (struct pw_tlb_request *r = first, *next; r; r = next) {
        next = r->next;
        pw_tlb_requests_add(waiting, r);
    }
}

struct pw_tlb_request *pw_far_faults_take(struct pw_far_faults *f, uint64_t key)
{
    struct pw_mshr_entry *e = pw_mshr_find(&f->mshr, key);
    if (!e)
        return NULL;
    struct pw_tlb_requests *waiting = &f->waiting[pw_mshr_place(&f->mshr, e)];
    struct pw_tlb_request *first = waiting->first;
    *waiting = (struct pw_tlb_requests){0};
    pw_mshr_remove(&f->mshr, e);
    return first;
}
