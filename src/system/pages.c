/* Connects the page manager with address spaces and the GPU. */
#include "system/pages.h"

#include "mem/dram_clock.h"
#include "policy/coalesce/coalesce_policy.h"
#include "policy/compact/compact_policy.h"
#include "system/system.h"

/* A page is read and written again over one channel, 64 bits at a time (docs/decisions.md). */
static uint32_t page_copy_cycles(const struct pw_gpu_config *c)
{
    struct pw_dram_clock clock = pw_dram_clock_of(c->clock_mhz, c->dram.clock_mhz);
    uint64_t clocks = (2ULL * PW_PAGE_BYTES + c->dram.bytes_per_clock - 1) / c->dram.bytes_per_clock;
    return (uint32_t)pw_dram_clock_begin(&clock, clocks);
}

static unsigned shootdown(void *system, pw_asid asid, pw_vpn first, pw_vpn outer)
{
    return pw_gpu_shootdown(((struct pw_system *)system)->gpu, asid, first, outer);
}

static void pause(void *system, pw_cycle until)
{
    pw_gpu_pause(((struct pw_system *)system)->gpu, until);
}

static pw_cycle paused_until(const void *system)
{
    return pw_gpu_paused_until(((const struct pw_system *)system)->gpu);
}

enum pw_status pw_pages_create(struct pw_system *s, struct pw_error *err)
{
    const struct pw_config *c = &s->config;
    const struct pw_compact_policy *compact = pw_compact_config_policy(&c->compact);
    if (!pw_coalesce_config_enabled(&c->coalesce) && !compact->splinter && !compact->makes_room)
        return PW_OK;
    for (unsigned i = 0; i < s->app_count; i++)
        s->spaces[i] = &s->apps[i].space;
    struct pw_page_manager_wiring wiring = {.events = s->events,
                                            .policies = &s->policies,
                                            .pool = pw_gpu_requests(s->gpu),
                                            .memory = pw_gpu_memory(s->gpu),
                                            .mmu = pw_gpu_mmu(s->gpu),
                                            .physical = &s->physical,
                                            .spaces = s->spaces,
                                            .apps = s->app_count,
                                            .timeline = s->timeline,
                                            .page_copy_cycles = page_copy_cycles(&c->gpu),
                                            .machine = s,
                                            .shootdown = shootdown,
                                            .pause = pause,
                                            .paused_until = paused_until};
    enum pw_status status = pw_page_manager_create(&c->coalesce, &c->compact, &wiring, &s->manager, err);
    if (status != PW_OK)
        return status;
    pw_gpu_connect_manager(s->gpu, &(struct pw_gpu_manager){s->manager, pw_page_manager_written});
    s->physical.manager = s->manager;
    return PW_OK;
}

void pw_pages_destroy(struct pw_system *s)
{
    s->physical.manager = NULL;
    pw_page_manager_destroy(s->manager);
    s->manager = NULL;
}

static void data_has_come(struct pw_system *s, const struct pw_address_space *space, size_t first_range)
{
    for (size_t i = first_range; s->manager && i < space->range_count; i++) {
        const struct pw_range *r = &space->ranges[i];
        if (!r->managed)
            pw_page_manager_arrived(s->manager, space->asid, (pw_vpn){r->first}, (pw_vpn){r->outer});
    }
}

enum pw_status pw_pages_back(struct pw_system *s, unsigned first_app, unsigned count, unsigned *out_failed,
                             struct pw_error *err)
{
    struct pw_address_space *spaces[PW_MAX_APPS] = {NULL};
    size_t unmapped[PW_MAX_APPS];
    for (unsigned i = 0; i < count; i++) {
        spaces[i] = &s->apps[first_app + i].space;
        unmapped[i] = spaces[i]->unmapped;
    }
    enum pw_status status = pw_address_spaces_back(spaces, count, out_failed, err);
    if (status != PW_OK) {
        *out_failed += first_app;
        return status;
    }
    for (unsigned i = 0; i < count; i++)
        data_has_come(s, spaces[i], unmapped[i]);
    return PW_OK;
}

enum pw_status pw_pages_back_one(struct pw_app *a, pw_vaddr base, struct pw_error *err)
{
    enum pw_status status = pw_address_space_back(&a->space, base, err);
    if (status == PW_OK && a->system->manager) {
        const struct pw_range *r = pw_address_space_find(&a->space, base);
        pw_page_manager_arrived(a->system->manager, a->space.asid, (pw_vpn){r->first}, (pw_vpn){r->outer});
    }
    return status;
}

enum pw_status pw_pages_free_managed(struct pw_app *a, pw_vpn first, struct pw_error *err)
{
    struct pw_physical_memory *p = &a->system->physical;
    struct pw_page_manager *manager = p->manager;
    p->manager = NULL;
    enum pw_status status = pw_uvm_free(a->system->uvm, a->space.asid, first, err);
    p->manager = manager;
    return status;
}
