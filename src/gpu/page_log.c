/* Writes the log of page accesses: CSV as RFC 4180 has it, one table for all kinds of records, cells that a kind does not
 * have left empty.
 *
 * Time and launch together make a window, numbered as windows come. A page keeps the number of the last window in which it
 * was accessed and what was done to it then; an access is new when the window or the operation is. */
#include "gpu/page_log.h"

#include "mem/request.h"
#include "sim/new_file.h"
#include "uvm/allocation.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER_BYTES = 1 << 18, KIND_BITS = 3 };

#define ONE(member, unit) +1
enum { COLUMNS = 15 PW_ALLOCATION_COUNTERS(ONE) };
#undef ONE

struct allocation {
    char name[32];
    uint64_t first, pages, bytes;
    uint64_t *seen; /* by page: the window << KIND_BITS, and a bit for each kind of access in it */
};

struct application {
    struct allocation *allocations; /* by address */
    size_t count, capacity, last;   /* last: that an access was in */
    uint32_t launch;
    uint64_t window; /* the present one */
    pw_cycle outer;  /* its end */
    bool stopped;
};

struct pw_page_log {
    struct pw_new_file file;
    FILE *stream;
    uint64_t interval, limit;
    uint64_t accesses, accesses_left_out, batches, batches_left_out;
    pw_cycle first_access_left_out, first_batch_left_out;
    bool out_of_memory;
    struct application apps[PW_MAX_APPS];
};

static const char *const kind_names[] = {
    [PW_REQUEST_READ] = "read", [PW_REQUEST_WRITE] = "write", [PW_REQUEST_ATOMIC] = "atomic"};

enum pw_status pw_page_log_create(const char *path, uint64_t interval, uint64_t limit, struct pw_page_log **out,
                                  struct pw_error *err)
{
    *out = NULL;
    struct pw_page_log *l = calloc(1, sizeof *l);
    if (!l)
        return pw_fail_memory(err, "the log of page accesses");
    l->interval = interval ? interval : PW_PAGE_LOG_DEFAULT_INTERVAL;
    l->limit = limit ? limit : PW_PAGE_LOG_DEFAULT_LIMIT;
    enum pw_status status = pw_new_file_open(&l->file, path, err);
    if (status == PW_OK) {
        int copy = dup(l->file.fd);
        l->stream = copy < 0 ? NULL : fdopen(copy, "w");
        if (!l->stream || setvbuf(l->stream, NULL, _IOFBF, BUFFER_BYTES) != 0)
            status = pw_fail(err, PW_FAILED, "%s: cannot be written: %s", path, strerror(errno));
        if (!l->stream && copy >= 0)
            close(copy);
    }
    if (status != PW_OK) {
        pw_page_log_destroy(l);
        return status;
    }
    fputs("record,app,cycle,done,launch,allocation,name,page,op,faults,blocks,pages_out,bytes,pages", l->stream);
#define HEAD(member, unit) fputs("," #member, l->stream);
    PW_ALLOCATION_COUNTERS(HEAD)
#undef HEAD
    fputs(",left_out\n", l->stream);
    *out = l;
    return PW_OK;
}

void pw_page_log_destroy(struct pw_page_log *l)
{
    if (!l)
        return;
    if (l->stream)
        fclose(l->stream);
    pw_new_file_drop(&l->file);
    for (unsigned app = 0; app < PW_MAX_APPS; app++) {
        for (size_t i = 0; i < l->apps[app].count; i++)
            free(l->apps[app].allocations[i].seen);
        free(l->apps[app].allocations);
    }
    free(l);
}

void pw_page_log_allocated(struct pw_page_log *l, pw_asid app, const char *name, pw_vpn first, uint64_t bytes)
{
    struct application *a = &l->apps[app];
    if (a->stopped || l->out_of_memory)
        return;
    if (a->count == a->capacity) {
        size_t capacity = a->capacity ? 2 * a->capacity : 16;
        struct allocation *grown = realloc(a->allocations, capacity * sizeof *grown);
        l->out_of_memory = !grown;
        if (!grown)
            return;
        a->allocations = grown;
        a->capacity = capacity;
    }
    struct allocation *added = &a->allocations[a->count];
    *added =
        (struct allocation){.first = first.v, .pages = (bytes + PW_PAGE_BYTES - 1) >> PW_PAGE_SHIFT, .bytes = bytes};
    snprintf(added->name, sizeof added->name, "%s", name);
    added->seen = calloc(added->pages, sizeof *added->seen);
    l->out_of_memory = !added->seen;
    a->count += added->seen != NULL;
}

void pw_page_log_launched(struct pw_page_log *l, pw_asid app, uint32_t launch)
{
    struct application *a = &l->apps[app];
    a->launch = launch;
    a->outer = 0;
}

void pw_page_log_stop(struct pw_page_log *l, pw_asid app)
{
    l->apps[app].stopped = true;
}

