/* What the files of the replayer share: the allocations of a touch file by name, and what their pages do. */
#ifndef PW_EXP_REPLAY_INTERNAL_H
#define PW_EXP_REPLAY_INTERNAL_H

#include "exp/touch/managed_heap.h"
#include "exp/touch/replay.h"

enum { PW_TOUCH_NAME_CAPACITY = 32 };

struct pw_touch_allocation {
    char name[PW_TOUCH_NAME_CAPACITY];
    struct pw_managed_place place;
    uint64_t pages; /* from its first byte on, each of 4 KiB */
    uint64_t line;  /* that allocated it, or freed it last */
    bool live;
};

/* A 2 MiB block that several allocations share. */
struct pw_shared_block {
    struct pw_page_mask on_host;
    uint8_t users[PW_BLOCK_PAGES]; /* allocations that have a part of the page: at most 8 */
};

struct pw_replay {
    struct pw_residency *residency;
    const struct pw_prefetch_policy *rule; /* by which the driver prefetches to the host */
    void *rule_state;
    struct pw_policy_use rule_use;
    struct pw_random random; /* for it */
    struct pw_managed_heap *heap;

    struct pw_touch_allocation *allocations; /* one for each name */
    size_t allocation_count, allocation_capacity;
    uint32_t *index; /* by hash of the name: number plus 1, 0 where there is none */
    size_t index_size;

    struct pw_shared_entry {
        struct pw_shared_block *block; /* NULL where it is not shared */
    } * shared;                        /* by the block's number */
    size_t shared_count;
};

enum pw_status pw_replay_open(struct pw_replay *p, struct pw_residency *r, struct pw_error *err);
void pw_replay_close(struct pw_replay *p);

/* The allocation that has, or had, a name of less than PW_TOUCH_NAME_CAPACITY bytes; NULL when there was none. */
struct pw_touch_allocation *pw_replay_find(const struct pw_replay *p, const char *name);

/* The name is not that of a live allocation; `bytes` is not 0. */
enum pw_status pw_replay_allocate(struct pw_replay *p, const char *name, uint64_t bytes, uint64_t line,
                                  struct pw_error *err);
enum pw_status pw_replay_free(struct pw_replay *p, struct pw_touch_allocation *a, struct pw_error *err);

/* A touch of the page, which the allocation has: fills in what happened. */
void pw_replay_touch(struct pw_replay *p, const struct pw_touch_allocation *a, uint64_t page, struct pw_touch *touch);

#endif
