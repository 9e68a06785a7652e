/* Managed memory without time: a touch is decided, makes room, arrives and is replayed at once. */
#ifndef PW_TESTS_MANAGED_H
#define PW_TESTS_MANAGED_H

#include "policies.h"
#include "uvm/residency.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static inline struct pw_residency_config managed_config(const char *prefetch, const char *evict, uint64_t capacity)
{
    return (struct pw_residency_config){.prefetch = policy_choice(&pw_prefetch_family, prefetch),
                                        .prefetch_full = policy_choice_or_same(&pw_prefetch_family, prefetch),
                                        .evict = policy_choice(&pw_evict_family, evict),
                                        .capacity = capacity,
                                        .seed = 1};
}

static inline struct pw_residency *managed_create(const struct pw_residency_config *config)
{
    struct pw_residency *r;
    struct pw_error err = {0};
    if (pw_residency_create(config, &r, &err))
        fail_msg("%s", err.message);
    return r;
}

static inline void managed_check(const struct pw_residency *r)
{
    struct pw_error err = {0};
    if (pw_residency_check(r, &err))
        fail_msg("%s", err.message);
}

static inline void managed_destroy(struct pw_residency *r)
{
    managed_check(r);
    pw_residency_destroy(r);
}

/* An allocation of application 0 whose first byte is the first of 2 MiB block `block` of the address space. */
static inline void managed_add(struct pw_residency *r, const char *name, uint64_t block, uint64_t bytes)
{
    struct pw_error err = {0};
    if (pw_residency_add(r, 0, name, (pw_vpn){block * PW_BLOCK_PAGES}, bytes, &err))
        fail_msg("%s", err.message);
}

static inline pw_page_id managed_page(const struct pw_residency *r, uint64_t vpn)
{
    pw_page_id page = pw_residency_find(r, 0, (pw_vpn){vpn});
    if (page == PW_NO_PAGE)
        fail_msg("page %llu is in no allocation", (unsigned long long)vpn);
    return page;
}

/* What one of the prefetch or eviction policies that need no random numbers says of a block. */
static inline struct pw_page_mask managed_prefetch(const char *name, const struct pw_prefetch_view *view)
{
    struct pw_policy_use use;
    const struct pw_policy *policy = policy_named(&pw_prefetch_family, name);
    void *state = policy_instance(&use, &pw_prefetch_family, policy, &(struct pw_prefetch_environment){0});
    struct pw_page_mask out = {0};
    pw_prefetch_policy_of(policy)->choose(state, view, &out);
    pw_policy_use_release(&use);
    return out;
}

static inline struct pw_page_mask managed_evict(const char *name, const struct pw_evict_view *view)
{
    struct pw_policy_use use;
    const struct pw_policy *policy = policy_named(&pw_evict_family, name);
    void *state = policy_instance(&use, &pw_evict_family, policy, &(struct pw_evict_environment){0});
    struct pw_page_mask out = {0};
    pw_evict_policy_of(policy)->choose(state, view, &out);
    pw_policy_use_release(&use);
    return out;
}

/* What a touch moved. */
struct managed_touch {
    bool fault;
    struct pw_fetch in;
    struct pw_page_mask out; /* of whichever blocks */
    unsigned pages_out, evictions;
};

/* Room for a fetch: prefetched pages are given up when nothing may leave. */
static inline void managed_make_room(struct pw_residency *r, struct managed_touch *t)
{
    struct pw_eviction e;
    while (pw_residency_room(r) < pw_mask_count(&t->in.faulted) + pw_mask_count(&t->in.prefetched)) {
        if (pw_residency_evict(r, &e)) {
            t->out = pw_mask_or(t->out, &e.pages);
            t->pages_out += pw_mask_count(&e.pages);
            t->evictions++;
            continue;
        }
        if (!pw_mask_any(&t->in.prefetched))
            fail_msg("no page may leave");
        struct pw_page_mask gone = pw_residency_give_up(r, t->in.block, &t->in.prefetched);
        t->in.prefetched = pw_mask_without(t->in.prefetched, &gone);
    }
}

/* Touches a page that may be absent. */
static inline struct managed_touch managed_access(struct pw_residency *r, pw_page_id page, bool write)
{
    struct managed_touch t = {0};
    if (pw_residency_state(r, page) == PW_PAGE_ABSENT) {
        struct pw_page_mask asked = {0}, all;
        pw_mask_add(&asked, page % PW_BLOCK_PAGES);
        pw_residency_decide(r, page / PW_BLOCK_PAGES, &asked, &t.in);
        t.fault = true;
        managed_make_room(r, &t);
        all = pw_mask_or(t.in.faulted, &t.in.prefetched);
        pw_residency_grant(r, t.in.block, &all);
        pw_residency_arrive(r, t.in.block, &all);
    }
    pw_residency_touch(r, page, write);
    return t;
}

/* Page `vpn` of application 0. */
static inline struct managed_touch managed_read(struct pw_residency *r, uint64_t vpn)
{
    return managed_access(r, managed_page(r, vpn), false);
}

static inline bool managed_has(const struct pw_residency *r, uint64_t vpn)
{
    return pw_residency_state(r, managed_page(r, vpn)) == PW_PAGE_RESIDENT;
}

#endif
