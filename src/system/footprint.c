/* The first pass over the programs of a run: the functional executor runs them without a machine and without time, and
 * every memory instruction touches its pages.
 *
 * Pages are those of the machine (page.size), so that memory for half of them holds half of them. What a program frees
 * no longer counts, so the footprint is the most that ever lay in what was allocated at one time: a program that
 * allocates its arrays again in every iteration has the footprint of one iteration. Programs whose addresses do not
 * depend on data compute nothing here. A recorded program streams: one bit for each of its pages is all that is kept.
 *
 * Pinned host memory and what is advised to stay on the host and be accessed there never comes to the GPU and does not
 * count (uvm.advice, which is a run's own, changes nothing here).
 *
 * The order of warps is not that of a machine, but which pages are touched does not depend on it
 * (tests/golden/warp_order.c). Left out: how often programs start over beside others; only the first run of each
 * counts. */
#include "system/footprint.h"

#include "sim/grow.h"
#include "sim/report_clock.h"
#include "system/system.h"
#include "workload/runtime/functional.h"

#include <stdlib.h>

/* Pages [first, outer) of the machine, and what was asked for. */
struct range {
    uint64_t first, outer, bytes;
    bool stays_away; /* accessed on the host */
};

/* One program's pass. */
struct pass {
    const struct pw_system *system;
    const struct pw_program *program;
    unsigned app, shift; /* a page of the machine has 2^shift bytes */
    struct pw_report_clock *clock;
    struct pw_touched live;      /* by pages of the machine, each of which it counts as PW_PAGE_BYTES */
    uint64_t touched, allocated; /* the most so far */
    uint64_t allocated_now;
    size_t away; /* ranges that are live and stay away */
    uint64_t warp_instructions;
    struct range *ranges; /* by allocation */
    size_t count, capacity;
};

static uint64_t base_pages(uint64_t bytes)
{
    return (bytes + PW_PAGE_BYTES - 1) / PW_PAGE_BYTES;
}

static uint64_t touched_in(const struct pass *p, const struct range *r)
{
    uint64_t pages = 0;
    for (uint64_t page = r->first - p->live.first; page < r->outer - p->live.first; page++)
        pages += p->live.bits[page / 64] >> (page % 64) & 1;
    return pages;
}

static void note_touched(struct pass *p)
{
    uint64_t pages = p->live.bytes / PW_PAGE_BYTES;
    for (size_t i = 0; p->away && i < p->count; i++)
        if (p->ranges[i].stays_away)
            pages -= touched_in(p, &p->ranges[i]);
    p->touched = pages > p->touched ? pages : p->touched;
}

static enum pw_status allocated(void *context, uint32_t id, const char *name, pw_vaddr base, uint64_t bytes,
                                struct pw_error *err)
{
    (void)id, (void)name;
    struct pass *p = context;
    struct range *list = pw_grow(p->ranges, p->count, &p->capacity, sizeof *list);
    if (!list)
        return pw_fail_memory(err, "the footprint of a program");
    p->ranges = list;
    struct range *r = &list[p->count++];
    *r = (struct range){base.v >> p->shift, ((base.v + bytes - 1) >> p->shift) + 1, bytes, false};
    p->allocated_now += base_pages(bytes);
    return pw_touched_extend(&p->live, r->first, r->outer, err);
}

static enum pw_status advised(void *context, uint32_t id, unsigned advice, struct pw_error *err)
{
    (void)err;
    const unsigned away = PW_ADVICE_PREFER_HOST | PW_ADVICE_ACCESSED_BY;
    struct pass *p = context;
    struct range *r = &p->ranges[id];
    bool stays_away = (advice & away) == away;
    if (stays_away && !r->stays_away) {
        p->allocated_now -= base_pages(r->bytes);
        p->away++;
    } else if (!stays_away && r->stays_away) {
        p->allocated_now += base_pages(r->bytes);
        p->away--;
    }
    r->stays_away = stays_away;
    return PW_OK;
}

static enum pw_status freed(void *context, uint32_t id, struct pw_error *err)
{
    struct pass *p = context;
    struct range *r = &p->ranges[id];
    note_touched(p);
    p->live.bytes -= touched_in(p, r) * PW_PAGE_BYTES;
    enum pw_status status = advised(context, id, 0, err);
    p->allocated_now -= base_pages(r->bytes);
    return status;
}

