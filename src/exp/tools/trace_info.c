/* pagewalk trace info: a table, or one JSON object. Launches that follow one another with the same kernel and geometry
 * are one row of the table; the JSON has every launch. */
#include "exp/format/table.h"
#include "exp/tools/trace_show.h"

#include <string.h>

enum { MAX_ROWS = 40 };

const char *pw_trace_memory_name(uint8_t memory)
{
    static const char *const names[] = {"device", "managed", "host", "inferred"};
    _Static_assert(sizeof names / sizeof *names == PW_TRACE_MEMORY_COUNT, "a name for each kind of memory");
    return names[memory];
}

struct totals {
    uint64_t allocations, bytes, freed, copies, copied_bytes, calls, launches, warp_instructions, memory_instructions;
};

static struct totals add_up(const struct pw_trace_event *events, size_t count)
{
    struct totals t = {0};
    for (size_t i = 0; i < count; i++) {
        const struct pw_trace_event *e = &events[i];
        t.allocations += e->kind == PW_TRACE_ALLOC;
        t.bytes += e->kind == PW_TRACE_ALLOC ? e->bytes : 0;
        t.freed += e->kind == PW_TRACE_FREE;
        t.copies += e->kind == PW_TRACE_COPY;
        t.copied_bytes += e->kind == PW_TRACE_COPY ? e->bytes : 0;
        t.calls += e->kind == PW_TRACE_PREFETCH || e->kind == PW_TRACE_ADVISE || e->kind == PW_TRACE_PROTECT;
        t.launches += e->kind == PW_TRACE_LAUNCH;
        t.warp_instructions += e->warp_instructions;
        t.memory_instructions += e->memory_instructions;
    }
    return t;
}

static void add_origin(const struct pw_trace *t, const struct totals *all, struct pw_text *out)
{
    const struct pw_trace_origin *o = pw_trace_get_origin(t);
    struct pw_table table = {.columns = 2, .align = "l"};
    pw_table_cell(&table, "trace");
    pw_table_cell_printable(&table, pw_trace_path(t));
    pw_table_cell(&table, "recorded by");
    pw_table_cell_printable(&table, o->recorder);
    pw_table_cell(&table, "program");
    pw_table_cell_printable(&table, o->program);
    if (*o->device) {
        pw_table_cell(&table, "device");
        pw_table_cell_printable(&table, o->device);
    }
    if (o->cta_sample > 1) {
        pw_table_cell(&table, "sample");
        pw_table_print(&table, "one CTA in %u", o->cta_sample);
    }
    pw_table_cell(&table, pw_trace_is_imported(t) ? "size as .pwt" : "size");
    char size[PW_NUMBER_CAPACITY];
    pw_format_bytes(size, (double)pw_trace_file_bytes(t));
    if (all->memory_instructions)
        pw_table_print(&table, "%s, %.2f bytes per memory instruction", size,
                       (double)pw_trace_file_bytes(t) / (double)all->memory_instructions);
    else
        pw_table_cell(&table, size);
    pw_table_finish(&table, out);
}

static void cut(struct pw_text *out, size_t left)
{
    if (left)
        pw_text_print(out, "  … and %zu more; --json has all\n", left);
}

static void add_allocations(const struct pw_trace_event *events, size_t count, const struct totals *all,
                            struct pw_text *out)
{
    char bytes[PW_NUMBER_CAPACITY];
    pw_format_bytes(bytes, (double)all->bytes);
    pw_text_print(out, "\nAllocations: %llu, %s in all\n", (unsigned long long)all->allocations, bytes);
    struct pw_table table = {.columns = 4, .align = "llrl", .indent = "  "};
    size_t rows = 0;
    for (size_t i = 0; i < count; i++) {
        if (events[i].kind != PW_TRACE_ALLOC || rows++ >= MAX_ROWS)
            continue;
        if (rows == 1)
            for (const char *const *head = (const char *const[]){"name", "memory", "size", "address", NULL}; *head;
                 head++)
                pw_table_cell(&table, *head);
        pw_table_cell_printable(&table, events[i].name);
        pw_table_cell(&table, pw_trace_memory_name(events[i].memory));
        pw_table_bytes(&table, events[i].bytes);
        pw_table_print(&table, "0x%llx", (unsigned long long)events[i].address);
    }
    pw_table_finish(&table, out);
    cut(out, rows > MAX_ROWS ? rows - MAX_ROWS : 0);
}

