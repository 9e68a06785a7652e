/* Allocation and release of virtual ranges with their frames. */
#include "vm/address_space.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALLOCATION_ALIGNMENT = 2 << 20 };

/* Where a CUDA program's device pointers lie on 64-bit Linux. */
#define FIRST_ADDRESS 0x7f4000000000ULL
#define OUTER_ADDRESS 0x800000000000ULL

static const char *const page_size_names[] = {"4KB", "64KB", "2MB", NULL};
static const enum pw_page_order page_size_orders[] = {PW_PAGE_4K, PW_PAGE_64K, PW_PAGE_2M};

const struct pw_option pw_page_options[] = {
    {"size", PW_OPTION_CHOICE, offsetof(struct pw_page_config, size), 0, 0, "4KB", "", page_size_names,
     "Size of the pages that allocations are mapped with.", false},
    {"entry_stride", PW_OPTION_COUNT, offsetof(struct pw_page_config, entry_stride), 8, 128, "8", "bytes", NULL,
     "Distance between neighbouring page-table entries; more than 8 makes tables sparser.", true},
    {"frames", PW_OPTION_CHOICE, offsetof(struct pw_page_config, frames), 0, 0, "first-free", "", pw_frame_policy_names,
     "Which free frames a page gets.", false},
    {0}};

enum pw_page_order pw_page_config_order(const struct pw_page_config *c)
{
    return page_size_orders[c->size];
}

enum pw_status pw_physical_memory_init(struct pw_physical_memory *p, uint64_t bytes,
                                       const struct pw_page_config *config, uint64_t seed, struct pw_error *err)
{
    *p = (struct pw_physical_memory){.policy = pw_frame_policies[config->frames]};
    enum pw_status status = pw_frames_create(bytes, &p->frames, err);
    if (status != PW_OK)
        return status;
    p->policy_state = calloc(1, p->policy->state_bytes ? p->policy->state_bytes : 1);
    if (!p->policy_state) {
        pw_physical_memory_release(p);
        return pw_fail_memory(err, "frame policy");
    }
    pw_random_init(&p->random, seed, "frames");
    p->policy->init(p->policy_state, p->frames, &p->random);
    return PW_OK;
}

void pw_physical_memory_release(struct pw_physical_memory *p)
{
    pw_frames_destroy(p->frames);
    free(p->policy_state);
    *p = (struct pw_physical_memory){0};
}

