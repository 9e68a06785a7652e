/* The driver's calls, and serial and parallel fault service. The model is described in driver.h, the files in
 * driver_internal.h.
 *
 * A fault is decided when it is registered: its pages are coming from then on, and later faults on them merge. Serial
 * service handles one fault group after the other, each for the fault latency; the transfers of one overlap with the
 * handling of the next. Parallel service lets the latencies overlap. Room is made and transfers are queued when the
 * handling ends. */
#include "uvm/driver_internal.h"

#include "sim/c_locale.h"
#include "sim/grow.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pw_uvm_fail(struct pw_uvm *u, enum pw_status status, const char *format, ...)
{
    struct pw_error err;
    char message[sizeof err.message];
    if (u->has_failed)
        return;
    u->has_failed = true;
    va_list arguments;
    va_start(arguments, format);
    pw_c_vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    pw_error_set(&err, status, "%s", message);
    u->wiring.failed(u->wiring.machine, &err);
}

void *pw_uvm_make_place(struct pw_uvm *u, void *items, size_t *first, size_t *count, size_t *capacity, size_t size)
{
    if (*count < *capacity)
        return items;
    if (*count && *first >= *capacity / 2) {
        memmove(items, (char *)items + *first * size, (*count - *first) * size);
        *count -= *first;
        *first = 0;
        return items;
    }
    void *grown = pw_grow(items, *count, capacity, size);
    if (!grown)
        pw_uvm_fail(u, PW_FAILED, "out of memory for demand paging");
    return grown;
}

static bool is_busy(void *context, pw_asid asid, pw_vpn vpn)
{
    struct pw_uvm *u = context;
    return u->wiring.busy(u->wiring.machine, asid, vpn);
}

/* Pages of device memory for managed data, before oversubscription is known. */
static enum pw_status find_capacity(const struct pw_uvm_config *config, const struct pw_uvm_wiring *wiring,
                                    uint64_t *out, struct pw_error *err)
{
    uint64_t unit = 1ULL << wiring->order, pages = config->memory / PW_PAGE_BYTES;
    if (config->memory && config->oversubscription > 0)
        return pw_fail(err, PW_USER_ERROR, "uvm.memory and uvm.oversubscription exclude each other; set one to 0");
    if (pages > wiring->frames)
        return pw_fail(err, PW_USER_ERROR, "uvm.memory is %llu KiB, but the machine has only %llu KiB for managed data",
                       (unsigned long long)(config->memory >> 10), (unsigned long long)wiring->frames * 4);
    *out = (config->memory ? pages : wiring->frames) / unit * unit;
    if (!*out)
        return pw_fail(err, PW_USER_ERROR,
                       "device memory for managed data must hold at least one page; set uvm.memory "
                       "to %llu KiB or more",
                       (unsigned long long)unit * 4);
    return PW_OK;
}

enum pw_status pw_uvm_create(const struct pw_uvm_config *config, const struct pw_uvm_wiring *wiring,
                             struct pw_uvm **out, struct pw_error *err)
{
    *out = NULL;
    struct pw_uvm *u = calloc(1, sizeof *u);
    if (!u)
        return pw_fail_memory(err, "demand paging");
    u->config = *config;
    u->wiring = *wiring;
    u->unit = 1U << wiring->order;
    enum pw_status status = find_capacity(config, wiring, &u->capacity, err);
    u->memory_bytes = u->capacity * PW_PAGE_BYTES;
    if (status == PW_OK)
        status = pw_advice_parse(config->advice, &u->advice, err);
    if (status == PW_OK) {
        struct pw_residency_config residency = {.prefetch = config->prefetch,
                                                .prefetch_full = config->prefetch_full,
                                                .evict = config->evict,
                                                .policies = wiring->policies,
                                                .events = wiring->events,
                                                .reserve = config->reserve / 100,
                                                .reserve_from = (enum pw_reserve_from)config->reserve_from,
                                                .free_buffer = config->free_buffer / 100,
                                                .capacity = u->capacity,
                                                .order = wiring->order,
                                                .seed = wiring->seed,
                                                .busy = wiring->busy ? is_busy : NULL,
                                                .context = u};
        status = pw_residency_create(&residency, &u->residency, err);
    }
    if (status != PW_OK) {
        pw_uvm_destroy(u);
        return status;
    }
    if (wiring->timeline) {
        uint32_t group = pw_timeline_group(wiring->timeline, "Host link");
        u->link_tracks[PW_LINK_H2D] = pw_timeline_tracks(wiring->timeline, group, "to the GPU", 1);
        u->link_tracks[PW_LINK_D2H] = pw_timeline_tracks(wiring->timeline, group, "to the host", 1);
        group = pw_timeline_group(wiring->timeline, "Demand paging");
        u->lanes = (struct pw_lanes){.timeline = wiring->timeline, .group = group, .name = "fault"};
    }
    *out = u;
    return PW_OK;
}

