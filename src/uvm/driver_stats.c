/* The driver's counts and descriptions: metrics, identities, the log of batches, what waits for what. */
#include "uvm/driver_internal.h"

#include <stdio.h>

/* What crossed the link must be the pages that came and went. */
static enum pw_status check_bytes(void *object, struct pw_error *err)
{
    struct pw_uvm *u = object;
    const struct pw_uvm_counters *pages = pw_residency_counters(u->residency);
    uint64_t in = 0, out = 0;
    for (unsigned app = 0; app < u->wiring.apps; app++) {
        const struct driver_counters *c = &u->counters[app];
        in += c->bytes_h2d;
        out += c->bytes_d2h;
        if (c->bytes_h2d != (pages[app].pages_in + c->pages_lost) * PW_PAGE_BYTES ||
            c->bytes_d2h != pages[app].pages_written * PW_PAGE_BYTES)
            return pw_fail(err, PW_FAILED, "app%u: bytes moved are not its pages * 4096", app);
    }
    for (const struct fetch *f = u->fetches; f; f = f->next)
        in += f->under_way * PW_PAGE_BYTES;
    if (in != pw_link_counters(u->wiring.link, PW_LINK_H2D)->bytes ||
        out != pw_link_counters(u->wiring.link, PW_LINK_D2H)->bytes)
        return pw_fail(err, PW_FAILED, "bytes over the link are not those of all applications");
    return PW_OK;
}

static enum pw_status check_residency(void *object, struct pw_error *err)
{
    struct pw_uvm *u = object;
    return pw_residency_check(u->residency, err);
}

