/* What several GPUs have in common, and what connects them: the fabric, the host's IOMMU, the placement of pages.
 *
 * A system has these where it has an IOMMU (iommu.walkers), one GPU or many; without, its only GPU walks all pages by
 * itself. */
#include "system/system.h"

#include <stdlib.h>

static enum pw_status create_placement(struct pw_system *s, struct pw_error *err)
{
    const struct pw_policy *policy = pw_policy_chosen(&pw_place_family, &s->config.place.policy);
    enum pw_status status = pw_policy_use_init(&s->place_use, &s->policies, "place.policy", policy,
                                               &s->config.place.policy, s->app_count, err);
    if (status == PW_OK)
        status = pw_policy_use_add(&s->place_use, NULL, &s->placement.state, err);
    if (status == PW_OK)
        s->placement.policy = pw_place_policy_of(policy);
    return status;
}

static enum pw_status create_iommu(struct pw_system *s, struct pw_error *err)
{
    struct pw_iommu_wiring wiring = {.events = s->events,
                                     .fabric = s->fabric,
                                     .message_bytes = s->config.fabric.request_bytes,
                                     .gpus = s->node_count,
                                     .apps = s->app_count,
                                     .mover = s->moves,
                                     .moves = s->moves ? pw_moves_ask : NULL};
    return pw_iommu_create(&s->config.iommu, &wiring, &s->iommu, err);
}

enum pw_status pw_several_create(struct pw_system *s, struct pw_error *err)
{
    const struct pw_config *c = &s->config;
    s->memories = calloc(s->node_count, sizeof(struct pw_physical_memory *));
    s->peers = (struct pw_peers){.request_bytes = c->fabric.request_bytes,
                                 .header_bytes = c->fabric.header_bytes,
                                 .line_shift = pw_config_frame_shift(c) + PW_PAGE_SHIFT - PW_LINE_SHIFT,
                                 .count = s->node_count,
                                 .memories = calloc(s->node_count, sizeof(struct pw_memory *))};
    if (!s->memories || !s->peers.memories)
        return pw_fail_memory(err, "system");
    enum pw_status status = create_placement(s, err);
    if (status == PW_OK)
        status = pw_fabric_create(&c->fabric, s->node_count, c->gpu.clock_mhz, s->events, &s->fabric, err);
    s->peers.fabric = s->fabric;
    if (status == PW_OK && c->place.remote != PW_REMOTE_DIRECT)
        status = pw_moves_create(s, &s->moves, err);
    return status == PW_OK ? create_iommu(s, err) : status;
}

void pw_several_destroy(struct pw_system *s)
{
    pw_iommu_destroy(s->iommu);
    pw_moves_destroy(s->moves);
    pw_fabric_destroy(s->fabric);
    pw_policy_use_release(&s->place_use);
    free(s->peers.memories);
    free(s->memories);
}

void pw_several_register(struct pw_system *s)
{
    pw_iommu_register(s->iommu, s->stats);
    pw_fabric_register(s->fabric, s->stats);
    if (s->moves)
        pw_moves_register(s->moves, s->stats);
}

void pw_several_join(struct pw_node *n)
{
    const struct pw_system *s = n->system;
    if (s->node_count == 1)
        return;
    s->memories[n->index] = &n->physical;
    n->physical.all = s->memories;
    n->physical.count = s->node_count;
    n->physical.frame_shift = pw_config_frame_shift(&s->config);
    n->physical.first_frame = n->index << n->physical.frame_shift;
}

static void touch(void *node, unsigned gpu, pw_asid asid, pw_vpn vpn)
{
    struct pw_system *s = ((struct pw_node *)node)->system;
    struct pw_address_space *space = &s->spaces[asid];
    pw_vpn page = {vpn.v >> space->order << space->order};
    if (!pw_address_space_awaits_touch(space, page))
        return;
    if (pw_address_space_map_near(space, page, gpu, &gpu)) {
        struct pw_page_manager *manager = s->nodes[gpu].manager;
        if (manager)
            pw_page_manager_arrived(manager, asid, page, (pw_vpn){page.v + (1ULL << space->order)});
        return;
    }
    struct pw_error err;
    pw_fail(&err, PW_USER_ERROR,
            "no GPU has memory left for the pages of application %u; choose a smaller size or a "
            "larger dram.bytes",
            asid);
    pw_system_fail(s, &err);
}

static bool moving(void *node, pw_asid asid, pw_vpn vpn)
{
    return pw_moves_has(((struct pw_node *)node)->system->moves, asid, vpn);
}

void pw_several_wire(struct pw_node *n, struct pw_gpu_wiring *wiring)
{
    struct pw_system *s = n->system;
    wiring->gpu = n->index;
    wiring->physical = &n->physical;
    wiring->iommu = s->iommu;
    if (s->node_count == 1)
        return;
    wiring->peers = &s->peers;
    wiring->frames = (uint64_t)s->node_count << n->physical.frame_shift;
    wiring->pages_move = s->moves;
    wiring->touch = s->placement.policy->choose ? NULL : touch;
    wiring->moving = s->moves ? moving : NULL;
}
