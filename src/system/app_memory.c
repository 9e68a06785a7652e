/* The memory of an application: what its program's calls do, and what is left of it when the program starts over.
 *
 * With apps.restart = keep nothing is left to do then. The allocations of the run before stay as they are: frames,
 * mappings, large pages, TLB entries, and with demand paging residency, dirty bits and advice. The next run makes the
 * same allocations in the same order, since a program's random numbers are the same in every run, and so gets the same
 * addresses; each of its calls takes up what is there. This is how the programs of Mosaic and MASK were relaunched:
 * inside one process, by a library whose free does nothing. What a program frees in the middle of its run is freed;
 * what it frees after its last launch it frees because it ends, and that is kept. To know which is which, a free is
 * carried out when the program goes on to its next allocation or launch, at the same simulated time.
 *
 * Allocations are given up where the next run cannot take them up: those that were never backed, those of which part is
 * gone, all that are left once one comes that does not fit between them (an input file may have changed), and those not
 * taken up yet when there is no frame for what a program asks for (what it freed in the middle is there a second time,
 * beside what it allocated afterwards).
 *
 * With apps.restart = fresh the next run begins in an empty address space. */
#include "system/system.h"

/* The explicit prefetch call, sent when it is known how much memory there is. */
static enum pw_status prefetch(struct pw_app *a, pw_vaddr base, struct pw_error *err)
{
    struct pw_range *r = pw_address_space_find(a->space, base);
    if (!r)
        return pw_fail(err, PW_FAILED, "address 0x%llx is prefetched but not allocated", (unsigned long long)base.v);
    r->wanted = true;
    if (!a->system->starting)
        pw_paging_send_wanted(a);
    return PW_OK;
}

enum pw_status pw_app_free_now(struct pw_app *a, pw_vaddr base, struct pw_error *err)
{
    pw_vpn first, outer;
    enum pw_status status = PW_OK;
    if (a->system->uvm)
        status = pw_uvm_free(a->system->uvm, a->space->asid, pw_vpn_of(base), err);
    if (status == PW_OK)
        status = pw_address_space_free(a->space, base, &first, &outer, err);
    if (status == PW_OK)
        pw_system_shootdown(a->system, a->space->asid, first, outer);
    return status;
}

static enum pw_status free_range(struct pw_app *a, const struct pw_range *r, struct pw_error *err)
{
    return pw_app_free_now(a, (pw_vaddr){r->first << PW_PAGE_SHIFT}, err);
}

enum pw_status pw_app_free_leaving(struct pw_app *a, struct pw_error *err)
{
    enum pw_status status = PW_OK;
    for (size_t i = a->space->live; status == PW_OK && i-- > 0;)
        if (a->space->ranges[i].leaving)
            status = free_range(a, &a->space->ranges[i], err);
    return status;
}

/* Frees what earlier runs have left and the present one has not taken up. */
static enum pw_status give_up(struct pw_app *a, struct pw_error *err)
{
    enum pw_status status = PW_OK;
    while (status == PW_OK && a->space->range_count > a->space->live)
        status = free_range(a, &a->space->ranges[a->space->range_count - 1], err);
    return status;
}

bool pw_apps_give_up(struct pw_system *s)
{
    bool any = false;
    struct pw_error err;
    for (unsigned i = 0; i < s->app_count; i++) {
        const struct pw_address_space *space = s->apps[i].space;
        any |= space->range_count > space->live && give_up(&s->apps[i], &err) == PW_OK;
    }
    return any;
}

/* Tells all that keep a list of allocations. */
static enum pw_status announce(struct pw_app *a, const char *name, uint64_t bytes, pw_vaddr base, struct pw_error *err)
{
    struct pw_uvm *uvm = a->system->uvm;
    enum pw_status status = PW_OK;
    if (a->system->page_log)
        pw_page_log_allocated(a->system->page_log, a->space->asid, name, pw_vpn_of(base), bytes);
    for (unsigned i = 0; status == PW_OK && i < a->system->node_count; i++)
        status = pw_node_allocated(&a->system->nodes[i], a->space->asid, pw_vpn_of(base), bytes, err);
    if (status == PW_OK && uvm)
        status = pw_uvm_allocate(uvm, a->space->asid, name, pw_vpn_of(base), bytes, err);
    return status;
}

