/* Entries of page tables, written as memory operations (Mosaic, Section 4.3).
 *
 * The entries of one line are written together, as one store that goes to its L2 slice beside the page walker's reads,
 * without the crossbar, and to DRAM with its line like any other. It counts as done when its slice has taken it: later
 * reads find it there. Entries are written whole, so a sector full of them need not be fetched first. */
#include "vm/page_manager_internal.h"

#include "mem/cache.h"

#include <stdlib.h>

#define NO_JOB UINT32_MAX

enum { ENTRY_BYTES = 8 };

/* A batch that somebody waits for. */
struct pw_write_job {
    pw_entries_taken *taken;
    uint32_t left;  /* operations on their way; of a free place: 1 + the next such, or 0 */
    uint32_t track; /* with a timeline */
    pw_cycle sent;
    pw_vpn vpn, outer; /* pages whose entries are written */
    pw_paddr place;    /* of the first of them */
    uint8_t level;
};

/* NO_JOB: memory is out, and the run loop will stop the run. */
static uint32_t take_job(struct pw_page_manager *m)
{
    if (m->free_job) {
        uint32_t job = m->free_job - 1;
        m->free_job = m->jobs[job].left;
        return job;
    }
    if (m->job_count == m->job_capacity) {
        uint32_t capacity = m->job_capacity ? 2 * m->job_capacity : 64;
        struct pw_write_job *jobs = realloc(m->jobs, capacity * sizeof *jobs);
        if (!jobs) {
            pw_events_out_of_memory(m->wiring.events);
            return NO_JOB;
        }
        m->jobs = jobs;
        m->job_capacity = capacity;
    }
    return m->job_count++;
}

static void give_job(struct pw_page_manager *m, uint32_t job)
{
    m->jobs[job].left = m->free_job;
    m->free_job = job + 1;
}

static void record(struct pw_page_manager *m, const struct pw_write_job *job, pw_asid asid, pw_cycle now)
{
    pw_lanes_give(&m->write_lanes, job->track, now);
    pw_timeline_record(m->wiring.timeline, &(struct pw_interval){.track = job->track,
                                                                 .name = job->level == 3 ? "write a level-3 entry"
                                                                                         : "write level-4 entries",
                                                                 .from = job->sent,
                                                                 .to = now,
                                                                 .app = asid,
                                                                 .has_page = true,
                                                                 .page = job->vpn});
}

/* Where the entry lies in the memory of this manager's GPU. */
static pw_paddr entry_place(const struct pw_page_manager *m, pw_asid asid, pw_vpn vpn, unsigned level)
{
    const struct pw_page_table *table = pw_table_of(m, asid);
    return pw_page_table_on(table, m->wiring.gpu, pw_page_table_entry(table, vpn, level));
}

/* How many of the entries from vpn on, of pages before `outer`, lie in one line. */
static unsigned entries_in_line(uint32_t stride, pw_vpn vpn, pw_vpn outer)
{
    unsigned in_line = PW_LINE_BYTES / stride, n = in_line - (unsigned)(vpn.v % in_line);
    return n < outer.v - vpn.v ? n : (unsigned)(outer.v - vpn.v);
}

/* The first page of a batch whose entry lies in this line. */
static pw_vpn first_in_line(const struct pw_write_job *job, uint32_t stride, uint32_t line)
{
    uint64_t begin = (uint64_t)line << PW_LINE_SHIFT;
    return (pw_vpn){job->vpn.v + (begin > job->place.v ? (begin - job->place.v) / stride : 0)};
}

/* Sectors [first, outer) of a line, as a mask. */
static uint8_t sectors(uint32_t first, uint32_t outer)
{
    if (first >= outer)
        return 0;
    return (uint8_t)((1U << outer) - (1U << first));
}

static void send(struct pw_page_manager *m, pw_asid asid, pw_vpn vpn, unsigned count, unsigned level, uint32_t job)
{
    const struct pw_page_table *table = pw_table_of(m, asid);
    uint32_t stride = table->config.entry_stride;
    uint64_t place = entry_place(m, asid, vpn, level).v;
    uint32_t from = place % PW_LINE_BYTES, to = from + (count - 1) * stride + ENTRY_BYTES;
    struct pw_request *r = pw_request_take(m->wiring.pool);
    *r = (struct pw_request){.line = (uint32_t)(place >> PW_LINE_SHIFT),
                             .owner = job,
                             .kind = PW_REQUEST_MANAGER_WRITE,
                             .sectors = sectors(from / PW_SECTOR_BYTES, (to + PW_SECTOR_BYTES - 1) / PW_SECTOR_BYTES),
                             .full = stride == ENTRY_BYTES
                                         ? sectors((from + PW_SECTOR_BYTES - 1) / PW_SECTOR_BYTES, to / PW_SECTOR_BYTES)
                                         : 0,
                             .app = asid};
    m->writes_pending++;
    pw_memory_send_direct(m->wiring.memory, r, m->wiring.events->now);
}

void pw_page_manager_written(void *manager, struct pw_request *r, pw_cycle now)
{
    struct pw_page_manager *m = manager;
    uint32_t job = r->owner, line = r->line;
    if (job != NO_JOB && job & PW_COPY_OWNER) {
        pw_migrator_answered(m, r, now);
        return;
    }
    pw_asid asid = r->app;
    pw_request_give(m->wiring.pool, r);
    m->writes_pending--;
    if (job == NO_JOB)
        return;
    uint32_t stride = pw_table_of(m, asid)->config.entry_stride;
    pw_vpn first = first_in_line(&m->jobs[job], stride, line);
    unsigned count = entries_in_line(stride, first, m->jobs[job].outer);
    pw_entries_taken *taken = m->jobs[job].taken;
    bool last = --m->jobs[job].left == 0;
    if (last && m->wiring.timeline)
        record(m, &m->jobs[job], asid, now);
    if (last)
        give_job(m, job);
    taken(m, asid, first, count, last, now);
}

void pw_write_entries(struct pw_page_manager *m, pw_asid asid, pw_vpn vpn, unsigned count, unsigned level,
                      pw_entries_taken *taken)
{
    uint32_t stride = pw_table_of(m, asid)->config.entry_stride, job = NO_JOB;
    pw_vpn outer = {vpn.v + count};
    if (taken && m->wiring.memory) {
        job = take_job(m);
        if (job == NO_JOB)
            return;
        pw_cycle now = m->wiring.events->now;
        m->jobs[job] = (struct pw_write_job){.taken = taken,
                                             .sent = now,
                                             .vpn = vpn,
                                             .outer = outer,
                                             .place = entry_place(m, asid, vpn, level),
                                             .level = (uint8_t)level};
        if (m->wiring.timeline)
            m->jobs[job].track = pw_lanes_take(&m->write_lanes, now);
        for (pw_vpn at = vpn; at.v < outer.v; at.v += entries_in_line(stride, at, outer))
            m->jobs[job].left++;
    }
    for (unsigned n; vpn.v < outer.v; vpn.v += n) {
        n = entries_in_line(stride, vpn, outer);
        m->counters[asid].table_writes++;
        if (m->wiring.memory)
            send(m, asid, vpn, n, level, job);
        else if (taken)
            taken(m, asid, vpn, n, vpn.v + n == outer.v, m->wiring.events->now);
    }
}
