/* Keeps, for each page and each 2 MiB region, when it was accessed last: an access is the first of a page in a cycle or
 * a launch where that was another one. */
#include "log/page_looks.h"

#include "log/page_reuse.h"
#include "sim/grow.h"

#include <stdlib.h>
#include <string.h>

struct counters {
    uint64_t accesses;
    struct pw_reuse_counters of_gpu, of_sms;
    uint64_t steps, steps_adjacent, steps_repeated;
    uint64_t cycles, cycle_pages, cycles_several;
    uint64_t launches, launch_pages, launch_regions, launch_kept;
    uint64_t first_launch_allocations;
};

struct page {
    uint32_t number;     /* from 1, as pages are first accessed; 0: never */
    uint32_t launch;     /* the last in which it was accessed; 0: none */
    uint64_t next_cycle; /* the one after its last access; 0: there was none */
};

/* Of the first launch's allocations, which are made before it. */
struct allocation {
    uint64_t first; /* 4 KiB page */
    bool accessed;
};

struct application {
    uint64_t base;                     /* 4 KiB page that the tables begin with, the first of a region */
    uint64_t page_count, region_count; /* that there are records for */
    struct page *pages;
    uint32_t *launch_of_region;     /* the last in which it was accessed */
    struct allocation *allocations; /* by address */
    size_t allocation_count, allocation_capacity;
    size_t last_allocation;   /* that was looked for: the next is likely to be near */
    uint32_t launch;          /* the present one, from 1 */
    uint32_t accessed_launch; /* the last with an access */
    uint64_t next_cycle;      /* the one after the last access of any page */
    unsigned in_cycle;        /* distinct pages in that one so far */
    uint64_t page, stride;    /* of the last access; a stride of 0: there was no other page before */
    bool accessed;
};

struct pw_page_looks {
    unsigned apps;
    uint32_t sms;
    uint8_t order;
    uint32_t pages; /* numbered so far */
    struct pw_page_reuse of_gpu, *of_sm;
    struct application *app;
    struct counters *counters; /* by application */
};

enum pw_status pw_page_looks_create(unsigned apps, uint32_t sms, uint8_t page_order, struct pw_page_looks **out,
                                    struct pw_error *err)
{
    *out = NULL;
    struct pw_page_looks *l = calloc(1, sizeof *l);
    if (!l)
        return pw_fail_memory(err, "page accesses");
    l->of_sm = calloc(sms, sizeof *l->of_sm);
    l->app = calloc(apps, sizeof *l->app);
    l->counters = calloc(apps, sizeof *l->counters);
    if (!l->of_sm || !l->app || !l->counters) {
        pw_page_looks_destroy(l);
        return pw_fail_memory(err, "page accesses");
    }
    l->apps = apps;
    l->sms = sms;
    l->order = page_order;
    *out = l;
    return PW_OK;
}

void pw_page_looks_destroy(struct pw_page_looks *l)
{
    if (!l)
        return;
    for (unsigned i = 0; i < l->apps; i++) {
        free(l->app[i].pages);
        free(l->app[i].launch_of_region);
        free(l->app[i].allocations);
    }
    for (uint32_t i = 0; i < l->sms; i++)
        pw_page_reuse_release(&l->of_sm[i]);
    pw_page_reuse_release(&l->of_gpu);
    free(l->of_sm);
    free(l->app);
    free(l->counters);
    free(l);
}

/* Room for records of 4 KiB pages up to `outer`. */
static bool extend(struct application *a, uint8_t order, uint64_t outer)
{
    uint64_t regions = (outer - a->base + (1U << PW_PAGE_2M) - 1) >> PW_PAGE_2M;
    uint64_t pages = regions << (PW_PAGE_2M - order);
    if (regions <= a->region_count)
        return true;
    struct page *grown = realloc(a->pages, pages * sizeof *grown);
    if (grown)
        a->pages = grown;
    uint32_t *launches = realloc(a->launch_of_region, regions * sizeof *launches);
    if (launches)
        a->launch_of_region = launches;
    if (!grown || !launches)
        return false;
    memset(grown + a->page_count, 0, (pages - a->page_count) * sizeof *grown);
    memset(launches + a->region_count, 0, (regions - a->region_count) * sizeof *launches);
    a->page_count = pages;
    a->region_count = regions;
    return true;
}

enum pw_status pw_page_looks_allocated(struct pw_page_looks *l, pw_asid app, pw_vpn first, uint64_t bytes,
                                       struct pw_error *err)
{
    struct application *a = &l->app[app];
    if (!a->region_count)
        a->base = first.v >> PW_PAGE_2M << PW_PAGE_2M;
    if (!extend(a, l->order, first.v + ((bytes + PW_PAGE_BYTES - 1) >> PW_PAGE_SHIFT)))
        return pw_fail_memory(err, "page accesses");
    if (a->launch)
        return PW_OK;
    struct allocation *list = pw_grow(a->allocations, a->allocation_count, &a->allocation_capacity, sizeof *list);
    if (!list)
        return pw_fail_memory(err, "page accesses");
    a->allocations = list;
    list[a->allocation_count++] = (struct allocation){.first = first.v};
    return PW_OK;
}

