/* Allocation and release of virtual ranges with their frames. */
#include "vm/page_manager.h"

#include "sim/grow.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALLOCATION_ALIGNMENT = 2 << 20, REGION_PAGES = 1 << PW_PAGE_2M, TABLE_SHARE = 64 };

enum pw_status pw_address_space_init(struct pw_address_space *a, pw_asid asid, const struct pw_page_config *config,
                                     struct pw_physical_memory *physical, struct pw_page_counters *counters,
                                     struct pw_touched *touched, struct pw_error *err)
{
    *a = (struct pw_address_space){.asid = asid,
                                   .order = pw_page_config_order(config),
                                   .physical = physical,
                                   .next = PW_FIRST_ADDRESS,
                                   .counters = counters,
                                   .touched = touched};
    struct pw_page_table_config table = {.asid = asid,
                                         .entry_stride = config->entry_stride,
                                         .frames = physical->frames,
                                         .policy = physical->policy,
                                         .policy_state = physical->policy_state,
                                         .copies = physical->all ? physical->all + 1 : NULL,
                                         .copy_count = pw_physical_memories(physical) - 1};
    return pw_page_table_create(&table, &a->table, err);
}

void pw_address_space_release(struct pw_address_space *a)
{
    if (a->table)
        pw_page_table_destroy(a->table);
    if (a->touched)
        pw_touched_release(a->touched);
    free(a->ranges);
    *a = (struct pw_address_space){0};
}

/* The memory that a frame is in, or NULL for one of host memory. */
static struct pw_physical_memory *memory_of(const struct pw_address_space *a, pw_pfn frame)
{
    struct pw_physical_memory *p = pw_physical_memory_at(a->physical, pw_frame_gpu(a->physical, frame));
    return pw_physical_memory_has(p, frame) ? p : NULL;
}

/* The allocation around a page, or NULL. Ranges lie in order of address. */
static struct pw_range *range_around(const struct pw_address_space *a, pw_vpn vpn)
{
    size_t low = 0, high = a->range_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (a->ranges[middle].outer <= vpn.v)
            low = middle + 1;
        else
            high = middle;
    }
    return low < a->range_count && a->ranges[low].first <= vpn.v ? &a->ranges[low] : NULL;
}

/* Whether the aligned 2 MiB around a page lie in its allocation; what rounding adds to it does not count. */
static bool fills_region(const struct pw_address_space *a, pw_vpn vpn)
{
    const struct pw_range *r = range_around(a, vpn);
    uint64_t region = vpn.v & ~(uint64_t)(REGION_PAGES - 1);
    return r && region >= r->first &&
           region + REGION_PAGES <= r->first + ((r->bytes + PW_PAGE_BYTES - 1) >> PW_PAGE_SHIFT);
}

const struct pw_range *pw_address_space_around(const struct pw_address_space *a, pw_vaddr address)
{
    return range_around(a, pw_vpn_of(address));
}

void pw_address_space_protect(struct pw_address_space *a, struct pw_range *r, unsigned denied)
{
    r->denied = (uint8_t)denied;
    a->denies = a->denies || denied;
    pw_page_table_protect(a->table, (pw_vpn){r->first}, (pw_vpn){r->outer}, denied);
}

static enum pw_status map_page(struct pw_address_space *a, pw_vpn vpn, pw_pfn frame)
{
    const struct pw_range *r = a->denies ? range_around(a, vpn) : NULL;
    return pw_page_table_map(a->table, vpn, pw_frame_word(frame, r ? r->denied : 0), a->order, NULL);
}

/* `stays`: the page is still its allocation's. Not every policy wants to know about regions. */
static struct pw_frame_request request_for(const struct pw_address_space *a, pw_vpn vpn, bool stays)
{
    const struct pw_frame_policy *p = a->physical->policy;
    return (struct pw_frame_request){.owner = pw_address_space_owner(a),
                                     .vpn = vpn,
                                     .order = a->order,
                                     .whole_region = stays && (p->blocks || p->asks_regions) && fills_region(a, vpn)};
}

/* Takes the mapping away and gives the frame back. `stays`: the page is still its allocation's and may come back. */
static struct pw_translation take_away(struct pw_address_space *a, pw_vpn vpn, bool stays)
{
    struct pw_translation t = pw_page_table_unmap(a->table, vpn);
    struct pw_physical_memory *p = t.present ? memory_of(a, t.frame) : NULL;
    if (!p)
        return t;
    struct pw_frame_request request = request_for(a, vpn, stays);
    pw_physical_give_back(p, &request, t.frame);
    a->counters->mapped -= (uint64_t)PW_PAGE_BYTES << a->order;
    return t;
}

