/* What advice adds to residency: pages in host memory that are mapped, and copies that become the only one.
 *
 * A page of a read-mostly allocation that is resident and not dirty is a copy; dirty means that the host's is gone. */
#include "uvm/residency_internal.h"

#include <assert.h>

static struct pw_managed_block *block_of(const struct pw_residency *r, pw_page_id page)
{
    return &r->blocks[page / PW_BLOCK_PAGES];
}

static struct pw_page_mask unit_of(const struct pw_residency *r, pw_page_id page)
{
    unsigned first = page % PW_BLOCK_PAGES & ~(r->unit - 1);
    return pw_mask_range(first, first + r->unit);
}

unsigned pw_residency_advice(const struct pw_residency *r, pw_page_id page)
{
    return r->ranges[block_of(r, page)->range].advice;
}

void pw_residency_advise(struct pw_residency *r, pw_page_id page, unsigned advice)
{
    r->ranges[block_of(r, page)->range].advice = advice;
}

bool pw_residency_is_remote(const struct pw_residency *r, pw_page_id page)
{
    return pw_mask_has(&block_of(r, page)->remote, page % PW_BLOCK_PAGES);
}

void pw_residency_set_remote(struct pw_residency *r, pw_page_id page, bool remote)
{
    struct pw_managed_block *b = block_of(r, page);
    struct pw_page_mask unit = unit_of(r, page);
    assert(pw_residency_is_remote(r, page) != remote);
    b->remote = remote ? pw_mask_or(b->remote, &unit) : pw_mask_without(b->remote, &unit);
    if (remote)
        pw_residency_count(r, b, pages_remote, r->unit);
}

void pw_residency_collapse(struct pw_residency *r, pw_page_id page, bool copied)
{
    struct pw_managed_block *b = block_of(r, page);
    struct pw_page_mask unit = unit_of(r, page);
    if (pw_mask_has(&b->dirty, page % PW_BLOCK_PAGES) || !pw_advice_copies(r->ranges[b->range].advice))
        return;
    assert(pw_mask_has(&b->resident, page % PW_BLOCK_PAGES));
    b->dirty = pw_mask_or(b->dirty, &unit);
    if (copied)
        pw_residency_count(r, b, pages_collapsed, r->unit);
}
