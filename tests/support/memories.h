/* The memories of several GPUs, each of which knows the others. */
#ifndef PW_TESTS_MEMORIES_H
#define PW_TESTS_MEMORIES_H

#include "policies.h"
#include "vm/physical_memory.h"

enum { MEMORIES = 3 };

struct memories {
    struct pw_physical_memory each[MEMORIES];
    struct pw_physical_memory *all[MEMORIES];
};

static inline struct pw_page_config memories_config(const char *frames, uint32_t stride)
{
    return (struct pw_page_config){.entry_stride = stride, .frames = policy_choice(&pw_frame_family, frames)};
}

static inline void memories_open(struct memories *m, uint64_t bytes, const struct pw_page_config *config)
{
    struct pw_error err;
    uint32_t shift = PW_PAGE_2M;
    while (1ULL << shift < bytes >> PW_PAGE_SHIFT)
        shift++;
    for (unsigned i = 0; i < MEMORIES; i++) {
        struct pw_physical_memory *p = m->all[i] = &m->each[i];
        assert_int_equal(pw_physical_memory_init(p, bytes, config, 1 + i, NULL, &err), PW_OK);
        p->all = m->all;
        p->count = MEMORIES;
        p->frame_shift = shift;
        p->first_frame = i << shift;
    }
}

/* Everything has been given back. */
static inline void memories_close(struct memories *m)
{
    for (unsigned i = 0; i < MEMORIES; i++) {
        struct pw_error err;
        assert_int_equal(pw_frames_free(m->each[i].frames), pw_frames_total(m->each[i].frames));
        assert_int_equal(pw_frames_check(m->each[i].frames, &err), PW_OK);
        pw_physical_memory_release(&m->each[i]);
    }
}

#endif