pw_pfn pw_address_space_unmap(struct pw_address_space *a, pw_vpn vpn)
{
    if (a->physical->manager)
        pw_page_manager_evicting(a->physical->manager, a->asid, vpn);
    return take_away(a, vpn, true).frame;
}

pw_pfn pw_address_space_unmap_freed(struct pw_address_space *a, pw_vpn vpn)
{
    return take_away(a, vpn, true).frame;
}

static void unmap_range(struct pw_address_space *a, const struct pw_range *r)
{
    for (uint64_t vpn = r->first; !r->managed && vpn < r->mapped; vpn += 1ULL << a->order)
        take_away(a, (pw_vpn){vpn}, false);
}

static void tell_freed(struct pw_address_space *a, uint64_t first, uint64_t outer)
{
    for (unsigned i = 0; i < pw_physical_memories(a->physical); i++) {
        struct pw_physical_memory *p = pw_physical_memory_at(a->physical, i);
        if (p->manager)
            pw_page_manager_freed(p->manager, a->asid, (pw_vpn){first}, (pw_vpn){outer});
        pw_physical_memory_note(p);
    }
}

static void raise_peak(uint64_t *peak, uint64_t now)
{
    if (now > *peak)
        *peak = now;
}

/* Finds a frame for the page and maps it; false when there is none for it or for the page table. */
static bool place(struct pw_address_space *a, struct pw_physical_memory *p, const struct pw_frame_request *request)
{
    pw_pfn frame;
    if (!pw_physical_allocate(p, request, &frame))
        return false;
    if (map_page(a, request->vpn, frame) == PW_OK)
        return true;
    pw_physical_give_back(p, request, frame);
    return false;
}

/* The same, while the page manager can make room that helps. */
static bool place_with_room(struct pw_address_space *a, struct pw_physical_memory *p,
                            const struct pw_frame_request *request)
{
    return place(a, p, request) ||
           (p->manager && pw_page_manager_make_room(p->manager, a->asid, request->whole_region) &&
            place(a, p, request));
}

/* Base pages' worth of the large frames that it has, on all GPUs. */
static uint64_t held(const struct pw_address_space *a)
{
    uint64_t pages = 0;
    for (unsigned i = 0; i < pw_physical_memories(a->physical); i++) {
        const struct pw_physical_memory *p = pw_physical_memory_at(a->physical, i);
        pages += p->policy->blocks->held(p->policy_state, p->frames, pw_address_space_owner(a));
    }
    return pages;
}

/* Mosaic, Sections 4.2 and 4.4: a page of a whole region goes to a large frame, which compaction may have to empty
 * first. Failing that, it goes where any other page goes; there a coalesced page may be splintered for it. The last
 * resort breaks the guarantee that a large frame has pages of one application. */
bool pw_address_space_map_on(struct pw_address_space *a, pw_vpn vpn, unsigned gpu)
{
    struct pw_physical_memory *p = pw_physical_memory_at(a->physical, gpu);
    struct pw_frame_request request = request_for(a, vpn, true);
    bool placed = place_with_room(a, p, &request);
    if (!placed && request.whole_region) {
        request.whole_region = false;
        placed = place_with_room(a, p, &request);
    }
    request.last_resort = true;
    if (!placed && !place(a, p, &request))
        return false;
    a->counters->mapped += (uint64_t)PW_PAGE_BYTES << a->order;
    raise_peak(&a->counters->mapped_peak, a->counters->mapped);
    a->counters->tables = pw_page_table_node_bytes(a->table);
    if (p->policy->blocks)
        raise_peak(&a->counters->held_peak, held(a) << PW_PAGE_SHIFT);
    pw_physical_memory_note(p);
    return true;
}

bool pw_address_space_map(struct pw_address_space *a, pw_vpn vpn)
{
    return pw_address_space_map_on(a, vpn, 0);
}