void pw_uvm_destroy(struct pw_uvm *u)
{
    if (!u)
        return;
    for (struct fetch *f = u->fetches, *next; f; f = next) {
        next = f->next;
        free(f);
    }
    for (struct prefetch_call *call = u->calls, *next; call; call = next) {
        next = call->next;
        free(call);
    }
    pw_residency_destroy(u->residency);
    pw_lanes_release(&u->lanes);
    free(u->faults.places);
    free(u->room.items);
    free(u->queue.items);
    free(u->batch.items);
    free(u->batch.ready.items);
    free(u->log);
    free(u);
}

struct pw_residency *pw_uvm_residency(struct pw_uvm *u)
{
    return u->residency;
}

enum pw_status pw_uvm_allocate(struct pw_uvm *u, pw_asid asid, const char *name, pw_vpn first, uint64_t bytes,
                               struct pw_error *err)
{
    enum pw_status status = pw_residency_add(u->residency, asid, name, first, bytes, err);
    unsigned advice = pw_advice_take(&u->advice, name) & ~(unsigned)PW_ADVICE_PREFETCH;
    return status == PW_OK && advice ? pw_uvm_advise(u, asid, first, advice, err) : status;
}

static void unmap_freed(void *context, pw_asid asid, pw_vpn vpn)
{
    struct pw_uvm *u = context;
    u->wiring.unmap(u->wiring.machine, asid, vpn, true);
}

enum pw_status pw_uvm_free(struct pw_uvm *u, pw_asid asid, pw_vpn first, struct pw_error *err)
{
    pw_page_id page = pw_residency_find(u->residency, asid, first);
    for (size_t i = 0; page != PW_NO_PAGE && i < pw_residency_range_count(u->residency); i++) {
        const struct pw_managed_range *range = pw_residency_range(u->residency, i);
        if (range->freed || range->asid != asid || range->first.v != first.v)
            continue;
        uint32_t outer = range->first_block + range->block_count;
        pw_faults_forget(u, range->first_block * PW_BLOCK_PAGES, outer * PW_BLOCK_PAGES);
        pw_fetch_forget_block_range(u, range->first_block, outer, u->wiring.events->now);
        break;
    }
    return pw_residency_remove(u->residency, asid, first, unmap_freed, u, err);
}

static uint64_t pages_allocated_now(const struct pw_uvm *u)
{
    uint64_t pages = 0;
    for (size_t i = 0; i < pw_residency_range_count(u->residency); i++) {
        const struct pw_managed_range *range = pw_residency_range(u->residency, i);
        if (!range->freed)
            pages += (range->bytes + PW_PAGE_BYTES - 1) / PW_PAGE_BYTES;
    }
    return pages;
}

enum pw_status pw_uvm_start(struct pw_uvm *u, uint64_t data_pages, struct pw_error *err)
{
    if (u->started || u->config.oversubscription <= 0)
        return PW_OK;
    u->started = true;
    uint64_t pages = u->config.oversubscription_of == PW_DATA_AT_LAUNCH ? pages_allocated_now(u) : data_pages;
    char wanted[PW_SIZE_CAPACITY], there[PW_SIZE_CAPACITY];
    double fits = (double)pages * 100 / u->config.oversubscription;
    if (fits > (double)u->capacity)
        return pw_fail(err, PW_USER_ERROR,
                       "uvm.oversubscription = %g asks for %s of device memory, but the machine has only %s",
                       u->config.oversubscription, pw_size_text(wanted, (uint64_t)(fits * PW_PAGE_BYTES), true),
                       pw_size_text(there, u->capacity * PW_PAGE_BYTES, false));
    u->capacity = (uint64_t)fits / u->unit * u->unit;
    if (!u->capacity)
        return pw_fail(err, PW_USER_ERROR, "uvm.oversubscription = %g of %s leaves no page of device memory",
                       u->config.oversubscription, pw_size_text(wanted, pages * PW_PAGE_BYTES, false));
    u->memory_bytes = u->capacity * PW_PAGE_BYTES;
    u->data_bytes = pages * PW_PAGE_BYTES;
    pw_residency_set_capacity(u->residency, u->capacity);
    return PW_OK;
}

static void begin_handling(struct fetch *f, pw_cycle now);

/* A fault that brings no page has been handled. If its page has left meanwhile, it is asked for. */
static void handled_in_place(struct fetch *f, pw_cycle now)
{
    struct pw_uvm *u = f->uvm;
    struct fault *fault = pw_faults_find_ticket(u, f->fault);
    pw_fetch_finish(f, now);
    if (!fault)
        return;
    if (pw_advice_serve_in_place(u, fault))
        pw_faults_replay(u, fault->page, now);
    else if (pw_residency_state(u->residency, fault->page) == PW_PAGE_COMING)
        pw_faults_report(u, fault);
    else
        pw_uvm_ask(u, fault, now);
}

