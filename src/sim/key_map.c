/* The buckets of a table of records by number. What it is for is said in key_map.h. */
#include "sim/key_map.h"

#include <stdlib.h>

enum { FIRST_BUCKETS = 16, LAST_BUCKETS = 1 << 24 };

enum pw_status pw_key_map_init(struct pw_key_map *m, const char *what, struct pw_error *err)
{
    *m = (struct pw_key_map){.buckets = calloc(FIRST_BUCKETS, sizeof(struct pw_key_link *)), .mask = FIRST_BUCKETS - 1};
    return m->buckets ? PW_OK : pw_fail_memory(err, what);
}

void pw_key_map_release(struct pw_key_map *m)
{
    free(m->buckets);
    *m = (struct pw_key_map){0};
}

static void put(struct pw_key_map *m, struct pw_key_link *link)
{
    struct pw_key_link **bucket = &m->buckets[pw_key_map_bucket(m, link->key)];
    link->next = *bucket;
    *bucket = link;
}

static void double_buckets(struct pw_key_map *m)
{
    struct pw_key_map old = *m;
    uint32_t count = 2 * (m->mask + 1);
    struct pw_key_link **buckets = count <= LAST_BUCKETS ? calloc(count, sizeof(struct pw_key_link *)) : NULL;
    if (!buckets)
        return;
    m->buckets = buckets;
    m->mask = count - 1;
    for (uint32_t i = 0; i <= old.mask; i++)
        for (struct pw_key_link *l = old.buckets[i], *next; l; l = next) {
            next = l->next;
            put(m, l);
        }
    free(old.buckets);
}

void pw_key_map_add(struct pw_key_map *m, struct pw_key_link *link, uint64_t key)
{
    if (m->count > m->mask)
        double_buckets(m);
    link->key = key;
    put(m, link);
    m->count++;
}

void pw_key_map_remove(struct pw_key_map *m, const struct pw_key_link *link)
{
    struct pw_key_link **at = &m->buckets[pw_key_map_bucket(m, link->key)];
    while (*at != link)
        at = &(*at)->next;
    *at = link->next;
    m->count--;
}

struct pw_key_link *pw_key_map_next(const struct pw_key_map *m, const struct pw_key_link *link)
{
    uint32_t bucket = link ? pw_key_map_bucket(m, link->key) + 1 : 0;
    if (link && link->next)
        return link->next;
    for (; m->count && bucket <= m->mask; bucket++)
        if (m->buckets[bucket])
            return m->buckets[bucket];
    return NULL;
}