bool pw_address_space_map_near(struct pw_address_space *a, pw_vpn vpn, unsigned gpu, unsigned *out_gpu)
{
    unsigned gpus = pw_physical_memories(a->physical);
    assert(gpus);
    for (unsigned i = gpus > 1 ? 0 : gpus; i < 2 * gpus; i++) {
        *out_gpu = (gpu + i) % gpus;
        const struct pw_frames *frames = pw_physical_memory_at(a->physical, *out_gpu)->frames;
        bool has_spare = pw_frames_free(frames) > pw_frames_total(frames) / TABLE_SHARE;
        if ((has_spare || i >= gpus) && pw_address_space_map_on(a, vpn, *out_gpu))
            return true;
    }
    return false;
}

bool pw_address_space_move(struct pw_address_space *a, pw_vpn vpn, unsigned gpu)
{
    struct pw_physical_memory *to = pw_physical_memory_at(a->physical, gpu);
    struct pw_physical_memory *from = memory_of(a, pw_page_table_lookup(a->table, vpn).frame);
    struct pw_frame_request request = request_for(a, vpn, true), anywhere = request;
    pw_pfn frame;
    anywhere.whole_region = false;
    anywhere.last_resort = true;
    if (!pw_physical_allocate(to, &request, &frame) && !pw_physical_allocate(to, &anywhere, &frame))
        return false;
    if (from->manager)
        pw_page_manager_evicting(from->manager, a->asid, vpn);
    struct pw_translation was = pw_page_table_unmap(a->table, vpn);
    pw_physical_give_back(from, &request, was.frame);
    pw_page_table_map(a->table, vpn, pw_frame_word(frame, was.denied), a->order, NULL);
    if (to->manager)
        pw_page_manager_arrived(to->manager, a->asid, vpn, (pw_vpn){vpn.v + (1ULL << a->order)});
    pw_physical_memory_note(from);
    pw_physical_memory_note(to);
    return true;
}

/* Whether pages get their frames only when they are first asked for. */
static bool waits_for_touch(const struct pw_address_space *a)
{
    return a->placement && !a->placement->policy->choose;
}

bool pw_address_space_awaits_touch(const struct pw_address_space *a, pw_vpn vpn)
{
    return waits_for_touch(a) && range_around(a, vpn) && !pw_page_table_lookup(a->table, vpn).present;
}

bool pw_address_space_map_host(struct pw_address_space *a, pw_vpn vpn, pw_pfn frame)
{
    if (map_page(a, vpn, frame) != PW_OK)
        return false;
    a->counters->tables = pw_page_table_node_bytes(a->table);
    return true;
}

static enum pw_status does_not_fit(const struct pw_address_space *a, const char *name, uint64_t bytes,
                                   struct pw_error *err)
{
    char wanted[PW_SIZE_CAPACITY], free[PW_SIZE_CAPACITY], total[PW_SIZE_CAPACITY];
    uint64_t free_frames = 0, frames = 0;
    for (unsigned i = 0; i < pw_physical_memories(a->physical); i++) {
        const struct pw_frames *f = pw_physical_memory_at(a->physical, i)->frames;
        free_frames += pw_frames_free(f);
        frames += pw_frames_total(f);
    }
    return pw_fail(err, PW_USER_ERROR,
                   "allocation '%s' of %s does not fit: %s of the %s of device memory are free; choose a "
                   "smaller size or a larger dram.bytes%s",
                   name, pw_size_text(wanted, bytes, true), pw_size_text(free, free_frames << PW_PAGE_SHIFT, false),
                   pw_size_text(total, frames << PW_PAGE_SHIFT, false),
                   a->physical->fragment_pages ? " or less page.fragmentation" : "");
}

/* A place among the ranges of this run, in order of address, and before those that an earlier one has left. */
static struct pw_range *new_range(struct pw_address_space *a, uint64_t first)
{
    struct pw_range *ranges = pw_grow(a->ranges, a->range_count, &a->range_capacity, sizeof *ranges);
    if (!ranges)
        return NULL;
    a->ranges = ranges;
    size_t at = a->live++;
    while (at && ranges[at - 1].first > first)
        at--;
    memmove(&ranges[at + 1], &ranges[at], (a->range_count++ - at) * sizeof *ranges);
    a->unmapped = a->unmapped < at ? a->unmapped : at;
    return &ranges[at];
}

/* Behind an allocation of so many bytes that begins at the next address. */
static uint64_t next_behind(const struct pw_address_space *a, uint64_t bytes)
{
    return (a->next + bytes + ALLOCATION_ALIGNMENT - 1) & ~(uint64_t)(ALLOCATION_ALIGNMENT - 1);
}