/* The allocation that the page is in, or NULL. */
static struct allocation *find(struct application *a, uint64_t page)
{
    if (!a->count)
        return NULL;
    struct allocation *last = &a->allocations[a->last];
    if (page - last->first < last->pages)
        return last;
    size_t low = 0, high = a->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (a->allocations[middle].first <= page)
            low = middle;
        else
            high = middle;
    }
    a->last = low;
    return page - a->allocations[low].first < a->allocations[low].pages ? &a->allocations[low] : NULL;
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

/* Leaves the cells after the first `cells` empty. */
static void end_row(FILE *out, unsigned cells)
{
    for (; cells < COLUMNS; cells++)
        putc(',', out);
    putc('\n', out);
}

void pw_page_log_access(struct pw_page_log *l, pw_asid app, pw_vpn vpn, uint8_t kind, pw_cycle now)
{
    struct application *a = &l->apps[app];
    struct allocation *in = a->stopped ? NULL : find(a, vpn.v);
    if (!in)
        return;
    if (now >= a->outer) {
        a->window++;
        a->outer = (now / l->interval + 1) * l->interval;
    }
    uint64_t *seen = &in->seen[vpn.v - in->first], bit = 1ULL << kind;
    if (*seen >> KIND_BITS != a->window)
        *seen = a->window << KIND_BITS;
    if (*seen & bit)
        return;
    *seen |= bit;
    if (l->accesses == l->limit) {
        if (!l->accesses_left_out++)
            l->first_access_left_out = now;
        return;
    }
    l->accesses++;
    fprintf(l->stream, "access,%u,%llu,,%u,%zu,", app, (unsigned long long)now, a->launch,
            (size_t)(in - a->allocations));
    write_text(l->stream, in->name);
    fprintf(l->stream, ",%llu,%s", (unsigned long long)(vpn.v - in->first), kind_names[kind]);
    end_row(l->stream, 9);
}

void pw_page_log_launch(struct pw_page_log *l, pw_asid app, uint32_t launch, const char *kernel, pw_cycle first,
                        pw_cycle outer)
{
    fprintf(l->stream, "launch,%u,%llu,%llu,%u,,", app, (unsigned long long)first, (unsigned long long)outer, launch);
    write_text(l->stream, kernel);
    end_row(l->stream, 7);
}

void pw_page_log_batch(struct pw_page_log *l, const struct pw_fault_batch *batch)
{
    if (l->batches == l->limit) {
        if (!l->batches_left_out++)
            l->first_batch_left_out = batch->taken;
        return;
    }
    l->batches++;
    fprintf(l->stream, "batch,,%llu,%llu,,,,,,%u,%u,%u,,,,%u", (unsigned long long)batch->taken,
            (unsigned long long)batch->done, batch->faults, batch->blocks, batch->pages_out, batch->pages_in);
    end_row(l->stream, 16);
}

size_t pw_page_log_allocation_count(const struct pw_page_log *l, pw_asid app)
{
    return l->apps[app].count;
}

pw_vpn pw_page_log_allocation_first(const struct pw_page_log *l, pw_asid app, size_t number)
{
    return (pw_vpn){l->apps[app].allocations[number].first};
}

void pw_page_log_allocation(struct pw_page_log *l, pw_asid app, size_t number, const struct pw_uvm_counters *counters)
{
    const struct allocation *a = &l->apps[app].allocations[number];
    fprintf(l->stream, "allocation,%u,,,,%zu,", app, number);
    write_text(l->stream, a->name);
    fprintf(l->stream, ",,,,,,%llu,%llu", (unsigned long long)a->bytes, (unsigned long long)a->pages);
#define CELL(member, unit)                                                                                             \
    if (counters)                                                                                                      \
        fprintf(l->stream, ",%llu", (unsigned long long)counters->member);                                             \
    else                                                                                                               \
        putc(',', l->stream);
    PW_ALLOCATION_COUNTERS(CELL)
#undef CELL
    end_row(l->stream, COLUMNS - 1);
}

static void write_truncated(struct pw_page_log *l, const char *what, pw_cycle from, uint64_t left_out)
{
    if (!left_out)
        return;
    fprintf(l->stream, "truncated,,%llu,,,,%s", (unsigned long long)from, what);
    for (unsigned cells = 7; cells < COLUMNS; cells++)
        putc(',', l->stream);
    fprintf(l->stream, "%llu\n", (unsigned long long)left_out);
}

enum pw_status pw_page_log_finish(struct pw_page_log *l, struct pw_error *err)
{
    if (l->out_of_memory)
        return pw_fail_memory(err, "the log of page accesses");
    write_truncated(l, "access", l->first_access_left_out, l->accesses_left_out);
    write_truncated(l, "batch", l->first_batch_left_out, l->batches_left_out);
    bool written = !ferror(l->stream);
    int cause = errno;
    if (fclose(l->stream) != 0) {
        written = false;
        cause = errno;
    }
    l->stream = NULL;
    if (!written)
        return pw_fail(err, PW_FAILED, "%s: cannot be written: %s", l->file.target, strerror(cause));
    return pw_new_file_finish(&l->file, err);
}
