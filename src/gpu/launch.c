/* What a launch takes of an SM, what that leaves, and how fast its warps issue.
 *
 * A CTA takes its registers, rounded up to the unit in which they are allocated, and its shared memory, with what the
 * system reserves of each CTA (1 KB on Hopper: Hopper Tuning Guide, "Unified Shared Memory/L1/Texture Cache").
 *
 * With l1d.carved, shared memory and the L1 data cache share one memory, as from Volta on. A launch gets the smallest
 * shared memory that the hardware knows in which as many of its CTAs have room as the largest could hold; the cache is
 * the rest. CUDA promises no more than that the driver chooses; that it does so without loss of occupancy is assumed.
 * A launch that changes the division finds the cache empty, as all do with
 * l1d.launch_empties.
 *
 * The instructions of a run of arithmetic come sm.issue_interval apart, or with sm.recorded_pace as far apart as they
 * are in the launch's machine code (capture/pace.h), where a trace or a kernel says that. */
#include "gpu/gpu_internal.h"

uint32_t pw_launch_registers(const struct pw_gpu *g, const struct pw_launch *l)
{
    uint32_t unit = g->config.sm.register_unit; /* a power of two */
    return ((l->registers + unit - 1) & ~(unit - 1)) * pw_launch_warps(l) * PW_WARP_LANES;
}

uint64_t pw_launch_shared(const struct pw_gpu *g, const struct pw_launch *l)
{
    return l->shared_bytes + g->config.sm.shared_reserved;
}

static uint64_t at_most(uint64_t most, uint64_t whole, uint64_t part)
{
    return part && whole / part < most ? whole / part : most;
}

/* CTAs of a launch that an SM can hold. */
static uint64_t occupancy(const struct pw_gpu *g, const struct pw_launch *l)
{
    const struct pw_sm_config *c = &g->config.sm;
    uint64_t most = at_most(c->ctas, c->warps, pw_launch_warps(l));
    most = at_most(most, c->threads, pw_launch_threads(l));
    most = at_most(most, c->registers, pw_launch_registers(g, l));
    return at_most(most, c->shared_bytes, pw_launch_shared(g, l));
}

/* Sizes of shared memory, in KB, from compute capability 7.0 to 9.0 (CUDA C++ Programming Guide, "Compute
 * Capabilities"); the largest is sm.shared_bytes. */
static uint64_t carve_out(uint64_t wanted, uint64_t most)
{
    static const uint32_t sizes[] = {0, 8, 16, 32, 64, 100, 132, 164, 196};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (wanted <= (uint64_t)sizes[i] << 10 && (uint64_t)sizes[i] << 10 < most)
            return (uint64_t)sizes[i] << 10;
    return most;
}

/* Sets of the L1 data cache beside a launch's shared memory. */
static uint32_t l1_sets(const struct pw_gpu *g, const struct pw_launch *l)
{
    const struct pw_gpu_config *c = &g->config;
    uint64_t bytes = c->l1d.bytes;
    if (c->l1d.carved)
        bytes -= carve_out(occupancy(g, l) * pw_launch_shared(g, l), c->sm.shared_bytes);
    return (uint32_t)(bytes / PW_LINE_BYTES / c->l1d.ways);
}

/* Beyond the cycle in which an instruction issues, in 1/256 of a cycle. */
static uint32_t issue_gap(const struct pw_sm_config *c, const struct pw_launch *l)
{
    if (!c->recorded_pace || !l->pace)
        return (uint32_t)((c->issue_interval - 1) * 256);
    return l->pace > 1000 ? (uint32_t)((uint64_t)(l->pace - 1000) * 256 / 1000) : 0;
}

void pw_sm_begin_launch(struct pw_sm *sm, const struct pw_launch *l)
{
    const struct pw_gpu *g = sm->gpu;
    pw_tlb_launch(&sm->tlb, sm->app);
    sm->issue_gap = issue_gap(&g->config.sm, l);
    uint32_t sets = l1_sets(g, l);
    if (sets != sm->l1.sets.by)
        pw_cache_resize(&sm->l1, sets);
    else if (g->config.l1d.launch_empties)
        pw_cache_clear(&sm->l1);
}
