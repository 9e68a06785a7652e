/* Builds a node and connects it with the system around it. */
#include "system/node.h"

#include "system/system.h"

enum pw_status pw_node_init(struct pw_node *n, struct pw_system *s, unsigned index, struct pw_error *err)
{
    n->system = s;
    n->index = index;
    pw_scope_gpu(index, n->name);
    enum pw_status status =
        pw_physical_memory_init(&n->physical, s->config.gpu.dram.bytes, &s->config.page, s->seed, &n->policies, err);
    if (status == PW_OK)
        pw_several_join(n);
    return status;
}

static void gpu_failed(void *node, const struct pw_error *err)
{
    pw_system_fail(((struct pw_node *)node)->system, err);
}

static void frame_idle(void *node, pw_pfn frame, pw_cycle now)
{
    const struct pw_system *s = ((struct pw_node *)node)->system;
    if (s->uvm)
        pw_uvm_access_ended(s->uvm, now);
    else
        pw_moves_frame_idle(s->moves, frame, now);
}

static enum pw_status create_looks(struct pw_node *n, struct pw_error *err)
{
    const struct pw_system *s = n->system;
    const struct pw_gpu_config *g = &s->config.gpu;
    if (!s->config.sim.reuse)
        return PW_OK;
    return pw_page_looks_create(s->app_count, g->sm.count, (uint8_t)__builtin_ctz(g->orders), &n->looks, err);
}

enum pw_status pw_node_connect(struct pw_node *n, struct pw_error *err)
{
    struct pw_system *s = n->system;
    for (unsigned i = 0; i < s->app_count; i++)
        n->tables[i] = s->spaces[i].table;
    enum pw_status status = create_looks(n, err);
    if (status != PW_OK)
        return status;
    struct pw_gpu_wiring wiring = {.events = s->events,
                                   .policies = &n->policies,
                                   .tables = n->tables,
                                   .touched = s->touched,
                                   .timeline = s->timeline,
                                   .page_log = s->page_log,
                                   .looks = n->looks,
                                   .snapshots = s->config.sim.snapshots,
                                   .breakdown = s->spec->breakdown,
                                   .uvm = s->uvm,
                                   .link = n->link,
                                   .frames = pw_frames_total(n->physical.frames),
                                   .listener = s->open ? s->open->listener : (struct pw_listener){0},
                                   .seed = s->seed,
                                   .apps = s->app_count,
                                   .node = n,
                                   .launch_done = pw_app_launch_done,
                                   .frame_idle = frame_idle,
                                   .failed = gpu_failed,
                                   .denied = pw_app_denied};
    pw_several_wire(n, &wiring);
    if (s->timeline && s->node_count > 1)
        pw_timeline_part(s->timeline, n->name);
    status = pw_gpu_create(&s->config.gpu, &wiring, &n->gpu, err);
    if (status == PW_OK)
        status = pw_pages_create(n, err);
    if (s->timeline)
        pw_timeline_part(s->timeline, NULL);
    return status;
}

void pw_node_disconnect(struct pw_node *n)
{
    pw_pages_destroy(n);
    pw_gpu_destroy(n->gpu);
    n->gpu = NULL;
}

void pw_node_release(struct pw_node *n)
{
    pw_page_looks_destroy(n->looks);
    pw_link_destroy(n->link);
    pw_physical_memory_release(&n->physical);
}

enum pw_status pw_node_allocated(const struct pw_node *n, pw_asid app, pw_vpn first, uint64_t bytes,
                                 struct pw_error *err)
{
    return n->looks ? pw_page_looks_allocated(n->looks, app, first, bytes, err) : PW_OK;
}

void pw_node_launched(const struct pw_node *n, pw_asid app)
{
    if (n->looks)
        pw_page_looks_launched(n->looks, app);
}

void pw_node_register_gpu(struct pw_node *n, struct pw_stats *stats)
{
    pw_gpu_register(n->gpu, stats);
    if (n->looks)
        pw_page_looks_register(n->looks, stats);
}

static void level(struct pw_stats *stats, const char *name, const char *help, const uint64_t *bytes)
{
    pw_stats_counter(stats, name, "bytes", help, bytes, 0, 0);
    pw_stats_level(stats, name);
}

void pw_node_register_memory(struct pw_node *n, struct pw_stats *stats)
{
    const struct pw_physical_memory *p = &n->physical;
    level(
        stats, "mem.foreign_bytes",
        "Bytes of the 4 KiB pages of foreign data (page.fragmentation). Memory bloat, as in Mosaic's Table 2, has them "
        "on both sides: (mem.held_bytes + mem.foreign_bytes) / (mem.mapped_bytes with 4 KiB pages + "
        "mem.foreign_bytes).",
        &p->foreign_bytes);
    if (!p->policy->blocks)
        return;
    level(stats, "mem.foreign_frame_bytes",
          "Bytes of the 2 MiB frames that have foreign data, what is free in them included.", &p->foreign_frame_bytes);
    pw_stats_counter(stats, "page.guarantee_violations", "pages",
                     "Base pages and page tables put into a 2 MiB frame with another application's pages.",
                     &p->violations, 0, 0);
}

void pw_node_register_manager(struct pw_node *n, struct pw_stats *stats)
{
    if (n->manager)
        pw_page_manager_register(n->manager, stats);
}

void pw_node_register_link(struct pw_node *n, struct pw_stats *stats)
{
    if (n->link)
        pw_link_register(n->link, stats);
}

void pw_node_register_cost(struct pw_node *n, struct pw_stats *stats)
{
    pw_cost_register(&n->system->cost, stats);
}
