/* Unloaded times as closed forms of the configuration, from the descriptions of the units and not from their code.
 *
 * A load that issues at t is looked up in the L1 TLB and reaches the L1 cache l1_tlb.latency later, hits there or
 * leaves the SM l1d.latency later, crosses to its partition in xbar.latency, reaches its slice l2.path later and is
 * answered l2.latency after that or goes on to DRAM, dram.path away. Data comes back flit by flit: the last one is
 * there flits - 1 + xbar.latency later. Page-table reads start beside the L2 and cross nothing. */
#ifndef PW_TESTS_CLOSED_FORM_H
#define PW_TESTS_CLOSED_FORM_H

#include "gpu/gpu.h"

/* What a DRAM access finds in its bank. */
enum row { ROW_CLOSED, ROW_OPEN, ROW_OTHER };

static inline uint64_t ceil_div(uint64_t a, uint64_t b)
{
    return (a + b - 1) / b;
}

/* Sectors that one lane's load of a line brings from the L2, or into it. */
static inline uint32_t form_sectors(bool sectored)
{
    return sectored ? 1 : 4;
}

static inline uint64_t form_flits(const struct pw_gpu_config *c, uint32_t sectors)
{
    return ceil_div(32 * sectors, c->crossbar.bytes_per_cycle);
}

static inline uint64_t form_reply(const struct pw_gpu_config *c)
{
    return form_flits(c, form_sectors(c->l1d.sectored)) - 1 + c->crossbar.latency;
}

static inline uint64_t form_l1_hit(const struct pw_gpu_config *c)
{
    return c->l1_tlb.tlb.latency + c->l1d.latency;
}

/* From the L1 cache to the answer of the slice, whether it hits or goes on to DRAM. */
static inline uint64_t form_to_l2(const struct pw_gpu_config *c)
{
    return c->l1d.latency + c->crossbar.latency + c->l2.path + c->l2.latency;
}

/* A page-table read that hits in the L2. */
static inline uint64_t form_walk_read(const struct pw_gpu_config *c)
{
    return c->l2.path + c->l2.latency;
}

/* From the L1 cache until a slice has taken a store. */
static inline uint64_t form_store(const struct pw_gpu_config *c)
{
    return c->l1d.latency + c->crossbar.latency + c->l2.path;
}

static inline uint64_t form_l2_hit(const struct pw_gpu_config *c)
{
    return c->l1_tlb.tlb.latency + form_to_l2(c) + form_reply(c);
}

/* The core cycle of the last data of a read that enters the queue of an idle channel at core cycle `at`: it waits for
 * the next DRAM clock (clock d begins at core cycle ceil(d * core / dram)), then for its commands and its bursts. */
static inline pw_cycle form_dram_done(const struct pw_gpu_config *c, pw_cycle at, enum row row)
{
    const struct pw_dram_config *d = &c->dram;
    uint64_t clock = at * d->clock_mhz / c->clock_mhz;
    while (ceil_div(clock * c->clock_mhz, d->clock_mhz) < at)
        clock++;
    while (clock && ceil_div((clock - 1) * c->clock_mhz, d->clock_mhz) >= at)
        clock--;
    if (row == ROW_OTHER)
        clock += d->rp;
    if (row != ROW_OPEN)
        clock += d->rcd;
    uint32_t burst = d->burst_bytes / d->bytes_per_clock, step = d->ccd > burst ? d->ccd : burst;
    uint64_t bursts = ceil_div(32 * form_sectors(c->l2.sectored), d->burst_bytes);
    clock += d->cl + (bursts - 1) * step + burst;
    return ceil_div(clock * c->clock_mhz, d->clock_mhz);
}

/* The end of a load whose line reaches the L1 cache at `at` and comes from DRAM. */
static inline pw_cycle form_dram_load(const struct pw_gpu_config *c, pw_cycle at, enum row row)
{
    return form_dram_done(c, at + form_to_l2(c) + c->dram.path, row) + form_reply(c);
}

/* From the lookup in the L1 TLB to the answer of the L2 TLB back in the SM, without the walk of a miss. */
static inline uint64_t form_l2_tlb(const struct pw_gpu_config *c, unsigned probes)
{
    return c->l1_tlb.tlb.latency + 2 * c->l2_tlb.distance + (c->l2_tlb.enabled ? probes * c->l2_tlb.tlb.latency : 0);
}

#endif
