/* Memory advice in the driver (docs/decisions.md, "Memory advice").
 *
 * Some faults bring no page: one on a page that is to stay in host memory maps it there, and a write to a copy makes it
 * the only one. They are served like other faults, take the same time of the driver's, and their accesses are replayed
 * when it is done. Pages that are always mapped are mapped remotely when the advice is given and again when they leave
 * the GPU; a page that comes to the GPU loses its remote mapping when it arrives. The calls themselves take no time.
 *
 * A write to a copy takes what a fault takes, and a page that a write brings in takes nothing more. A real H200 takes
 * far longer (data/hw/h200-managed.csv: 16 to 130 µs for each page written, more the more pages there are, in launches
 * after the first as well); why is not known, so it is left out, and pagewalk advise tries the advice on no memory that
 * kernels write. */
#include "uvm/driver_internal.h"

#include <stdio.h>
#include <string.h>

static void unmap_remote(struct pw_uvm *u, pw_page_id page)
{
    pw_residency_set_remote(u->residency, page, false);
    u->wiring.unmap(u->wiring.machine, pw_residency_asid(u->residency, page), pw_residency_vpn(u->residency, page),
                    false);
}

static bool map_remote(struct pw_uvm *u, pw_page_id page)
{
    if (!u->wiring.map_remote(u->wiring.machine, pw_residency_asid(u->residency, page),
                              pw_residency_vpn(u->residency, page), page)) {
        pw_uvm_fail(u, PW_FAILED, "no memory is left for the page table of remotely mapped pages");
        return false;
    }
    pw_residency_set_remote(u->residency, page, true);
    return true;
}

bool pw_advice_serve_in_place(struct pw_uvm *u, struct fault *f)
{
    switch (pw_residency_state(u->residency, f->page)) {
    case PW_PAGE_RESIDENT:
        if (f->writes)
            pw_residency_collapse(u->residency, f->page, true);
        return true;
    case PW_PAGE_ABSENT:
        return pw_residency_is_remote(u->residency, f->page) ||
               (pw_advice_maps_on_fault(pw_residency_advice(u->residency, f->page)) && map_remote(u, f->page));
    default:
        return false;
    }
}

bool pw_advice_brings_no_page(const struct pw_uvm *u, const struct fault *f)
{
    enum pw_page_state state = pw_residency_state(u->residency, f->page);
    return (state == PW_PAGE_RESIDENT && f->writes) ||
           (state == PW_PAGE_ABSENT && (pw_residency_is_remote(u->residency, f->page) ||
                                        pw_advice_maps_on_fault(pw_residency_advice(u->residency, f->page))));
}

void pw_advice_arriving(struct pw_uvm *u, pw_page_id first, pw_page_id outer)
{
    for (pw_page_id page = first; page < outer; page += u->unit)
        if (pw_residency_is_remote(u->residency, page))
            unmap_remote(u, page);
}

void pw_advice_arrived(struct pw_uvm *u, struct fault *f)
{
    if (f->writes)
        pw_residency_collapse(u->residency, f->page, false);
}

void pw_advice_evicted(struct pw_uvm *u, const struct pw_eviction *e)
{
    pw_page_id base = e->block * PW_BLOCK_PAGES;
    unsigned first, outer;
    if (!pw_advice_maps_always(pw_residency_advice(u->residency, base)))
        return;
    for (unsigned at = 0; pw_mask_next_run(&e->pages, at, &first, &outer); at = outer)
        for (unsigned page = first; page < outer; page += u->unit)
            if (!map_remote(u, base + page))
                return;
}

/* Gives every page of an allocation the remote mapping that advice wants it to have. */
static void apply(struct pw_uvm *u, const struct pw_managed_range *range)
{
    for (uint64_t i = 0; i < range->pages; i += u->unit) {
        pw_page_id page = range->first_block * PW_BLOCK_PAGES + (pw_page_id)i;
        bool remote = pw_residency_is_remote(u->residency, page);
        bool absent = pw_residency_state(u->residency, page) != PW_PAGE_RESIDENT;
        if (remote && !pw_advice_maps_always(range->advice) && !pw_advice_maps_on_fault(range->advice))
            unmap_remote(u, page);
        else if (!remote && absent && pw_advice_maps_always(range->advice) && !map_remote(u, page))
            return;
    }
}

