/* The number of warps that could issue, as a mean over cycles.
 *
 * The breakdown of warp time knows it for every cycle, at the price of a branch per issue and much more when it is on.
 * For the mean it is enough to look once in a while: the masks of ready warps are there anyway. The distance between
 * two looks is a prime, so that no loop of a program keeps step with it. A warp whose run of arithmetic takes the issue
 * slots is not in the mask (issue.c); where a scheduler is busy, and not just held back by a pause, it counts too. */
#include "gpu/gpu_internal.h"

enum { PERIOD = 997 };

static unsigned ready_of(const struct pw_sm *sm, const struct pw_scheduler *s, pw_cycle now)
{
    unsigned ready = (unsigned)__builtin_popcountll(s->ready);
    bool issuing = s->resident && s->free > now && sm->gpu->paused_until <= now;
    return ready + (issuing && s->last != PW_NO_WARP && !(s->ready >> s->last & 1));
}

static pw_cycle look(void *gpu, pw_cycle now)
{
    struct pw_gpu *g = gpu;
    for (uint32_t i = 0; i < g->config.sm.count; i++)
        for (uint32_t k = 0; g->sms[i].app != PW_NO_APP && k < g->config.sm.schedulers; k++)
            g->ready.warps[g->sms[i].app] += ready_of(&g->sms[i], &g->sms[i].schedulers[k], now);
    g->ready.looks++;
    return pw_epoch_end(now, PERIOD);
}

/* Looks at `first` and every PERIOD cycles from then on that come before `time`, of `looks` in all. */
static uint64_t looks_before(pw_cycle time, pw_cycle first, uint64_t looks)
{
    uint64_t before = time > first ? (time - 1 - first) / PERIOD + 1 : 0;
    return before < looks ? before : looks;
}

/* Nothing issues, so what is ready stays so; only schedulers become free, and a pause ends. */
static void rest(void *gpu, pw_cycle first, uint64_t looks)
{
    struct pw_gpu *g = gpu;
    uint64_t paused = looks_before(g->paused_until, first, looks);
    for (uint32_t i = 0; i < g->config.sm.count; i++)
        for (uint32_t k = 0; g->sms[i].app != PW_NO_APP && k < g->config.sm.schedulers; k++) {
            const struct pw_scheduler *s = &g->sms[i].schedulers[k];
            uint64_t *warps = &g->ready.warps[g->sms[i].app], busy = looks_before(s->free, first, looks);
            *warps += looks * (unsigned)__builtin_popcountll(s->ready);
            if (s->resident && s->last != PW_NO_WARP && !(s->ready >> s->last & 1) && busy > paused)
                *warps += busy - paused;
        }
    g->ready.looks += looks;
}

void pw_gpu_begin(struct pw_gpu *g)
{
    g->ready.epochs = (struct pw_epochs){g->wiring.events, g, look, rest};
    pw_epochs_begin(&g->ready.epochs, g->wiring.events->now + PERIOD);
    if (g->deltas)
        pw_tlb_deltas_begin(g->deltas);
}

void pw_gpu_end(struct pw_gpu *g)
{
    pw_epochs_end(&g->ready.epochs);
    if (g->deltas)
        pw_tlb_deltas_end(g->deltas);
}

void pw_ready_register(const struct pw_gpu *g, struct pw_stats *stats)
{
    pw_stats_counter(stats, "sm.ready_warps", "warps", NULL, g->ready.warps, sizeof *g->ready.warps, 0);
    pw_stats_counter(stats, "sm.ready_looks", "looks", NULL, &g->ready.looks, 0, 0);
    pw_stats_common(stats, "sm.ready_looks");
    pw_stats_ratio(stats, "sm.ready_warps_mean", "warps", "Warps that could issue, averaged over every 997th cycle.",
                   "sm.ready_warps", "sm.ready_looks", 1);
}
