/* Connects the driver of demand paging, which is the host's, with address spaces and the node whose memory it
 * manages. */
#include "system/paging.h"

#include "system/system.h"

const struct pw_option pw_paging_options[] = {
    {"mode", PW_OPTION_CHOICE, offsetof(struct pw_paging_config, mode), 0, 0, "free", "",
     (const char *const[]){"free", "preload", "demand", NULL},
     "How data comes to the GPU: without taking time, all of it before the first kernel, or page by page on demand.",
     false},
    {0}};

/* Physical addresses are those of 2^32 lines of 128 bytes. Host memory lies behind device memory, from the next
 * multiple of 2 MiB on, so that large pages are aligned; a page's place there is its number. */
#define MOST_FRAMES (1ULL << (32 - PW_PAGE_SHIFT + PW_LINE_SHIFT))

static uint64_t first_host_frame(const struct pw_node *n)
{
    return (pw_frames_total(n->physical.frames) + (1U << PW_PAGE_2M) - 1) >> PW_PAGE_2M << PW_PAGE_2M;
}

static struct pw_address_space *space_of(const struct pw_node *n, pw_asid asid)
{
    return &n->system->spaces[asid];
}

static bool map_remote(void *node, pw_asid asid, pw_vpn vpn, pw_page_id page)
{
    const struct pw_node *n = node;
    struct pw_address_space *space = space_of(n, asid);
    uint64_t frame = first_host_frame(n) + page;
    return pw_gpu_extend_frames(n->gpu, frame + (1U << space->order)) &&
           pw_address_space_map_host(space, vpn, (pw_pfn){(uint32_t)frame});
}

/* Page tables live in device memory too: a 64th of it is enough for eight times as much managed memory. Beyond that
 * they take room from data. */
enum { TABLE_SHARE = 64 };

static bool map(void *node, pw_asid asid, pw_vpn vpn)
{
    const struct pw_node *n = node;
    if (!pw_address_space_map(space_of(n, asid), vpn))
        return false;
    if (n->manager)
        pw_page_manager_arrived(n->manager, asid, vpn, (pw_vpn){vpn.v + 1});
    return true;
}

static unsigned table_growth(void *node, pw_asid asid, pw_vpn vpn)
{
    const struct pw_address_space *space = space_of(node, asid);
    return pw_page_table_growth(space->table, vpn, space->order);
}

/* Frames of tables come from 2 MiB blocks that are not free altogether as long as there are such frames. */
static uint64_t mappable(void *node, uint64_t table_frames)
{
    const struct pw_node *n = node;
    const struct pw_frames *frames = n->physical.frames;
    uint64_t free = pw_frames_free(frames), block = 1ULL << PW_PAGE_2M;
    if (pw_page_config_order(&n->system->config.page) != PW_PAGE_2M)
        return free > table_frames ? free - table_frames : 0;
    uint64_t whole = pw_frames_free_blocks(frames) * block, loose = free - whole;
    uint64_t broken = table_frames > loose ? (table_frames - loose + block - 1) / block * block : 0;
    return whole > broken ? whole - broken : 0;
}

static void unmap(void *node, pw_asid asid, pw_vpn vpn, bool freed)
{
    const struct pw_node *n = node;
    struct pw_address_space *space = space_of(n, asid);
    pw_pfn frame = freed ? pw_address_space_unmap_freed(space, vpn) : pw_address_space_unmap(space, vpn);
    pw_gpu_forget_page(n->gpu, asid, vpn, frame, space->order);
}

static bool busy(void *node, pw_asid asid, pw_vpn vpn)
{
    const struct pw_node *n = node;
    const struct pw_address_space *space = space_of(n, asid);
    return pw_gpu_page_busy(n->gpu, pw_page_table_lookup(space->table, vpn).frame, space->order);
}

static void replay(void *node, pw_asid asid, pw_vpn vpn, pw_cycle now)
{
    pw_mmu_page_arrived(pw_gpu_mmu(((struct pw_node *)node)->gpu), asid, vpn, now);
}

static void failed(void *node, const struct pw_error *err)
{
    pw_system_fail(((struct pw_node *)node)->system, err);
}

enum pw_status pw_paging_create(struct pw_system *s, struct pw_error *err)
{
    if (s->config.paging.mode == PW_PAGING_FREE)
        return PW_OK;
    enum pw_status status = PW_OK;
    for (unsigned i = 0; status == PW_OK && i < s->node_count; i++)
        status = pw_link_create(&s->config.link, s->config.gpu.clock_mhz, s->events, &s->nodes[i].link, err);
    if (status != PW_OK)
        return status;
    struct pw_node *n = pw_system_home(s);
    uint64_t usable = n->physical.usable, before_host = first_host_frame(n);
    uint64_t for_tables = pw_frames_total(n->physical.frames) / TABLE_SHARE;
    struct pw_uvm_wiring wiring = {.events = s->events,
                                   .policies = &s->policies,
                                   .link = n->link,
                                   .timeline = s->timeline,
                                   .apps = s->app_count,
                                   .frames = usable - (for_tables < usable / 2 ? for_tables : usable / 2),
                                   .order = pw_page_config_order(&s->config.page),
                                   .seed = s->seed,
                                   .machine = n,
                                   .map = map,
                                   .table_growth = table_growth,
                                   .mappable = mappable,
                                   .map_remote = map_remote,
                                   .host_pages = before_host < MOST_FRAMES ? MOST_FRAMES - before_host : 0,
                                   .unmap = unmap,
                                   .busy = busy,
                                   .replay = replay,
                                   .failed = failed};
    return pw_uvm_create(&s->config.uvm, &wiring, &s->uvm, err);
}

enum pw_status pw_paging_measure(struct pw_system *s, struct pw_error *err)
{
    const struct pw_uvm_config *c = &s->config.uvm;
    struct pw_footprint footprint;
    if (!s->uvm || c->oversubscription <= 0 || c->oversubscription_of == PW_DATA_AT_LAUNCH)
        return PW_OK;
    enum pw_status status = pw_footprint_find(s, &footprint, err);
    s->data_pages = c->oversubscription_of == PW_DATA_TOUCHED ? footprint.touched : footprint.allocated;
    return status;
}

static void send_for(struct pw_app *a, const struct pw_range *r, pw_event_fn *then)
{
    struct pw_system *s = a->system;
    pw_uvm_prefetch(s->uvm, a->space->asid, (pw_vpn){r->first}, r->outer - r->first, s->events->now, then, a, 0);
}

void pw_paging_send_wanted(struct pw_app *a)
{
    for (size_t i = 0; i < a->space->range_count; i++) {
        if (a->space->ranges[i].wanted)
            send_for(a, &a->space->ranges[i], NULL);
        a->space->ranges[i].wanted = false;
    }
}

bool pw_paging_before_launch(struct pw_app *a, pw_event_fn *then)
{
    if (a->system->config.paging.mode != PW_PAGING_PRELOAD)
        return true;
    const struct pw_range *last = NULL;
    for (size_t i = 0; i < a->space->range_count; i++) {
        struct pw_range *r = &a->space->ranges[i];
        if (r->preloaded)
            continue;
        r->preloaded = true;
        if (last)
            send_for(a, last, NULL);
        last = r;
    }
    if (last)
        send_for(a, last, then);
    return !last;
}