enum pw_status pw_uvm_advise(struct pw_uvm *u, pw_asid asid, pw_vpn first, unsigned advice, struct pw_error *err)
{
    pw_page_id page = pw_residency_find(u->residency, asid, first);
    if (page == PW_NO_PAGE)
        return pw_fail(err, PW_FAILED, "memory advice is about address 0x%llx, which is not allocated",
                       (unsigned long long)first.v << PW_PAGE_SHIFT);
    const struct pw_managed_range *range = pw_residency_range_of(u->residency, page);
    enum pw_status status = pw_advice_check(advice, range->name, err);
    if (status != PW_OK)
        return status;
    uint64_t outer = ((uint64_t)range->first_block + range->block_count) * PW_BLOCK_PAGES;
    if ((pw_advice_maps_always(advice) || pw_advice_maps_on_fault(advice)) && outer > u->wiring.host_pages)
        return pw_fail(err, PW_USER_ERROR,
                       "%s cannot be mapped remotely: device memory and what is allocated are more than 512 GB",
                       range->name);
    pw_residency_advise(u->residency, page, advice);
    apply(u, range);
    return PW_OK;
}

bool pw_uvm_prefetches(struct pw_uvm *u, const char *name)
{
    return pw_advice_take(&u->advice, name) & PW_ADVICE_PREFETCH;
}

bool pw_uvm_is_read_mostly(const struct pw_uvm *u, pw_asid asid, pw_vpn vpn)
{
    pw_page_id page = pw_residency_find(u->residency, asid, vpn);
    return page != PW_NO_PAGE && pw_advice_copies(pw_residency_advice(u->residency, page));
}

void pw_uvm_write_waits(struct pw_uvm *u, pw_asid asid, pw_vpn vpn, pw_cycle now)
{
    pw_page_id page = pw_residency_find(u->residency, asid, vpn);
    if (page == PW_NO_PAGE)
        return;
    page &= ~(pw_page_id)(u->unit - 1);
    struct fault *f = pw_faults_find(u, page);
    bool known = f != NULL;
    if (!known && !(f = pw_faults_add(u, page, now)))
        return;
    f->writes = true;
    if (known)
        return;
    if (pw_residency_state(u->residency, page) == PW_PAGE_COMING)
        pw_faults_report(u, f);
    else
        pw_uvm_ask(u, f, now);
}

/* Whether an earlier range has the same name, as allocations of every iteration do. */
static bool is_listed(const struct pw_uvm *u, size_t index)
{
    const char *name = pw_residency_range(u->residency, index)->name;
    for (size_t i = 0; i < index; i++)
        if (!strcmp(pw_residency_range(u->residency, i)->name, name))
            return true;
    return false;
}

enum pw_status pw_uvm_check_advice(const struct pw_uvm *u, struct pw_error *err)
{
    enum { MOST_LISTED = 12 };
    const char *name = pw_advice_unused(&u->advice);
    if (!name)
        return PW_OK;
    char known[512] = "", more[32] = "";
    size_t listed = 0;
    for (size_t i = 0; i < pw_residency_range_count(u->residency); i++) {
        size_t used = strlen(known);
        if (is_listed(u, i))
            continue;
        if (listed++ < MOST_LISTED)
            snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "",
                     pw_residency_range(u->residency, i)->name);
    }
    if (listed > MOST_LISTED)
        snprintf(more, sizeof more, " and %zu more", listed - MOST_LISTED);
    return pw_fail(err, PW_USER_ERROR, "uvm.advice: no allocation is called '%s'; there are %s%s, and 'all' for each",
                   name, known, more);
}