enum pw_status pw_address_space_allocate(struct pw_address_space *a, const char *name, uint64_t bytes, bool managed,
                                         pw_vaddr *out, struct pw_error *err)
{
    uint64_t usable = 0;
    for (unsigned i = 0; i < pw_physical_memories(a->physical); i++)
        usable += pw_physical_memory_at(a->physical, i)->usable;
    if (!managed && bytes > usable << PW_PAGE_SHIFT)
        return does_not_fit(a, name, bytes, err);
    char size[PW_SIZE_CAPACITY];
    if (bytes > PW_OUTER_ADDRESS - a->next)
        return pw_fail(err, PW_USER_ERROR, "allocation '%s' of %s does not fit in the address space", name,
                       pw_size_text(size, bytes, true));
    uint64_t page = 1ULL << a->order, pages = (bytes + PW_PAGE_BYTES - 1) >> PW_PAGE_SHIFT;
    uint64_t first = a->next >> PW_PAGE_SHIFT, outer = first + ((pages + page - 1) & ~(page - 1));
    enum pw_status status = pw_touched_extend(a->touched, first, outer, err);
    if (status != PW_OK)
        return status;
    struct pw_range *r = new_range(a, first);
    if (!r)
        return pw_fail_memory(err, "the list of allocations");
    *r = (struct pw_range){
        .bytes = bytes, .first = first, .outer = outer, .mapped = managed ? outer : first, .managed = managed};
    r->number = (uint32_t)a->live - 1;
    snprintf(r->name, sizeof r->name, "%s", name);
    *out = (pw_vaddr){a->next};
    a->next = next_behind(a, bytes);
    a->counters->allocated += bytes;
    raise_peak(&a->counters->allocated_peak, a->counters->allocated);
    return PW_OK;
}

enum pw_status pw_address_space_allocate_at(struct pw_address_space *a, const char *name, pw_vaddr at, uint64_t bytes,
                                            bool managed, struct pw_error *err)
{
    uint64_t next = a->next, first = PW_FIRST_ADDRESS >> PW_PAGE_SHIFT;
    enum pw_status status = pw_touched_extend(a->touched, first, first + 1, err);
    a->next = at.v;
    if (status == PW_OK)
        status = pw_address_space_allocate(a, name, bytes, managed, &at, err);
    a->next = next;
    return status;
}

bool pw_address_space_take_up(struct pw_address_space *a, const char *name, uint64_t bytes, pw_vaddr *out)
{
    if (a->live == a->range_count)
        return false;
    struct pw_range *r = &a->ranges[a->live];
    if (r->first != a->next >> PW_PAGE_SHIFT || r->bytes != bytes || strncmp(r->name, name, sizeof r->name - 1) != 0)
        return false;
    r->preloaded = false;
    *out = (pw_vaddr){a->next};
    a->next = next_behind(a, bytes);
    a->live++;
    return true;
}

bool pw_address_space_collides(const struct pw_address_space *a, uint64_t bytes)
{
    return a->live < a->range_count && bytes > (a->ranges[a->live].first << PW_PAGE_SHIFT) - a->next;
}

/* On the GPU that the placement names, if it has room. */
static bool map_placed(struct pw_address_space *a, const struct pw_range *r, pw_vpn vpn)
{
    unsigned gpus = pw_physical_memories(a->physical), chosen = 0;
    if (a->placement)
        chosen = a->placement->policy->choose(a->placement->state,
                                              &(struct pw_place_request){.asid = a->asid,
                                                                         .array = r->number,
                                                                         .page = (vpn.v - r->first) >> a->order,
                                                                         .pages = (r->outer - r->first) >> a->order,
                                                                         .gpus = gpus});
    return pw_address_space_map_near(a, vpn, chosen, &chosen);
}

static enum pw_status map_next(struct pw_address_space *a, struct pw_range *r, struct pw_error *err)
{
    if (!waits_for_touch(a) && !map_placed(a, r, (pw_vpn){r->mapped}))
        return does_not_fit(a, r->name, r->bytes, err);
    r->mapped += 1ULL << a->order;
    return PW_OK;
}

struct pw_range *pw_address_space_find(const struct pw_address_space *a, pw_vaddr base)
{
    for (size_t i = 0; i < a->range_count; i++)
        if (a->ranges[i].first == pw_vpn_of(base).v)
            return &a->ranges[i];
    return NULL;
}

