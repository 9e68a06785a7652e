#include "launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECTOR = 32, BANK_BYTES = 64 << 10 };

static uint64_t count_sectors(const struct effect *a)
{
    uint64_t seen[LANES * 2], count = 0;
    for (uint32_t lanes = a->lanes; lanes; lanes &= lanes - 1) {
        uint64_t first = a->addresses[__builtin_ctz(lanes)], last = (first + a->bytes - 1) / SECTOR;
        for (uint64_t sector = first / SECTOR; sector <= last; sector++) {
            uint64_t i = 0;
            while (i < count && seen[count - 1 - i] != sector)
                i++;
            if (i == count)
                seen[count++] = sector;
        }
    }
    return count;
}

static void count_instruction(struct counts *c, const struct effect *e)
{
    c->warp_instructions++;
    if (!e->lanes)
        return;
    if (e->kind == EFFECT_LOAD) {
        c->loads++;
        c->load_sectors += count_sectors(e);
    } else if (e->kind == EFFECT_STORE) {
        c->stores++;
        c->store_sectors += count_sectors(e);
    }
}

/* Bank 0: the launch's geometry, then what the driver puts there (nothing that these programs read), then the
 * arguments. */
static void fill_constants(const struct launch *l, uint8_t *bank)
{
    uint32_t geometry[] = {l->block[0], l->block[1], l->block[2], l->grid[0], l->grid[1], l->grid[2]};
    memcpy(bank, geometry, sizeof geometry);
    const struct kernel *k = l->kernel;
    for (uint32_t i = 0; i < k->parameter_count; i++)
        memcpy(bank + k->parameter_base + k->parameters[i].offset, l->arguments[i], k->parameters[i].bytes);
}

struct cta {
    struct warp *warps;
    uint32_t warp_count, threads, number;
};

static void begin_warp(struct warp *w, const struct launch *l, const uint32_t at[3], uint32_t first_thread,
                       uint32_t threads)
{
    uint32_t lanes = threads - first_thread < LANES ? threads - first_thread : LANES;
    memset(w->predicates, 0, sizeof w->predicates);
    w->uniform_predicates = 0;
    memcpy(w->cta, at, sizeof w->cta);
    for (uint32_t i = 0; i < lanes; i++) {
        uint32_t thread = first_thread + i;
        w->thread[i][0] = thread % l->block[0];
        w->thread[i][1] = thread / l->block[0] % l->block[1];
        w->thread[i][2] = thread / l->block[0] / l->block[1];
    }
    w->groups[0] = (struct group){lanes == LANES ? UINT32_MAX : (1U << lanes) - 1, 0, GROUP_RUNS, 0};
    w->group_count = 1;
}

static struct group *runnable(struct warp *w)
{
    for (uint32_t i = 0; i < w->group_count; i++)
        if (w->groups[i].state == GROUP_RUNS)
            return &w->groups[i];
    return NULL;
}

/* Of a generic access the part in shared memory comes before that in global memory, as on a GPU. */
static void observe(const struct observer *o, uint32_t cta, uint32_t warp, uint32_t pc, const struct effect *e)
{
    struct effect in_shared = {.kind = EFFECT_SHARED, .lanes = e->in_shared};
    if (in_shared.lanes)
        o->executed(o->context, cta, warp, pc, &in_shared);
    if (e->kind != EFFECT_NONE && e->lanes)
        o->executed(o->context, cta, warp, pc, e);
}

static void run_warp(struct machine *m, const struct cta *cta, uint32_t index, struct counts *c,
                     const struct observer *o)
{
    struct warp *w = &cta->warps[index];
    for (struct group *g = runnable(w); g; g = runnable(w)) {
        uint32_t pc = g->pc;
        if (execute(m, w, g) == OUTCOME_NEXT)
            g->pc++;
        count_instruction(c, &m->effect);
        if (o)
            observe(o, cta->number, index, pc, &m->effect);
    }
}

static int all_at_barrier(const struct cta *cta)
{
    int any = 0;
    for (uint32_t i = 0; i < cta->warp_count; i++)
        for (uint32_t j = 0; j < cta->warps[i].group_count; j++) {
            if (cta->warps[i].groups[j].state != GROUP_AT_CTA_BARRIER)
                return 0;
            any = 1;
        }
    return any;
}

static int any_alive(const struct cta *cta)
{
    for (uint32_t i = 0; i < cta->warp_count; i++)
        if (cta->warps[i].group_count)
            return 1;
    return 0;
}

static void run_cta(struct machine *m, struct cta *cta, struct counts *c, const struct observer *o)
{
    do {
        for (uint32_t i = 0; i < cta->warp_count; i++)
            run_warp(m, cta, i, c, o);
        if (!any_alive(cta))
            return;
        if (!all_at_barrier(cta)) {
            fprintf(stderr, "emulator: %s: lanes wait for each other\n", m->kernel->name);
            exit(3);
        }
        for (uint32_t i = 0; i < cta->warp_count; i++)
            for (uint32_t j = 0; j < cta->warps[i].group_count; j++)
                cta->warps[i].groups[j].state = GROUP_RUNS;
    } while (1);
}

struct counts launch_run(const struct launch *l, const struct observer *o)
{
    static uint8_t bank0[BANK_BYTES], shared[SHARED_BYTES];
    struct machine m = {.kernel = l->kernel, .shared = shared};
    memset(bank0, 0, sizeof bank0);
    for (uint32_t bank = 1; bank < CONSTANT_BANKS; bank++)
        m.constants[bank] = bank == 3 && l->constant3 ? l->constant3 : l->kernel->constants[bank];
    fill_constants(l, bank0);
    m.constants[0] = bank0;

    struct cta cta = {.threads = l->block[0] * l->block[1] * l->block[2]};
    cta.warp_count = (cta.threads + LANES - 1) / LANES;
    cta.warps = calloc(cta.warp_count, sizeof *cta.warps);
    struct counts c = {0};
    if (!cta.warps)
        return c;
    uint32_t at[3];
    for (at[2] = 0; at[2] < l->grid[2]; at[2]++)
        for (at[1] = 0; at[1] < l->grid[1]; at[1]++)
            for (at[0] = 0; at[0] < l->grid[0]; at[0]++) {
                for (uint32_t i = 0; i < cta.warp_count; i++)
                    begin_warp(&cta.warps[i], l, at, i * LANES, cta.threads);
                run_cta(&m, &cta, &c, o);
                cta.number++;
            }
    free(cta.warps);
    return c;
}