static bool same_dimensions(struct pw_dim3 a, struct pw_dim3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

static bool same_launch(const struct pw_trace_event *a, const struct pw_trace_event *b)
{
    return !strcmp(a->name, b->name) && same_dimensions(a->grid, b->grid) && same_dimensions(a->block, b->block) &&
           a->shared_bytes == b->shared_bytes && a->registers == b->registers && a->pace == b->pace;
}

static void launch_row(struct pw_table *table, bool full_names, const struct pw_trace_event *e, uint64_t times,
                       uint64_t instructions, uint64_t memory)
{
    pw_table_kernel(table, e->name, full_names);
    pw_table_integer(table, times);
    pw_table_dimensions(table, e->grid.x, e->grid.y, e->grid.z);
    pw_table_dimensions(table, e->block.x, e->block.y, e->block.z);
    pw_table_bytes(table, e->shared_bytes);
    pw_table_integer(table, e->registers);
    if (e->pace)
        pw_table_print(table, "%.3f", e->pace / 1000.0);
    else
        pw_table_cell(table, "-");
    pw_table_integer(table, instructions);
    pw_table_integer(table, memory);
}

static void add_launches(const struct pw_trace_event *events, size_t count, const struct totals *all, bool full_names,
                         struct pw_text *out)
{
    pw_text_print(out, "\nLaunches: %llu\n", (unsigned long long)all->launches);
    struct pw_table table = {.columns = 9, .align = "lr", .indent = "  "};
    static const char *const heads[] = {
        "kernel", "times", "grid", "block", "shared", "registers", "pace", "warp instructions", "memory"};
    const struct pw_trace_event *before = NULL;
    uint64_t times = 0, instructions = 0, memory = 0;
    size_t rows = 0;
    for (size_t i = 0; i <= count; i++) {
        const struct pw_trace_event *e = i < count ? &events[i] : NULL;
        if (e && e->kind != PW_TRACE_LAUNCH)
            continue;
        if (before && (!e || !same_launch(before, e))) {
            for (size_t k = 0; k < 9 && !rows; k++)
                pw_table_cell(&table, heads[k]);
            if (rows++ < MAX_ROWS)
                launch_row(&table, full_names, before, times, instructions, memory);
            times = instructions = memory = 0;
        }
        if (!e)
            break;
        before = e;
        times++;
        instructions += e->warp_instructions;
        memory += e->memory_instructions;
    }
    pw_table_finish(&table, out);
    cut(out, rows > MAX_ROWS ? rows - MAX_ROWS : 0);
}

void pw_trace_info_table(const struct pw_trace *t, bool full_names, struct pw_text *out)
{
    size_t count;
    const struct pw_trace_event *events = pw_trace_events(t, &count);
    struct totals all = add_up(events, count);
    add_origin(t, &all, out);
    add_allocations(events, count, &all, out);
    add_launches(events, count, &all, full_names, out);
    if (all.copies || all.calls || all.freed) {
        char bytes[PW_NUMBER_CAPACITY];
        pw_format_bytes(bytes, (double)all.copied_bytes);
        pw_text_print(out, "\nOther calls: %llu copies of %s, %llu frees, %llu prefetches and advices\n",
                      (unsigned long long)all.copies, bytes, (unsigned long long)all.freed,
                      (unsigned long long)all.calls);
    }
}

static void add_string(struct pw_text *out, const char *name, const char *value)
{
    pw_text_print(out, "\"%s\": ", name);
    pw_text_json_string(out, value);
}

static void add_allocation_json(const struct pw_trace_event *e, struct pw_text *out)
{
    pw_text_add(out, "{");
    add_string(out, "name", e->name);
    pw_text_print(out, ", \"memory\": \"%s\", \"address\": \"0x%llx\", \"bytes\": %llu}",
                  pw_trace_memory_name(e->memory), (unsigned long long)e->address, (unsigned long long)e->bytes);
}

static void add_launch_json(const struct pw_trace_event *e, struct pw_text *out)
{
    pw_text_add(out, "{");
    add_string(out, "name", e->name);
    pw_text_print(out,
                  ", \"grid\": [%u, %u, %u], \"block\": [%u, %u, %u], \"shared_bytes\": %u, \"registers\": %u, "
                  "\"pace\": %u, \"sampled_of\": %llu, \"warp_instructions\": %llu, \"memory_instructions\": %llu}",
                  e->grid.x, e->grid.y, e->grid.z, e->block.x, e->block.y, e->block.z, e->shared_bytes, e->registers,
                  e->pace, (unsigned long long)e->sampled_of, (unsigned long long)e->warp_instructions,
                  (unsigned long long)e->memory_instructions);
}

typedef void add_json(const struct pw_trace_event *e, struct pw_text *out);

static void add_list(const char *name, const struct pw_trace_event *events, size_t count, enum pw_trace_event_kind kind,
                     add_json *add, struct pw_text *out)
{
    bool any = false;
    pw_text_print(out, ",\n  \"%s\": [", name);
    for (size_t i = 0; i < count; i++) {
        if (events[i].kind != kind)
            continue;
        pw_text_add(out, any ? ",\n    " : "\n    ");
        add(&events[i], out);
        any = true;
    }
    pw_text_add(out, any ? "\n  ]" : "]");
}

void pw_trace_info_json(const struct pw_trace *t, struct pw_text *out)
{
    size_t count;
    const struct pw_trace_event *events = pw_trace_events(t, &count);
    const struct pw_trace_origin *o = pw_trace_get_origin(t);
    struct totals all = add_up(events, count);
    pw_text_add(out, "{\n  \"schema\": 1,\n  ");
    add_string(out, "recorder", o->recorder);
    pw_text_add(out, ",\n  ");
    add_string(out, "program", o->program);
    pw_text_add(out, ",\n  ");
    add_string(out, "device", o->device);
    pw_text_print(out,
                  ",\n  \"cta_sample\": %u,\n  \"seed\": %llu,\n  \"file_bytes\": %llu,\n  \"warp_instructions\": "
                  "%llu,\n  \"memory_instructions\": %llu,\n  \"copies\": %llu,\n  \"copied_bytes\": %llu",
                  o->cta_sample, (unsigned long long)o->seed, (unsigned long long)pw_trace_file_bytes(t),
                  (unsigned long long)all.warp_instructions, (unsigned long long)all.memory_instructions,
                  (unsigned long long)all.copies, (unsigned long long)all.copied_bytes);
    add_list("allocations", events, count, PW_TRACE_ALLOC, add_allocation_json, out);
    add_list("launches", events, count, PW_TRACE_LAUNCH, add_launch_json, out);
    pw_text_add(out, "\n}\n");
}