enum pw_status pw_address_space_init(struct pw_address_space *a, pw_asid asid, const struct pw_page_config *config,
                                     struct pw_physical_memory *physical, struct pw_page_counters *counters,
                                     struct pw_touched *touched, struct pw_error *err)
{
    *a = (struct pw_address_space){.asid = asid,
                                   .order = pw_page_config_order(config),
                                   .physical = physical,
                                   .next = FIRST_ADDRESS,
                                   .counters = counters,
                                   .touched = touched};
    struct pw_page_table_config table = {.asid = asid,
                                         .entry_stride = config->entry_stride,
                                         .frames = physical->frames,
                                         .policy = physical->policy,
                                         .policy_state = physical->policy_state};
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

static pw_owner owner_of(const struct pw_address_space *a)
{
    return (pw_owner)(PW_OWNER_APP + a->asid);
}

static bool in_device_memory(const struct pw_physical_memory *p, pw_pfn frame)
{
    return frame.v < pw_frames_total(p->frames);
}

pw_pfn pw_address_space_unmap(struct pw_address_space *a, pw_vpn vpn)
{
    struct pw_physical_memory *p = a->physical;
    struct pw_translation t = pw_page_table_unmap(a->table, vpn);
    if (!t.present || !in_device_memory(p, t.frame))
        return t.frame;
    struct pw_frame_request request = {owner_of(a), vpn, a->order};
    p->policy->release(p->policy_state, p->frames, &request, t.frame);
    a->counters->mapped -= (uint64_t)PW_PAGE_BYTES << a->order;
    return t.frame;
}

static void unmap_range(struct pw_address_space *a, const struct pw_range *r)
{
    for (uint64_t vpn = r->first; !r->managed && vpn < r->mapped; vpn += 1ULL << a->order)
        pw_address_space_unmap(a, (pw_vpn){vpn});
}

static void raise_peak(uint64_t *peak, uint64_t now)
{
    if (now > *peak)
        *peak = now;
}

bool pw_address_space_map(struct pw_address_space *a, pw_vpn vpn)
{
    struct pw_physical_memory *p = a->physical;
    struct pw_frame_request request = {owner_of(a), vpn, a->order};
    pw_pfn frame;
    if (!p->policy->allocate(p->policy_state, p->frames, &request, &frame))
        return false;
    if (pw_page_table_map(a->table, vpn, frame, a->order, NULL) != PW_OK) {
        p->policy->release(p->policy_state, p->frames, &request, frame);
        return false;
    }
    a->counters->mapped += (uint64_t)PW_PAGE_BYTES << a->order;
    raise_peak(&a->counters->mapped_peak, a->counters->mapped);
    a->counters->tables = pw_page_table_node_bytes(a->table);
    return true;
}

bool pw_address_space_map_host(struct pw_address_space *a, pw_vpn vpn, pw_pfn frame)
{
    if (pw_page_table_map(a->table, vpn, frame, a->order, NULL) != PW_OK)
        return false;
    a->counters->tables = pw_page_table_node_bytes(a->table);
    return true;
}

static enum pw_status does_not_fit(const struct pw_address_space *a, const char *name, uint64_t bytes,
                                   struct pw_error *err)
{
    const struct pw_frames *f = a->physical->frames;
    return pw_fail(
        err, PW_USER_ERROR,
        "allocation '%s' of %llu bytes does not fit: %llu of the %llu bytes of device memory are free; choose a "
        "smaller size or a larger dram.bytes",
        name, (unsigned long long)bytes, (unsigned long long)(pw_frames_free(f) << PW_PAGE_SHIFT),
        (unsigned long long)(pw_frames_total(f) << PW_PAGE_SHIFT));
}

static struct pw_range *new_range(struct pw_address_space *a)
{
    if (a->range_count == a->range_capacity) {
        size_t capacity = a->range_capacity ? 2 * a->range_capacity : 16;
        struct pw_range *ranges = realloc(a->ranges, capacity * sizeof *ranges);
        if (!ranges)
            return NULL;
        a->ranges = ranges;
        a->range_capacity = capacity;
    }
    return &a->ranges[a->range_count++];
}

enum pw_status pw_address_space_allocate(struct pw_address_space *a, const char *name, uint64_t bytes, bool managed,
                                         pw_vaddr *out, struct pw_error *err)
{
    if (!managed && bytes > pw_frames_total(a->physical->frames) << PW_PAGE_SHIFT)
        return does_not_fit(a, name, bytes, err);
    if (bytes > OUTER_ADDRESS - a->next)
        return pw_fail(err, PW_USER_ERROR, "allocation '%s' of %llu bytes does not fit in the address space", name,
                       (unsigned long long)bytes);
    uint64_t page = 1ULL << a->order, pages = (bytes + PW_PAGE_BYTES - 1) >> PW_PAGE_SHIFT;
    uint64_t first = a->next >> PW_PAGE_SHIFT, outer = first + ((pages + page - 1) & ~(page - 1));
    enum pw_status status = pw_touched_extend(a->touched, first, outer, err);
    if (status != PW_OK)
        return status;
    struct pw_range *r = new_range(a);
    if (!r)
        return pw_fail_memory(err, "the list of allocations");
    *r = (struct pw_range){
        .bytes = bytes, .first = first, .outer = outer, .mapped = managed ? outer : first, .managed = managed};
    snprintf(r->name, sizeof r->name, "%s", name);
    *out = (pw_vaddr){a->next};
    a->next = (a->next + bytes + ALLOCATION_ALIGNMENT - 1) & ~(uint64_t)(ALLOCATION_ALIGNMENT - 1);
    a->counters->allocated += bytes;
    raise_peak(&a->counters->allocated_peak, a->counters->allocated);
    return PW_OK;
}

static enum pw_status map_next(struct pw_address_space *a, struct pw_range *r, struct pw_error *err)
{
    if (!pw_address_space_map(a, (pw_vpn){r->mapped}))
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

enum pw_status pw_address_spaces_back(struct pw_address_space *const *spaces, unsigned count, unsigned *out_failed,
                                      struct pw_error *err)
{
    for (bool any = true; any;) {
        any = false;
        for (unsigned i = 0; i < count; i++) {
            bool more;
            enum pw_status status = back_one(spaces[i], &more, err);
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
    a->counters->allocated -= r.bytes;
    memmove(&a->ranges[i], &a->ranges[i + 1], (--a->range_count - i) * sizeof *a->ranges);
    a->unmapped -= i < a->unmapped;
    return PW_OK;
}

void pw_address_space_reset(struct pw_address_space *a, pw_vpn *out_first, pw_vpn *out_outer)
{
    for (size_t i = 0; i < a->range_count; i++) {
        unmap_range(a, &a->ranges[i]);
        a->counters->allocated -= a->ranges[i].bytes;
    }
    *out_first = (pw_vpn){FIRST_ADDRESS >> PW_PAGE_SHIFT};
    *out_outer = (pw_vpn){(a->next + ALLOCATION_ALIGNMENT) >> PW_PAGE_SHIFT};
    a->range_count = a->unmapped = 0;
    a->next = FIRST_ADDRESS;
}

struct ownership {
    const struct pw_physical_memory *physical;
    pw_owner owner;
    uint64_t pages;
    bool wrong;
};

static void check_mapping(void *context, pw_vpn vpn, pw_pfn frame, enum pw_page_order order)
{
    (void)vpn;
    struct ownership *o = context;
    if (!in_device_memory(o->physical, frame))
        return;
    for (uint32_t i = 0; i < 1U << order; i++)
        o->wrong |= pw_frames_owner(o->physical->frames, (pw_pfn){frame.v + i}) != o->owner;
    o->pages += 1ULL << order;
}

enum pw_status pw_address_spaces_check(struct pw_address_space *const *spaces, unsigned count, struct pw_error *err)
{
    const struct pw_frames *frames = spaces[0]->physical->frames;
    uint64_t used = 0;
    for (unsigned i = 0; i < count; i++) {
        struct ownership o = {.physical = spaces[i]->physical, .owner = owner_of(spaces[i])};
        pw_page_table_each(spaces[i]->table, check_mapping, &o);
        if (o.wrong)
            return pw_fail(err, PW_FAILED, "app%u maps a frame it does not own", i);
        used += o.pages + pw_page_table_node_bytes(spaces[i]->table) / PW_PAGE_BYTES;
    }
    uint64_t taken = pw_frames_total(frames) - pw_frames_free(frames);
    if (used != taken)
        return pw_fail(err, PW_FAILED, "%llu frames are mapped or hold page tables, but %llu are taken",
                       (unsigned long long)used, (unsigned long long)taken);
    return pw_frames_check(frames, err);
}