/* Addresses for an allocation that no earlier run has left. */
static enum pw_status allocate(struct pw_app *a, const char *name, uint64_t bytes, pw_vaddr *out, struct pw_error *err)
{
    enum pw_status status = PW_OK;
    if (pw_address_space_collides(a->space, bytes))
        status = give_up(a, err);
    if (status == PW_OK)
        status = pw_address_space_allocate(a->space, name, bytes, a->system->uvm != NULL, out, err);
    return status == PW_OK ? announce(a, name, bytes, *out, err) : status;
}

enum pw_status pw_app_alloc_at(struct pw_app *a, const char *name, pw_vaddr at, uint64_t bytes, struct pw_error *err)
{
    struct pw_uvm *uvm = a->system->uvm;
    enum pw_status status = pw_address_space_allocate_at(a->space, name, at, bytes, uvm != NULL, err);
    if (status == PW_OK)
        status = announce(a, name, bytes, at, err);
    return status == PW_OK && uvm && pw_uvm_prefetches(uvm, name) ? prefetch(a, at, err) : status;
}

enum pw_status pw_app_alloc(void *app, uint32_t id, const char *name, uint64_t bytes, pw_vaddr *out,
                            struct pw_error *err)
{
    struct pw_app *a = app;
    struct pw_uvm *uvm = a->system->uvm;
    enum pw_status status = pw_app_free_leaving(a, err);
    if (status == PW_OK && pw_address_space_take_up(a->space, name, bytes, out))
        status = pw_app_protect(a, id, *out, PW_MAY_ALL, err); /* as a new one would be */
    else if (status == PW_OK)
        status = allocate(a, name, bytes, out, err);
    return status == PW_OK && uvm && pw_uvm_prefetches(uvm, name) ? prefetch(a, *out, err) : status;
}

static bool may_keep(const struct pw_app *a)
{
    return a->system->config.apps.restart == PW_RESTART_KEEP && a->system->app_count > 1;
}

enum pw_status pw_app_free(void *app, uint32_t id, pw_vaddr base, uint64_t bytes, struct pw_error *err)
{
    (void)id;
    (void)bytes;
    struct pw_app *a = app;
    struct pw_range *r = may_keep(a) ? pw_address_space_find(a->space, base) : NULL;
    if (r && !r->leaving) {
        r->leaving = true;
        return PW_OK;
    }
    enum pw_status status = pw_app_free_leaving(a, err);
    return status == PW_OK ? pw_app_free_now(a, base, err) : status;
}

enum pw_status pw_app_prefetch(void *app, uint32_t id, pw_vaddr base, struct pw_error *err)
{
    (void)id;
    struct pw_app *a = app;
    return a->system->uvm ? prefetch(a, base, err) : pw_pages_back_one(a, base, err);
}

enum pw_status pw_app_advise(void *app, uint32_t id, pw_vaddr base, unsigned advice, struct pw_error *err)
{
    (void)id;
    struct pw_app *a = app;
    return a->system->uvm ? pw_uvm_advise(a->system->uvm, a->space->asid, pw_vpn_of(base), advice, err) : PW_OK;
}

static enum pw_status keep(struct pw_app *a, struct pw_error *err)
{
    enum pw_status status = give_up(a, err);
    for (size_t i = a->space->range_count; status == PW_OK && i-- > 0;) {
        struct pw_range *r = &a->space->ranges[i];
        r->leaving = false;
        if (r->mapped < r->outer || r->freed)
            status = free_range(a, r, err);
    }
    pw_address_space_start_over(a->space);
    return status;
}

static enum pw_status empty(struct pw_app *a, struct pw_error *err)
{
    const struct pw_system *s = a->system;
    pw_vpn first, outer;
    enum pw_status status = PW_OK;
    for (size_t i = 0; s->uvm && status == PW_OK && i < a->space->range_count; i++)
        status = pw_uvm_free(s->uvm, a->space->asid, (pw_vpn){a->space->ranges[i].first}, err);
    pw_address_space_reset(a->space, &first, &outer);
    pw_system_shootdown(a->system, a->space->asid, first, outer);
    return status;
}

enum pw_status pw_app_renew_memory(struct pw_app *a, struct pw_error *err)
{
    enum pw_status status = may_keep(a) ? keep(a, err) : empty(a, err);
    if (a->system->page_log)
        pw_system_log_counters(a->system, a->index);
    return status;
}