void pw_uvm_register(struct pw_uvm *u, struct pw_stats *stats)
{
    const struct pw_uvm_counters *pages = pw_residency_counters(u->residency);
#define PAGES(field, unit, help)                                                                                       \
    pw_stats_counter(stats, "uvm." #field, unit, help, pages, sizeof *pages, offsetof(struct pw_uvm_counters, field))
#define OWN(name, unit, field, help)                                                                                   \
    pw_stats_counter(stats, name, unit, help, u->counters, sizeof *u->counters, offsetof(struct driver_counters, field))
    PAGES(far_faults, "faults", "Pages asked for that were neither on the GPU nor on their way.");
    PAGES(merged_faults, "faults", "Faults that found their page on its way.");
    PAGES(pages_in, "pages", "Pages that came to the GPU.");
    PAGES(pages_prefetched, "pages", "Those of them that no access had asked for when it was decided.");
    PAGES(prefetched_used, "pages", "Prefetched pages that were accessed later.");
    PAGES(prefetched_evicted, "pages", "Prefetched pages that left, or were freed, without having been accessed.");
    PAGES(prefetched_resident, "pages", "Prefetched pages that are on the GPU and have not been accessed.");
    pw_stats_level(stats, "uvm.prefetched_resident");
    PAGES(pages_evicted, "pages", "Pages that had to leave the GPU.");
    PAGES(pages_written, "pages", "Those of them that were written back to the host.");
    PAGES(pages_thrashed, "pages", "Pages that came after having been evicted.");
    PAGES(pages_remote, "pages", "Pages that were mapped where they are, in host memory.");
    PAGES(pages_collapsed, "pages", "Copies of read-mostly pages that a write made the only one.");
    OWN("uvm.bytes_h2d", "bytes", bytes_h2d, "Bytes of pages that came to the GPU.");
    OWN("uvm.bytes_d2h", "bytes", bytes_d2h, "Bytes of pages that were written back to the host.");
    OWN("uvm.pages_lost", "pages", pages_lost, "Pages that arrived after their allocation had been freed.");
    OWN("uvm.faults_registered", "faults", registered, "Far-fault registers taken: pages that accesses waited for.");
    OWN("uvm.faults_replayed", "faults", replayed, "Those whose accesses were replayed.");
    OWN("uvm.faults_forgotten", "faults", forgotten, "Those whose allocation was freed while accesses waited.");
    OWN("uvm.faults_waiting", "faults", waiting, "Those whose accesses still wait, at the end.");
    pw_stats_level(stats, "uvm.faults_waiting");
    OWN("uvm.fault_latency_sum", "cycles", latency, NULL);
#undef OWN
#undef PAGES
    pw_stats_ratio(stats, "uvm.fault_latency_mean", "cycles", "Mean time from a fault's registration to its replay.",
                   "uvm.fault_latency_sum", "uvm.faults_replayed", 1);
    pw_stats_counter(stats, "uvm.batches", "batches", "Fault groups or batches taken, of all applications.",
                     &u->batches, 0, 0);
    pw_stats_counter(stats, "uvm.batch_faults_sum", "faults", NULL, &u->batch_faults, 0, 0);
    pw_stats_ratio(stats, "uvm.batch_faults_mean", "faults", "Mean number of faults in a group or batch.",
                   "uvm.batch_faults_sum", "uvm.batches", 1);
    pw_stats_counter(stats, "uvm.memory_bytes", "bytes", "Device memory for managed data, of all applications.",
                     &u->memory_bytes, 0, 0);
    pw_stats_level(stats, "uvm.memory_bytes");
    pw_stats_counter(stats, "uvm.data_bytes", "bytes",
                     "Data that uvm.oversubscription is a share of (uvm.oversubscription_of); 0 where it is not used.",
                     &u->data_bytes, 0, 0);
    pw_stats_level(stats, "uvm.data_bytes");
    pw_stats_identity(stats, "uvm.pages_prefetched",
                      "uvm.prefetched_used + uvm.prefetched_evicted + uvm.prefetched_resident");
    pw_stats_identity(stats, "uvm.faults_registered",
                      "uvm.faults_replayed + uvm.faults_forgotten + uvm.faults_waiting");
    pw_stats_identity(stats, "uvm.bytes_h2d", "4096 * uvm.pages_in + 4096 * uvm.pages_lost");
    pw_stats_identity(stats, "uvm.bytes_d2h", "4096 * uvm.pages_written");
    pw_stats_identity_check(stats, "uvm.bytes = pages * 4096", check_bytes, u);
    pw_stats_identity_check(stats, "uvm.residency", check_residency, u);
}

void pw_uvm_bring_up_to_date(struct pw_uvm *u)
{
    for (unsigned app = 0; app < u->wiring.apps; app++)
        u->counters[app].waiting = 0;
    for (size_t i = 0; u->faults.count && i < u->faults.capacity; i++)
        if (u->faults.places[i].page != PW_NO_PAGE)
            u->counters[pw_residency_asid(u->residency, u->faults.places[i].page)].waiting++;
}

void pw_uvm_record(struct pw_uvm *u, uint32_t track, const char *name, pw_asid asid, pw_vpn page, pw_cycle from,
                   pw_cycle to)
{
    if (!u->wiring.timeline)
        return;
    pw_timeline_record(
        u->wiring.timeline,
        &(struct pw_interval){
            .track = track, .name = name, .from = from, .to = to, .app = asid, .has_page = true, .page = page});
}

void pw_uvm_keep_batches(struct pw_uvm *u)
{
    u->keeps_batches = true;
}

void pw_uvm_log(struct pw_uvm *u, const struct pw_fault_batch *row)
{
    size_t first = 0;
    if (!u->keeps_batches)
        return;
    struct pw_fault_batch *log = pw_uvm_make_place(u, u->log, &first, &u->log_count, &u->log_capacity, sizeof *u->log);
    if (!log)
        return;
    u->log = log;
    u->log[u->log_count++] = *row;
}

size_t pw_uvm_batches(const struct pw_uvm *u, const struct pw_fault_batch **out)
{
    *out = u->log;
    return u->log_count;
}

/* Pages that wait for room. */
static uint64_t waiting_pages(const struct pw_uvm *u)
{
    uint64_t pages = 0;
    for (const struct fetch *f = u->waiting.first; f; f = f->behind)
        pages += pw_mask_count(&f->faulted);
    return pages;
}

size_t pw_uvm_describe(const struct pw_uvm *u, char *out, size_t capacity)
{
    int length = snprintf(out, capacity,
                          "uvm: %zu pages awaited by accesses, %zu fetches, %zu of them waiting for room (%llu pages); "
                          "%llu of %llu pages resident",
                          u->faults.count, u->fetch_count, u->waiting.count, (unsigned long long)waiting_pages(u),
                          (unsigned long long)pw_residency_resident(u->residency), (unsigned long long)u->capacity);
    return length < 0 ? 0 : (size_t)length < capacity ? (size_t)length : capacity ? capacity - 1 : 0;
}

enum pw_status pw_uvm_stuck(const struct pw_uvm *u, struct pw_error *err)
{
    if (!u->waiting.first)
        return PW_OK;
    bool is_limited = u->config.memory || u->config.oversubscription > 0;
    if (!is_limited || !pw_residency_resident(u->residency))
        return pw_fail(err, PW_FAILED,
                       "demand paging is stuck: page tables, and pages that may not leave, fill the device memory, and "
                       "%llu KiB wait for room; give the GPU more memory (dram.bytes)",
                       (unsigned long long)waiting_pages(u) * 4);
    uint64_t enough = u->capacity + waiting_pages(u);
    return pw_fail(
        err, PW_FAILED,
        "demand paging is stuck: nothing may leave the %llu KiB of device memory, and %llu KiB wait for room; "
        "uvm.memory=%lluKB would do",
        (unsigned long long)u->capacity * 4, (unsigned long long)waiting_pages(u) * 4, (unsigned long long)enough * 4);
}
