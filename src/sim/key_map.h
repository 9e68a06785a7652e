/* Finds records by a number: an intrusive hash table that grows with what is in it.
 *
 * A record begins with its link and belongs to whoever put it in, so that nothing is allocated when one comes. Only the
 * table of buckets grows; where there is no memory for that, its lists become longer, and nobody has to hear of it. */
#ifndef PW_SIM_KEY_MAP_H
#define PW_SIM_KEY_MAP_H

#include "sim/status.h"

#include <stddef.h>
#include <stdint.h>

struct pw_key_link {
    struct pw_key_link *next; /* in the same bucket */
    uint64_t key;
};

struct pw_key_map {
    struct pw_key_link **buckets;
    uint32_t mask; /* buckets - 1 */
    uint32_t count;
};

/* `what` is in it, for the message when memory is out. */
enum pw_status pw_key_map_init(struct pw_key_map *m, const char *what, struct pw_error *err);
void pw_key_map_release(struct pw_key_map *m); /* not what is in it */

static inline uint32_t pw_key_map_bucket(const struct pw_key_map *m, uint64_t key)
{
    return (uint32_t)(key * 0x9e3779b97f4a7c15ULL >> 40) & m->mask;
}

/* The link of the record with this key, or NULL. */
static inline struct pw_key_link *pw_key_map_find(const struct pw_key_map *m, uint64_t key)
{
    struct pw_key_link *l = m->count ? m->buckets[pw_key_map_bucket(m, key)] : NULL;
    while (l && l->key != key)
        l = l->next;
    return l;
}

/* Puts a record in; there must be none with this key. */
void pw_key_map_add(struct pw_key_map *m, struct pw_key_link *link, uint64_t key);
/* Takes out a record that is in. */
void pw_key_map_remove(struct pw_key_map *m, const struct pw_key_link *link);

/* Goes over what is in, in no order: the record after `link`, the first one for NULL; NULL at the end. */
struct pw_key_link *pw_key_map_next(const struct pw_key_map *m, const struct pw_key_link *link);

#endif