enum pw_status pw_address_space_back(struct pw_address_space *a, pw_vaddr base, struct pw_error *err)
{
    struct pw_range *r = pw_address_space_find(a, base);
    if (!r)
        return pw_fail(err, PW_FAILED, "address 0x%llx is prefetched but not allocated", (unsigned long long)base.v);
    enum pw_status status = PW_OK;
    while (status == PW_OK && r->mapped < r->outer)
        status = map_next(a, r, err);
    return status;
}

/* Maps the next page that has none; *out_more says whether there was one. */
static enum pw_status back_one(struct pw_address_space *a, bool *out_more, struct pw_error *err)
{
    while (a->unmapped < a->range_count && a->ranges[a->unmapped].mapped == a->ranges[a->unmapped].outer)
        a->unmapped++;
    *out_more = a->unmapped < a->range_count;
    if (!*out_more)
        return PW_OK;
    return map_next(a, &a->ranges[a->unmapped], err);
}

enum pw_status pw_address_spaces_back(struct pw_address_space *spaces, unsigned count, unsigned *out_failed,
                                      struct pw_error *err)
{
    for (bool any = true; any;) {
        any = false;
        for (unsigned i = 0; i < count; i++) {
            bool more;
            enum pw_status status = back_one(&spaces[i], &more, err);
            if (status != PW_OK) {
                *out_failed = i;
                return status;
            }
            any |= more;
        }
    }
    return PW_OK;
}

enum pw_status pw_address_space_free(struct pw_address_space *a, pw_vaddr base, pw_vpn *out_first, pw_vpn *out_outer,
                                     struct pw_error *err)
{
    const struct pw_range *found = pw_address_space_find(a, base);
    if (!found)
        return pw_fail(err, PW_FAILED, "address 0x%llx is freed but not allocated", (unsigned long long)base.v);
    struct pw_range r = *found;
    size_t i = (size_t)(found - a->ranges);
    *out_first = (pw_vpn){r.first};
    *out_outer = (pw_vpn){r.outer};
    unmap_range(a, &r);
    a->counters->allocated -= r.bytes - r.freed;
    memmove(&a->ranges[i], &a->ranges[i + 1], (--a->range_count - i) * sizeof *a->ranges);
    a->unmapped -= i < a->unmapped;
    a->live -= i < a->live;
    tell_freed(a, r.first, r.outer);
    return PW_OK;
}

/* What an allocation asked for of the pages before this one. */
static uint64_t bytes_before(const struct pw_range *r, uint64_t vpn)
{
    uint64_t bytes = (vpn - r->first) << PW_PAGE_SHIFT;
    return bytes < r->bytes ? bytes : r->bytes;
}

enum pw_status pw_address_space_free_part(struct pw_address_space *a, pw_vpn first, pw_vpn outer, struct pw_error *err)
{
    struct pw_range *r = range_around(a, first);
    uint64_t page = 1ULL << a->order;
    if (!r || first.v >= outer.v || outer.v > r->mapped || ((first.v | outer.v) & (page - 1)))
        return pw_fail(err, PW_FAILED, "pages 0x%llx to 0x%llx are freed but are not backed pages of one allocation",
                       (unsigned long long)first.v, (unsigned long long)outer.v);
    for (uint64_t vpn = first.v; vpn < outer.v; vpn += page) {
        if (!take_away(a, (pw_vpn){vpn}, false).present)
            continue;
        uint64_t bytes = bytes_before(r, vpn + page) - bytes_before(r, vpn);
        r->freed += bytes;
        a->counters->allocated -= bytes;
    }
    tell_freed(a, first.v, outer.v);
    return PW_OK;
}

void pw_address_space_reset(struct pw_address_space *a, pw_vpn *out_first, pw_vpn *out_outer)
{
    for (size_t i = 0; i < a->range_count; i++) {
        unmap_range(a, &a->ranges[i]);
        a->counters->allocated -= a->ranges[i].bytes - a->ranges[i].freed;
    }
    *out_first = (pw_vpn){PW_FIRST_ADDRESS >> PW_PAGE_SHIFT};
    *out_outer = (pw_vpn){(a->next + ALLOCATION_ALIGNMENT) >> PW_PAGE_SHIFT};
    for (size_t i = 0; i < a->range_count; i++)
        tell_freed(a, a->ranges[i].first, a->ranges[i].outer);
    a->range_count = a->unmapped = a->live = 0;
    a->next = PW_FIRST_ADDRESS;
}

void pw_address_space_start_over(struct pw_address_space *a)
{
    a->live = 0;
    a->next = PW_FIRST_ADDRESS;
}
