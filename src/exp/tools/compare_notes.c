/* Notes under a comparison: results that are easily taken for something else. */
#include "exp/tools/compare.h"

#include <string.h>

enum { LARGE_PAGE_BYTES = 2 << 20 };

static double option(const struct pw_stored_run *r, const char *name)
{
    double value = 0;
    return pw_stored_run_metric(r, name, &value) ? value : 0;
}

/* The first row whose 2 MB pages are there by --set and have only the large entries of the TLBs, or NULL. */
static const struct pw_stored_run *few_large_entries(const struct pw_compare *c)
{
    bool set = false;
    for (size_t k = 0; k < c->setting_count; k++)
        set |= !strcmp(c->settings[k].key, "page.size");
    for (size_t row = 0; set && row < c->row_count; row++) {
        const struct pw_stored_run *r = c->runs[pw_compare_job(c, row)];
        if (r && pw_compare_place(c, row).design >= c->design_count - c->spec.design_count &&
            option(r, "option.page.size") == LARGE_PAGE_BYTES && option(r, "option.l1_tlb.large_as_base") == 0)
            return r;
    }
    return NULL;
}

static void page_size_note(const struct pw_compare *c, struct pw_text *out)
{
    const struct pw_stored_run *r = few_large_entries(c);
    if (r)
        pw_text_print(out,
                      "\nNote: page.size=2MB uses the TLBs' entries for large pages: %.0f instead of %.0f in\n"
                      "an L1 TLB, %.0f instead of %.0f in the L2 TLB. Design gpu-mmu-2m gives 2 MB pages\n"
                      "as many as 4 KB pages have.\n",
                      option(r, "option.l1_tlb.large_entries"), option(r, "option.l1_tlb.base_entries"),
                      option(r, "option.l2_tlb.large_entries"), option(r, "option.l2_tlb.base_entries"));
}

/* Settings win over designs, so they can turn a reference into the design that it is compared with. */
static void same_run_note(const struct pw_compare *c, struct pw_text *out)
{
    for (size_t row = 0; row < c->row_count; row++)
        for (size_t i = 0; i < c->spec.reference_count; i++) {
            struct pw_compare_place p = pw_compare_place(c, row);
            size_t design = p.design;
            p.design = c->references[i];
            if (design == p.design || pw_compare_job(c, row) != pw_compare_job(c, pw_compare_row(c, &p)))
                continue;
            pw_text_print(out, "\nNote: ");
            pw_text_printable(out, c->designs[design]);
            pw_text_add(out, " and ");
            pw_text_printable(out, c->designs[p.design]);
            pw_text_add(out, " have the same options here, so a slowdown of 1.00\n"
                             "says nothing: --set wins over a design.\n");
            return;
        }
}

/* A limit that does not limit looks like oversubscription that costs nothing. */
static void memory_note(const struct pw_compare *c, struct pw_text *out)
{
    static const struct pw_compare_column evicted = {PW_COMPARE_EVICTED, 0};
    size_t limited = 0, idle = 0;
    for (size_t row = 0; row < c->row_count; row++) {
        const struct pw_stored_run *r = c->runs[pw_compare_job(c, row)];
        if (!r || !(option(r, "option.uvm.oversubscription") > 0 || option(r, "option.uvm.memory") > 0))
            continue;
        double pages = pw_compare_number(c, row, evicted);
        limited += pages >= 0;
        idle += pages == 0;
    }
    if (idle)
        pw_text_print(out,
                      "\nNote: in %zu of %zu runs with limited memory no page had to leave the GPU, so they\n"
                      "do not say what a lack of memory costs.\n",
                      idle, limited);
}

void pw_compare_notes(const struct pw_compare *c, struct pw_text *out)
{
    page_size_note(c, out);
    same_run_note(c, out);
    memory_note(c, out);
}
