/* The registers are an index pool with a set of SMs for each page. The model is described in far_faults.h. */
#include "vm/far_faults.h"

#include <stdlib.h>
#include <string.h>

enum pw_status pw_far_faults_init(struct pw_far_faults *f, uint32_t sm_words, uint32_t registers, struct pw_error *err)
{
    f->words = sm_words;
    f->sms = calloc((size_t)registers * sm_words, sizeof *f->sms);
    if (!f->sms)
        return pw_fail_memory(err, "far-fault registers");
    return pw_mshr_init(&f->mshr, "far-fault registers", registers, err);
}

void pw_far_faults_release(struct pw_far_faults *f)
{
    free(f->sms);
    pw_mshr_release(&f->mshr);
}

void pw_far_faults_add(struct pw_far_faults *f, uint64_t key, const uint64_t *sms)
{
    struct pw_mshr_entry *e = pw_mshr_find(&f->mshr, key);
    uint64_t *waiting;
    if (e) {
        waiting = &f->sms[(size_t)pw_mshr_place(&f->mshr, e) * f->words];
    } else {
        e = pw_mshr_add(&f->mshr, key);
        waiting = &f->sms[(size_t)pw_mshr_place(&f->mshr, e) * f->words];
        memset(waiting, 0, f->words * sizeof *waiting);
    }
    for (uint32_t i = 0; i < f->words; i++)
        waiting[i] |= sms[i];
}

const uint64_t *pw_far_faults_take(struct pw_far_faults *f, uint64_t key)
{
    struct pw_mshr_entry *e = pw_mshr_find(&f->mshr, key);
    if (!e)
        return NULL;
    const uint64_t *waiting = &f->sms[(size_t)pw_mshr_place(&f->mshr, e) * f->words];
    pw_mshr_remove(&f->mshr, e);
    return waiting;
}