static void handled(void *object, uint64_t unused, pw_cycle now)
{
    (void)unused;
    struct fetch *f = object;
    struct pw_uvm *u = f->uvm;
    if (u->config.service == PW_SERVICE_SERIAL) {
        pw_fetch_queue_take(&u->handling);
        if (u->handling.first)
            begin_handling(u->handling.first, now);
    }
    if (f->brings_no_page)
        handled_in_place(f, now);
    else
        pw_fetch_serve(f, now);
}

static void begin_handling(struct fetch *f, pw_cycle now)
{
    struct pw_uvm *u = f->uvm;
    u->batches++;
    u->batch_faults += f->faults;
    f->taken = now;
    if (u->wiring.timeline)
        f->track = pw_lanes_take(&u->lanes, now);
    pw_events_post(u->wiring.events, now + u->config.fault_latency, handled, f, 0);
}

void pw_uvm_ask(struct pw_uvm *u, struct fault *fault, pw_cycle now)
{
    if (u->config.service == PW_SERVICE_BATCH) {
        pw_batch_enqueue(u, fault, now);
        return;
    }
    struct pw_page_mask asked = pw_mask_range(fault->page % PW_BLOCK_PAGES, fault->page % PW_BLOCK_PAGES + u->unit);
    struct pw_fetch decided = {.block = fault->page / PW_BLOCK_PAGES};
    bool brings_no_page = pw_advice_brings_no_page(u, fault);
    if (!brings_no_page) {
        pw_residency_decide(u->residency, decided.block, &asked, &decided);
        fault->reported = true;
    }
    struct fetch *f = pw_fetch_begin(u, &decided, OWNER_FAULT, now);
    if (!f)
        return;
    if (brings_no_page) {
        f->brings_no_page = true;
        f->fault = (struct ticket){fault->page, fault->ticket};
        f->faults = 1;
    }
    if (u->config.service == PW_SERVICE_SERIAL) {
        pw_fetch_queue_add(&u->handling, f);
        if (u->handling.first != f)
            return;
    }
    begin_handling(f, now);
}

/* An access that faulted although its page is mapped (it came in the same cycle) is replayed at once. */
static void replay_resident(void *object, uint64_t argument, pw_cycle now)
{
    struct pw_uvm *u = object;
    struct fault *f = pw_faults_find(u, (pw_page_id)(argument >> 32));
    if (!f || (uint32_t)f->ticket != (uint32_t)argument)
        return;
    enum pw_page_state state = pw_residency_state(u->residency, f->page);
    if (state == PW_PAGE_RESIDENT || pw_residency_is_remote(u->residency, f->page))
        pw_faults_replay(u, f->page, now);
    else if (state == PW_PAGE_ABSENT)
        pw_uvm_ask(u, f, now);
}

bool pw_uvm_fault(struct pw_uvm *u, pw_asid asid, pw_vpn vpn, pw_cycle now)
{
    pw_page_id page = pw_residency_find(u->residency, asid, vpn);
    if (page == PW_NO_PAGE)
        return false;
    page &= ~(pw_page_id)(u->unit - 1);
    enum pw_page_state state = pw_residency_state(u->residency, page);
    struct fault *f = pw_faults_find(u, page);
    if (f) {
        f->merges++;
        return true;
    }
    f = pw_faults_add(u, page, now);
    if (!f)
        return true;
    if (state == PW_PAGE_COMING)
        pw_faults_report(u, f);
    else if (state == PW_PAGE_ABSENT && !pw_residency_is_remote(u->residency, page))
        pw_uvm_ask(u, f, now);
    else
        pw_events_post(u->wiring.events, now, replay_resident, u, (uint64_t)page << 32 | (uint32_t)f->ticket);
    return true;
}

bool pw_uvm_touch(struct pw_uvm *u, pw_asid asid, pw_vpn vpn, bool write, pw_cycle now)
{
    pw_page_id page = pw_residency_find(u->residency, asid, vpn);
    if (page == PW_NO_PAGE)
        return true;
    if (!pw_residency_touch(u->residency, page, write))
        return false;
    pw_uvm_ask_retry(u, now);
    return true;
}

void pw_uvm_access_ended(struct pw_uvm *u, pw_cycle now)
{
    pw_uvm_ask_retry(u, now);
}

uint64_t pw_uvm_pending(const struct pw_uvm *u)
{
    uint64_t calls = 0;
    for (const struct prefetch_call *call = u->calls; call; call = call->next)
        calls++;
    return u->faults.count + u->fetch_count + calls;
}
