/* A page table of its own in a memory of its own, for unit tests. */
#ifndef PW_TESTS_TABLE_FIXTURE_H
#define PW_TESTS_TABLE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "vm/page_table.h"

#define MIB (1ULL << 20)

struct table_fixture {
    struct pw_frames *frames;
    struct pw_page_table *table;
};

static inline struct table_fixture table_create(uint64_t bytes, pw_asid asid, uint32_t stride)
{
    struct table_fixture x = {0};
    struct pw_error err = {0};
    assert_int_equal(pw_frames_create(bytes, &x.frames, &err), PW_OK);
    struct pw_page_table_config config = {.asid = asid,
                                          .entry_stride = stride,
                                          .frames = x.frames,
                                          .policy = pw_frame_policy_of(pw_frame_family.policies[0])};
    assert_int_equal(pw_page_table_create(&config, &x.table, &err), PW_OK);
    return x;
}

/* All frames of nodes must have come back; those that were mapped were never taken. */
static inline void table_destroy(struct table_fixture x)
{
    pw_page_table_destroy(x.table);
    assert_int_equal(pw_frames_free(x.frames), pw_frames_total(x.frames));
    pw_frames_destroy(x.frames);
}

static inline enum pw_status table_map(struct table_fixture x, uint64_t vpn, uint32_t frame, enum pw_page_order order)
{
    struct pw_error err;
    return pw_page_table_map(x.table, (pw_vpn){vpn}, (pw_pfn){frame}, order, &err);
}

static inline void table_expect(struct table_fixture x, uint64_t vpn, uint32_t frame, enum pw_page_order order)
{
    struct pw_translation found = pw_page_table_lookup(x.table, (pw_vpn){vpn});
    assert_true(found.present);
    assert_int_equal(found.frame.v, frame);
    assert_int_equal(found.order, order);
}

#endif
