/* Connects the page manager of a node with address spaces and the GPU, and backs memory that is not managed. */
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

/* Page tables are those of all nodes, and so are translations. */
static unsigned shootdown(void *node, pw_asid asid, pw_vpn first, pw_vpn outer)
{
    return pw_system_shootdown(((struct pw_node *)node)->system, asid, first, outer);
}

static void pause(void *node, pw_cycle until)
{
    pw_gpu_pause(((struct pw_node *)node)->gpu, until);
}

static pw_cycle paused_until(const void *node)
{
    return pw_gpu_paused_until(((const struct pw_node *)node)->gpu);
}

enum pw_status pw_pages_create(struct pw_node *n, struct pw_error *err)
{
    struct pw_system *s = n->system;
    const struct pw_config *c = &s->config;
    const struct pw_compact_policy *compact = pw_compact_config_policy(&c->compact);
    if (!pw_coalesce_config_enabled(&c->coalesce) && !compact->splinter && !compact->makes_room)
        return PW_OK;
    struct pw_page_manager_wiring wiring = {.events = s->events,
                                            .policies = &n->policies,
                                            .pool = pw_gpu_requests(n->gpu),
                                            .memory = pw_gpu_memory(n->gpu),
                                            .mmu = pw_gpu_mmu(n->gpu),
                                            .physical = &n->physical,
                                            .spaces = s->spaces,
                                            .apps = s->app_count,
                                            .gpu = n->index,
                                            .timeline = s->timeline,
                                            .page_copy_cycles = page_copy_cycles(&c->gpu),
                                            .machine = n,
                                            .shootdown = shootdown,
                                            .pause = pause,
                                            .paused_until = paused_until};
    enum pw_status status = pw_page_manager_create(&c->coalesce, &c->compact, &wiring, &n->manager, err);
    if (status != PW_OK)
        return status;
    pw_gpu_connect_manager(n->gpu, &(struct pw_gpu_manager){n->manager, pw_page_manager_written});
    n->physical.manager = n->manager;
    return PW_OK;
}

void pw_pages_destroy(struct pw_node *n)
{
    n->physical.manager = NULL;
    pw_page_manager_destroy(n->manager);
    n->manager = NULL;
}

/* Tells of data that has come with its frames, once. */
static void data_has_come(struct pw_system *s, const struct pw_address_space *space, struct pw_range *r)
{
    if (s->config.gpu.l2.copies && !r->managed && !r->come && !r->told)
        pw_contents_pass(s, space, (pw_vaddr){r->first << PW_PAGE_SHIFT}, r->bytes, PW_CONTENTS_COPIED);
    for (unsigned i = 0; i < pw_physical_memories(space->physical); i++) {
        struct pw_page_manager *manager = pw_physical_memory_at(space->physical, i)->manager;
        if (manager && !r->managed && !r->come)
            pw_page_manager_arrived(manager, space->asid, (pw_vpn){r->first}, (pw_vpn){r->outer});
    }
    r->come = true;
}

enum pw_status pw_pages_back(struct pw_system *s, unsigned first_app, unsigned count, unsigned *out_failed,
                             struct pw_error *err)
{
    struct pw_address_space *spaces = &s->spaces[first_app];
    size_t unmapped[PW_MAX_APPS];
    struct pw_error shortage;
    enum pw_status status;
    for (unsigned i = 0; i < count; i++)
        unmapped[i] = spaces[i].unmapped;
    do
        status = pw_address_spaces_back(spaces, count, out_failed, &shortage);
    while (status != PW_OK && pw_apps_give_up(s));
    if (status != PW_OK) {
        *out_failed += first_app;
        *err = shortage;
        return status;
    }
    for (unsigned i = 0; i < count; i++)
        for (size_t range = unmapped[i]; range < spaces[i].range_count; range++)
            data_has_come(s, &spaces[i], &spaces[i].ranges[range]);
    return PW_OK;
}

enum pw_status pw_pages_back_one(struct pw_app *a, pw_vaddr base, struct pw_error *err)
{
    struct pw_error shortage;
    enum pw_status status;
    do
        status = pw_address_space_back(a->space, base, &shortage);
    while (status == PW_USER_ERROR && pw_apps_give_up(a->system));
    if (status == PW_OK)
        data_has_come(a->system, a->space, pw_address_space_find(a->space, base));
    else
        *err = shortage;
    return status;
}
