/* Shows the storage cost of designs. */
#include "exp/tools/cost_table.h"

#include "exp/format/table.h"
#include "pagewalk/pagewalk.h"
#include "sim/c_locale.h"

#include <string.h>

/* Columns of the table: "ADDED of BASE (OVERHEAD%)", the parts by the names of their metrics. */
static const struct column {
    const char *heading, *added, *base, *overhead;
} columns[] = {
    {"each L1 TLB, bytes", "cost.l1_tlb.added", "cost.l1_tlb.base", "cost.l1_tlb.overhead"},
    {"L2 TLB, bytes", "cost.l2_tlb.added", "cost.l2_tlb.base", "cost.l2_tlb.overhead"},
    {"its ASIDs, bytes", "cost.l2_tlb.asid", "cost.l2_tlb.base", "cost.l2_tlb.asid_overhead"},
    {"L2, bytes", "cost.l2.added", "cost.l2.base", "cost.l2.overhead"},
    {"request, bits", "cost.request.added", "", ""},
    {"each DRAM queue, entries", "cost.dram_queue.added", "cost.dram_queue.base", "cost.dram_queue.overhead"},
    {"TLBs and caches, bytes", "cost.added", "", ""},
};

enum { COLUMNS = sizeof columns / sizeof *columns };

struct listing {
    struct pw_text *text;
    struct pw_table designs, structures;
    size_t count;
    char design[128]; /* the present one, "" before the first; and what is known of it: */
    double added[COLUMNS], base[COLUMNS], overhead[COLUMNS];
};

static void finish_design(struct listing *l)
{
    if (!*l->design)
        return;
    pw_table_cell(&l->designs, l->design);
    for (size_t i = 0; i < COLUMNS; i++)
        if (l->added[i] == 0)
            pw_table_cell(&l->designs, "");
        else if (*columns[i].base)
            pw_table_print(&l->designs, "%.0f of %.0f (%.3g%%)", l->added[i], l->base[i], l->overhead[i]);
        else
            pw_table_print(&l->designs, "%.0f", l->added[i]);
}

static void add_to_table(void *context, const struct pw_cost_listing *entry)
{
    struct listing *l = context;
    if (strcmp(l->design, entry->design) != 0) {
        finish_design(l);
        pw_c_snprintf(l->design, sizeof l->design, "%s", entry->design);
    }
    for (size_t i = 0; i < COLUMNS; i++) {
        if (!strcmp(entry->metric, columns[i].added))
            l->added[i] = entry->value;
        if (!strcmp(entry->metric, columns[i].base))
            l->base[i] = entry->value;
        if (!strcmp(entry->metric, columns[i].overhead))
            l->overhead[i] = entry->value;
    }
    if (!entry->is_structure)
        return;
    pw_table_cell(&l->structures, entry->design);
    pw_table_cell(&l->structures, entry->metric);
    pw_table_print(&l->structures, "%.0f %s", entry->value, entry->unit);
    pw_table_cell(&l->structures, entry->summary);
}

static void add_object(void *context, const struct pw_cost_listing *entry)
{
    struct listing *l = context;
    pw_text_add(l->text, l->count++ ? ",\n  {\"design\": " : "\n  {\"design\": ");
    pw_text_json_string(l->text, entry->design);
    pw_text_add(l->text, ", \"metric\": ");
    pw_text_json_string(l->text, entry->metric);
    pw_text_add(l->text, ", \"value\": ");
    pw_text_real(l->text, entry->value);
    pw_text_add(l->text, ", \"unit\": ");
    pw_text_json_string(l->text, entry->unit);
    pw_text_add(l->text, ", \"summary\": ");
    pw_text_json_string(l->text, entry->summary);
    pw_text_add(l->text, "}");
}

static void add_headings(struct listing *l)
{
    static const char *const structures[] = {"name", "structure", "size", "summary"};
    pw_table_cell(&l->designs, "name");
    for (size_t i = 0; i < COLUMNS; i++)
        pw_table_cell(&l->designs, columns[i].heading);
    for (size_t i = 0; i < 4; i++)
        pw_table_cell(&l->structures, structures[i]);
}

enum pw_status pw_cost_table(const char *machine, bool json, struct pw_text *text, struct pw_error *err)
{
    struct listing l = {
        .text = text, .designs = {.columns = COLUMNS + 1, .align = "l"}, .structures = {.columns = 4, .align = "llrl"}};
    if (json)
        pw_text_add(text, "[");
    else
        add_headings(&l);
    enum pw_status status = pw_list_costs(machine, json ? add_object : add_to_table, &l, err);
    if (status == PW_OK && json) {
        pw_text_add(text, "\n]\n");
    } else if (status == PW_OK) {
        finish_design(&l);
        pw_table_finish(&l.designs, text);
        pw_text_add(text, "\n");
        pw_table_finish(&l.structures, text);
    }
    pw_text_free(&l.designs.bytes);
    pw_text_free(&l.structures.bytes);
    return status;
}