/* What is allocated counts once kernels can touch it: by then it is said where it stays. */
static enum pw_status launched(void *context, const struct pw_launch *launch, struct pw_error *err)
{
    (void)launch, (void)err;
    struct pass *p = context;
    p->allocated = p->allocated_now > p->allocated ? p->allocated_now : p->allocated;
    return PW_OK;
}

/* The last page is remembered: lanes mostly stay within one. An access may go on into the next page. */
static inline uint64_t touch(struct pass *p, uint64_t address, uint32_t bytes, uint64_t last)
{
    uint64_t first = address >> p->shift, outer = (address + bytes - 1) >> p->shift;
    if (first != last)
        pw_touch(&p->live, (pw_vpn){first});
    if (outer != first)
        pw_touch(&p->live, (pw_vpn){outer});
    return outer;
}

static void visit(void *context, const struct pw_warp *w, const struct pw_op *op, const uint64_t *words)
{
    (void)w;
    struct pass *p = context;
    uint64_t last = UINT64_MAX;
    p->warp_instructions += pw_op_instructions(*op);
    if (pw_op_words(*op) == 1)
        return;
    if (op->form == PW_FORM_AFFINE)
        for (uint32_t lanes = op->count_or_mask; lanes; lanes &= lanes - 1)
            last = touch(p, words[0] + (uint64_t)__builtin_ctz(lanes) * words[1], op->bytes, last);
    else
        for (uint32_t i = 0; i < pw_lane_count(op->count_or_mask); i++)
            last = touch(p, words[i], op->bytes, last);
}

static enum pw_status advanced(void *context, const struct pw_functional_position *at, struct pw_error *err)
{
    struct pass *p = context;
    const struct pw_run_spec *spec = p->system->spec;
    double seconds;
    if (spec->interrupted && *spec->interrupted)
        return pw_fail(err, PW_INTERRUPTED, "interrupted in the first pass, which counts the pages that are touched");
    if (!spec->progress || !pw_report_due(p->clock, &seconds))
        return PW_OK;
    double done = (double)(at->launches - 1) + (double)at->ctas / (double)pw_launch_ctas(at->launch);
    double fraction = at->planned_launches ? done / at->planned_launches : -1;
    const struct pw_progress progress = {.fraction = fraction < 0 ? -1 : (p->app + fraction) / p->system->app_count,
                                         .warp_instructions = p->warp_instructions,
                                         .wall_seconds = seconds,
                                         .kernel = at->launch->name,
                                         .phase = "first pass"};
    spec->progress(spec->progress_context, &progress);
    return PW_OK;
}

static enum pw_status run_pass(struct pass *p, unsigned instance, struct pw_error *err)
{
    const struct pw_functional_observer observer = {.context = p,
                                                    .instance = instance,
                                                    .visit = visit,
                                                    .allocated = allocated,
                                                    .freed = freed,
                                                    .advised = advised,
                                                    .launched = launched,
                                                    .advanced = advanced,
                                                    .interrupted = p->system->spec->interrupted};
    struct pw_functional_counts counts;
    struct pw_program program = *p->program;
    program.values = program.values && program.workload->needs_values;
    enum pw_status status = pw_functional_observe(&program, p->system->seed, false, &observer, &counts, err);
    note_touched(p);
    pw_touched_release(&p->live);
    free(p->ranges);
    return status;
}

enum pw_status pw_footprint_find(const struct pw_system *s, struct pw_footprint *out, struct pw_error *err)
{
    enum pw_status status = PW_OK;
    unsigned order = pw_page_config_order(&s->config.page);
    struct pw_report_clock clock = pw_report_clock();
    *out = (struct pw_footprint){0};
    for (unsigned i = 0; status == PW_OK && i < s->app_count; i++) {
        const struct pw_app *a = &s->apps[i];
        struct pass pass = {
            .system = s, .program = &a->program, .app = i, .shift = PW_PAGE_SHIFT + order, .clock = &clock};
        status = run_pass(&pass, a->instance, err);
        out->touched += pass.touched << order;
        out->allocated += pass.allocated;
        if (status != PW_OK && s->app_count > 1)
            pw_error_prefix(err, "app%u (%s)", i, a->program.text);
    }
    return status;
}
