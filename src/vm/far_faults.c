/* The registers are records found by the number of their page. The model is described in far_faults.h. */
#include "vm/far_faults.h"

enum pw_status pw_far_faults_init(struct pw_far_faults *f, struct pw_events *events, struct pw_error *err)
{
    enum { CHUNK_BYTES = 16 << 10 };
    pw_record_pool_init(&f->records, events, sizeof(struct pw_far_fault), CHUNK_BYTES, f->reserve, 1);
    return pw_key_map_init(&f->map, "far-fault registers", err);
}

void pw_far_faults_release(struct pw_far_faults *f)
{
    pw_key_map_release(&f->map);
    pw_record_pool_destroy(&f->records);
}

static struct pw_far_fault *find(const struct pw_far_faults *f, uint64_t key)
{
    return (struct pw_far_fault *)pw_key_map_find(&f->map, key);
}

static struct pw_far_fault *add(struct pw_far_faults *f, uint64_t key)
{
    struct pw_far_fault *fault = pw_record_take(&f->records);
    fault->waiting = (struct pw_tlb_requests){0};
    pw_key_map_add(&f->map, &fault->link, key);
    return fault;
}

void pw_far_faults_add(struct pw_far_faults *f, uint64_t key, struct pw_tlb_request *first)
{
    struct pw_far_fault *fault = find(f, key);
    if (!fault)
        fault = add(f, key);
    for (struct pw_tlb_request *r = first, *next; r; r = next) {
        next = r->next;
        pw_tlb_requests_add(&fault->waiting, r);
    }
}

struct pw_tlb_request *pw_far_faults_take(struct pw_far_faults *f, uint64_t key)
{
    struct pw_far_fault *fault = find(f, key);
    if (!fault)
        return NULL;
    struct pw_tlb_request *first = fault->waiting.first;
    pw_key_map_remove(&f->map, &fault->link);
    pw_record_give(&f->records, fault);
    return first;
}
