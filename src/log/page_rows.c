/* Every kind of record fills in its cells from the left; end_row adds the separators of those that are left. */
#include "log/page_rows.h"

#include "mem/request.h"
#include "uvm/allocation.h"

#include <string.h>

#define ONE(member, unit) +1
enum { COLUMNS = 15 PW_ALLOCATION_COUNTERS(ONE) };
#undef ONE

static const char *const kind_names[] = {
    [PW_REQUEST_READ] = "read", [PW_REQUEST_WRITE] = "write", [PW_REQUEST_ATOMIC] = "atomic"};

void pw_page_rows_head(FILE *out)
{
    fputs("record,app,cycle,done,launch,allocation,name,page,op,faults,blocks,pages_out,bytes,pages", out);
#define HEAD(member, unit) fputs("," #member, out);
    PW_ALLOCATION_COUNTERS(HEAD)
#undef HEAD
    fputs(",left_out\n", out);
}

static void write_text(FILE *out, const char *text)
{
    if (!strpbrk(text, ",\"\n")) {
        fputs(text, out);
        return;
    }
    putc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            putc('"', out);
        putc(*text, out);
    }
    putc('"', out);
}

static void skip_cells(FILE *out, unsigned first, unsigned outer)
{
    for (; first < outer; first++)
        putc(',', out);
}

/* Leaves the cells after the first `cells` empty. */
static void end_row(FILE *out, unsigned cells)
{
    skip_cells(out, cells, COLUMNS);
    putc('\n', out);
}

void pw_page_rows_access(FILE *out, const struct pw_page_row *row)
{
    fprintf(out, "access,%u,%llu,,%u,%zu,", row->app, (unsigned long long)row->cycle, row->launch, row->allocation);
    write_text(out, row->name);
    fprintf(out, ",%llu,%s", (unsigned long long)row->page, kind_names[row->kind]);
    end_row(out, 9);
}

void pw_page_rows_launch(FILE *out, pw_asid app, uint32_t launch, const char *kernel, pw_cycle first, pw_cycle outer)
{
    fprintf(out, "launch,%u,%llu,%llu,%u,,", app, (unsigned long long)first, (unsigned long long)outer, launch);
    write_text(out, kernel);
    end_row(out, 7);
}

void pw_page_rows_batch(FILE *out, const struct pw_fault_batch *batch)
{
    fprintf(out, "batch,,%llu,%llu,,,,,,%u,%u,%u,,,,%u", (unsigned long long)batch->taken,
            (unsigned long long)batch->done, batch->faults, batch->blocks, batch->pages_out, batch->pages_in);
    end_row(out, 16);
}

void pw_page_rows_allocation(FILE *out, pw_asid app, size_t number, const char *name, uint64_t bytes, uint64_t pages,
                             const struct pw_uvm_counters *counters)
{
    fprintf(out, "allocation,%u,,,,%zu,", app, number);
    write_text(out, name);
    fprintf(out, ",,,,,,%llu,%llu", (unsigned long long)bytes, (unsigned long long)pages);
#define CELL(member, unit)                                                                                             \
    if (counters)                                                                                                      \
        fprintf(out, ",%llu", (unsigned long long)counters->member);                                                   \
    else                                                                                                               \
        putc(',', out);
    PW_ALLOCATION_COUNTERS(CELL)
#undef CELL
    end_row(out, COLUMNS - 1);
}

void pw_page_rows_truncated(FILE *out, const char *kind, pw_cycle from, uint64_t left_out)
{
    fprintf(out, "truncated,,%llu,,,,%s", (unsigned long long)from, kind);
    skip_cells(out, 7, COLUMNS);
    fprintf(out, "%llu\n", (unsigned long long)left_out);
}
