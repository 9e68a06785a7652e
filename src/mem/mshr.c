/* Storage of the miss status holding registers; their use is inline in mshr.h. */
#include "mem/mshr.h"

#include <stdlib.h>
#include <string.h>

enum pw_status pw_mshr_init(struct pw_mshr *m, const char *name, uint32_t capacity, struct pw_error *err)
{
    *m = (struct pw_mshr){.capacity = capacity};
    uint32_t buckets = 8;
    while (buckets < 2 * capacity)
        buckets *= 2;
    m->bucket_mask = buckets - 1;
    m->entries = aligned_alloc(sizeof *m->entries, capacity * sizeof *m->entries);
    m->buckets = malloc(buckets * sizeof *m->buckets);
    if (!m->entries || !m->buckets) {
        pw_mshr_release(m);
        return pw_fail_memory(err, name);
    }
    memset(m->buckets, 0xff, buckets * sizeof *m->buckets);
    m->free = UINT32_MAX;
    return PW_OK;
}

void pw_mshr_release(struct pw_mshr *m)
{
    free(m->entries);
    free(m->buckets);
    *m = (struct pw_mshr){0};
}
