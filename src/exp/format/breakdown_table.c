/* The breakdown of warp time, for people. States in which no warp of any application has been are left out. */
#include "exp/format/result.h"
#include "exp/format/table.h"

#include <string.h>

static const struct {
    const char *state, *label;
} labels[] = {
    {"issue", "issuing"},
    {"not_chosen", "ready, another warp issues"},
    {"paused", "ready, all SMs stand still"},
    {"dependency", "arithmetic latency"},
    {"barrier", "barrier"},
    {"lsu_full", "room in the load-store unit"},
    {"lsu_full_tlb", "room, behind a translation"},
    {"lsu", "loads: load-store unit"},
    {"lsu_tlb", "loads: behind a translation"},
    {"l1_tlb", "loads: L1 TLB"},
    {"l2_tlb", "loads: L2 TLB"},
    {"walk_queue", "loads: walk queue"},
    {"walk_memory", "loads: walk memory"},
    {"far_fault", "loads: far fault"},
    {"data", "loads: data"},
};

static const char *label_of(const char *state, bool l2_tlb)
{
    if (!l2_tlb && strcmp(state, "l2_tlb") == 0)
        return "loads: to and from the walkers";
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
        if (strcmp(labels[i].state, state) == 0)
            return labels[i].label;
    return state;
}

static void cells(struct pw_table *t, uint64_t cycles, double percent)
{
    char number[PW_NUMBER_CAPACITY];
    pw_table_print(t, "%.2f%%", percent);
    pw_format_integer(number, cycles);
    pw_table_cell(t, number);
}

void pw_breakdown_table(const struct pw_result *r, struct pw_text *out)
{
    size_t apps = r->app_count, states = apps ? r->breakdown_count / apps : 0;
    if (!states || 1 + 2 * apps > PW_TABLE_MAX_COLUMNS)
        return;
    bool l2_tlb = pw_result_has_l2_tlb(r);
    struct pw_table t = {.columns = 1 + 2 * apps, .align = "lr", .indent = "  "};
    pw_text_add(out, "\n");
    pw_table_heading(&t, "Where the time of warps goes (warp cycles)");
    for (size_t app = 0; apps > 1 && app <= apps; app++) {
        if (app)
            pw_table_print(&t, "app%zu", app - 1);
        pw_table_cell(&t, "");
    }
    for (size_t i = 0; i < states; i++) {
        uint64_t any = 0;
        for (size_t app = 0; app < apps; app++)
            any |= r->breakdown[app * states + i].cycles;
        if (!any)
            continue;
        pw_table_cell(&t, label_of(r->breakdown[i].state, l2_tlb));
        for (size_t app = 0; app < apps; app++)
            cells(&t, r->breakdown[app * states + i].cycles, r->breakdown[app * states + i].percent);
    }
    pw_table_cell(&t, "resident");
    for (size_t app = 0; app < apps; app++) {
        uint64_t sum = 0;
        for (size_t i = 0; i < states; i++)
            sum += r->breakdown[app * states + i].cycles;
        cells(&t, sum, sum ? 100 : 0);
    }
    pw_table_finish(&t, out);
}