void pw_page_looks_launched(struct pw_page_looks *l, pw_asid app)
{
    l->app[app].launch++;
}

static void look_at_step(struct application *a, struct counters *c, uint64_t page)
{
    if (a->accessed && page != a->page) {
        uint64_t stride = page - a->page;
        c->steps++;
        c->steps_adjacent += stride == 1 || stride == UINT64_MAX;
        c->steps_repeated += stride == a->stride;
        a->stride = stride;
    }
    a->accessed = true;
    a->page = page;
}

static void look_at_cycle(struct application *a, struct counters *c, struct page *p, pw_cycle now)
{
    if (a->next_cycle != now + 1) {
        a->next_cycle = now + 1;
        a->in_cycle = 0;
        c->cycles++;
    }
    if (p->next_cycle == now + 1)
        return;
    p->next_cycle = now + 1;
    c->cycle_pages++;
    c->cycles_several += ++a->in_cycle == 2;
}

/* The last allocation that begins at or before the page. */
static void look_at_allocation(struct application *a, struct counters *c, uint64_t vpn)
{
    if (!a->allocation_count)
        return;
    while (a->last_allocation + 1 < a->allocation_count && a->allocations[a->last_allocation + 1].first <= vpn)
        a->last_allocation++;
    while (a->last_allocation && a->allocations[a->last_allocation].first > vpn)
        a->last_allocation--;
    struct allocation *found = &a->allocations[a->last_allocation];
    c->first_launch_allocations += !found->accessed;
    found->accessed = true;
}

static void look_at_launch(struct application *a, struct counters *c, struct page *p, uint64_t vpn)
{
    uint32_t *region = &a->launch_of_region[(vpn - a->base) >> PW_PAGE_2M];
    c->launches += a->accessed_launch != a->launch;
    a->accessed_launch = a->launch;
    c->launch_regions += *region != a->launch;
    *region = a->launch;
    if (p->launch == a->launch)
        return;
    c->launch_pages++;
    c->launch_kept += p->launch && p->launch + 1 == a->launch;
    p->launch = a->launch;
    if (a->launch == 1)
        look_at_allocation(a, c, vpn);
}

bool pw_page_looks_access(struct pw_page_looks *l, pw_asid app, uint32_t sm, pw_vpn vpn, pw_cycle now)
{
    struct application *a = &l->app[app];
    struct counters *c = &l->counters[app];
    uint64_t at = (vpn.v - a->base) >> l->order;
    if (vpn.v < a->base || at >= a->page_count)
        return true;
    struct page *p = &a->pages[at];
    if (!p->number)
        p->number = ++l->pages;
    if (!pw_page_reuse_access(&l->of_gpu, p->number - 1, &c->of_gpu) ||
        !pw_page_reuse_access(&l->of_sm[sm], p->number - 1, &c->of_sms))
        return false;
    c->accesses++;
    look_at_step(a, c, vpn.v >> l->order);
    look_at_cycle(a, c, p, now);
    look_at_launch(a, c, p, vpn.v);
    return true;
}

void pw_page_looks_register(const struct pw_page_looks *l, struct pw_stats *stats)
{
#define COUNTER(name, unit, field, help)                                                                               \
    pw_stats_counter(stats, name, unit, help, l->counters, sizeof *l->counters, offsetof(struct counters, field))
    COUNTER("reuse.accesses", "accesses", accesses, "Page accesses, one per page of a memory instruction.");
    pw_page_reuse_register(stats, false, &l->counters->of_gpu, sizeof *l->counters);
    pw_page_reuse_register(stats, true, &l->counters->of_sms, sizeof *l->counters);
    COUNTER("pages.steps", "accesses", steps,
            "Page accesses to another page than the last one of the application, on any SM.");
    COUNTER("pages.steps_adjacent", "accesses", steps_adjacent, "Those to the page before or after it.");
    COUNTER("pages.steps_repeated", "accesses", steps_repeated,
            "Those that go as far, and in the same direction, as "
            "the step before.");
    COUNTER("pages.cycles", "cycles", cycles, "Cycles with a page access.");
    COUNTER("pages.cycle_pages", "pages", cycle_pages, "Pages accessed in each of them, summed.");
    COUNTER("pages.cycles_several", "cycles", cycles_several, "Cycles in which two pages or more are accessed.");
    COUNTER("pages.launches", "launches", launches, "Kernel launches with a page access.");
    COUNTER("pages.launch_pages", "pages", launch_pages, "Pages accessed in each of them, summed.");
    COUNTER("pages.launch_kept", "pages", launch_kept, "Those that the application's launch before had accessed too.");
    COUNTER("pages.launch_regions", "regions", launch_regions,
            "2 MiB regions of addresses accessed in each launch, summed.");
    COUNTER("pages.first_launch_allocations", "allocations", first_launch_allocations,
            "Allocations that the application's first launch accesses.");
#undef COUNTER
}
