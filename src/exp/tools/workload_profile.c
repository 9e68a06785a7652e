/* A workload's profile: the functional executor runs the program, and every memory instruction goes through the
 * coalescer and touches its pages, each once, in the order of the instruction stream.
 *
 * The order is the canonical one (CTA after CTA, warp by warp up to each barrier), not that of a machine, on which
 * warps mix: the profile belongs to the program alone. Addresses are not used twice, so a page that was freed stays in
 * the LRU stack until others have pushed it down. */
#include "exp/tools/page_slices.h"
#include "exp/tools/profile_uses.h"
#include "gpu/access_coalescing.h"
#include "pagewalk/pagewalk.h"
#include "sim/grow.h"
#include "sim/report_clock.h"
#include "sim/stack_distance.h"
#include "system/parameters.h"
#include "workload/runtime/functional.h"

#include <stdlib.h>
#include <string.h>

enum { LINES_PER_PAGE_SHIFT = PW_PAGE_SHIFT - PW_LINE_SHIFT };

/* A profile and what is needed to make it; the caller sees the first member. */
struct profiler {
    struct pw_profile profile;
    const struct pw_profile_spec *spec;
    struct pw_program program;
    struct pw_parameters parameters;
    struct pw_stack_distance distances;
    struct pw_page_slices slices;
    struct pw_profile_uses uses;
    uint64_t first_page, pages; /* of the program's addresses */
    uint64_t live_bytes;
    uint64_t stray; /* an address in no allocation, or 0 */
    size_t allocation_capacity, launch_capacity;
    struct pw_report_clock clock;
};

static enum pw_status allocated(void *context, uint32_t id, const char *name, pw_vaddr base, uint64_t bytes,
                                struct pw_error *err)
{
    (void)id;
    struct profiler *q = context;
    struct pw_profile *p = &q->profile;
    char *copy = strdup(name);
    struct pw_profile_allocation *list =
        pw_grow(p->allocations, p->allocation_count, &q->allocation_capacity, sizeof *list);
    if (list)
        p->allocations = list;
    if (!copy || !list) {
        free(copy);
        return pw_fail_memory(err, "the list of allocations");
    }
    if (p->allocation_count == 0)
        q->first_page = base.v >> PW_PAGE_SHIFT;
    list[p->allocation_count] = (struct pw_profile_allocation){.name = copy,
                                                               .address = base.v,
                                                               .bytes = bytes,
                                                               .recorded_bytes = bytes,
                                                               .memory = pw_memory_kind_name(PW_MEMORY_MANAGED),
                                                               .order = (uint32_t)p->allocation_count + 1,
                                                               .members = 1,
                                                               .has_name = true,
                                                               .launches_before = p->kernel_launches,
                                                               .launches_until_free = UINT64_MAX};
    p->allocation_count++;
    p->allocated_bytes += bytes;
    q->live_bytes += bytes;
    if (q->live_bytes > p->peak_bytes)
        p->peak_bytes = q->live_bytes;
    q->pages = ((base.v + bytes - 1) >> PW_PAGE_SHIFT) + 1 - q->first_page;
    enum pw_status status = pw_stack_distance_extend(&q->distances, q->pages, err);
    if (status == PW_OK)
        status = pw_page_slices_extend(&q->slices, q->pages, err);
    return status ? status : pw_profile_uses_allocated(&q->uses, base, bytes, err);
}

static enum pw_status origin(void *context, uint32_t id, const struct pw_alloc_origin *from, struct pw_error *err)
{
    (void)err;
    struct profiler *q = context;
    struct pw_profile_allocation *a = &q->profile.allocations[id];
    a->memory = pw_memory_kind_name(from->memory);
    a->recorded_bytes = from->bytes;
    a->order = from->order;
    a->members = from->members;
    a->has_name = from->has_name;
    return PW_OK;
}

static enum pw_status freed(void *context, uint32_t id, struct pw_error *err)
{
    (void)err;
    struct profiler *q = context;
    struct pw_profile_allocation *a = &q->profile.allocations[id];
    a->launches_until_free = q->profile.kernel_launches;
    q->live_bytes -= a->bytes;
    return PW_OK;
}

static bool same_launch(const struct pw_profile_launch *a, const struct pw_profile_launch *b)
{
    return strcmp(a->name, b->name) == 0 && memcmp(a->grid, b->grid, sizeof a->grid) == 0 &&
           memcmp(a->block, b->block, sizeof a->block) == 0 && a->shared_bytes == b->shared_bytes;
}

static enum pw_status launched(void *context, const struct pw_launch *l, struct pw_error *err)
{
    struct profiler *q = context;
    struct pw_profile *p = &q->profile;
    struct pw_profile_launch row = {.name = l->name ? l->name : "",
                                    .grid = {l->grid.x, l->grid.y, l->grid.z},
                                    .block = {l->block.x, l->block.y, l->block.z},
                                    .shared_bytes = l->shared_bytes,
                                    .count = 1};
    p->kernel_launches++;
    if (p->launch_count && same_launch(&p->launches[p->launch_count - 1], &row)) {
        p->launches[p->launch_count - 1].count++;
        return pw_profile_uses_launched(&q->uses, p->launches[p->launch_count - 1].name, err);
    }
    char *copy = strdup(row.name);
    struct pw_profile_launch *list = pw_grow(p->launches, p->launch_count, &q->launch_capacity, sizeof *list);
    if (list)
        p->launches = list;
    if (!copy || !list) {
        free(copy);
        return pw_fail_memory(err, "the list of launches");
    }
    row.name = copy;
    list[p->launch_count++] = row;
    return pw_profile_uses_launched(&q->uses, copy, err);
}

/* The allocation that holds the page: the last that begins at or before it. */
static struct pw_profile_allocation *allocation_of(struct profiler *q, uint64_t page)
{
    size_t low = 0, high = q->profile.allocation_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (q->profile.allocations[middle].address >> PW_PAGE_SHIFT <= page + q->first_page)
            low = middle;
        else
            high = middle;
    }
    return &q->profile.allocations[low];
}

static void touch_page(struct profiler *q, uint64_t page)
{
    struct pw_profile *p = &q->profile;
    p->pages++;
    uint64_t distance = pw_stack_distance_touch(&q->distances, page);
    if (distance == PW_FIRST_TOUCH)
        allocation_of(q, page)->pages_touched++;
    else
        p->reuse[distance ? 64 - __builtin_clzll(distance) : 0]++;
    pw_page_slices_touch(&q->slices, page, p->warp_instructions);
}

static void touch_lines(struct profiler *q, const struct pw_op *op, const uint64_t *words)
{
    struct pw_line_access lines[PW_MAX_LINES];
    unsigned count = pw_coalesce_accesses(op, words, LINES_PER_PAGE_SHIFT, lines);
    uint64_t last = UINT64_MAX;
    q->profile.lines += count;
    for (unsigned i = 0; i < count; i++) {
        uint64_t page = (lines[i].line >> LINES_PER_PAGE_SHIFT) - q->first_page;
        if (page == last)
            continue;
        last = page;
        if (page < q->pages)
            touch_page(q, page);
        else
            q->stray = lines[i].line << PW_LINE_SHIFT;
    }
}

static void visit(void *context, const struct pw_warp *w, const struct pw_op *op, const uint64_t *words)
{
    (void)w;
    struct profiler *q = context;
    struct pw_profile *p = &q->profile;
    struct pw_profile_launch *launch = &p->launches[p->launch_count - 1];
    uint64_t instructions = 1;
    switch (op->kind) {
    case PW_OP_LOAD:
    case PW_OP_STORE:
    case PW_OP_ATOMIC:
    case PW_OP_ATOMIC_RETURN:
        p->loads += op->kind == PW_OP_LOAD;
        p->stores += op->kind == PW_OP_STORE;
        p->memory_instructions++;
        launch->memory_instructions++;
        touch_lines(q, op, words);
        pw_profile_uses_access(&q->uses, op, words);
        break;
    case PW_OP_COMPUTE:
        instructions = op->count_or_mask;
        break;
    default:
        break;
    }
    p->warp_instructions += instructions;
    launch->warp_instructions += instructions;
}

static enum pw_status advanced(void *context, const struct pw_functional_position *at, struct pw_error *err)
{
    struct profiler *q = context;
    const struct pw_profile_spec *spec = q->spec;
    if (q->stray)
        return pw_fail(err, PW_FAILED, "workload %s: kernel %s touches %#llx, which lies in none of its arrays",
                       q->profile.workload, at->launch->name, (unsigned long long)q->stray);
    if (spec->interrupted && *spec->interrupted)
        return pw_fail(err, PW_INTERRUPTED, "interrupted");
    double seconds;
    if (!spec->progress || !pw_report_due(&q->clock, &seconds))
        return PW_OK;
    double done = (double)(at->launches - 1) + (double)at->ctas / (double)pw_launch_ctas(at->launch);
    const struct pw_progress progress = {.fraction = at->planned_launches ? done / at->planned_launches : -1,
                                         .warp_instructions = q->profile.warp_instructions,
                                         .wall_seconds = seconds,
                                         .kernel = at->launch->name};
    spec->progress(spec->progress_context, &progress);
    return PW_OK;
}

static enum pw_status finish(struct profiler *q, const struct pw_functional_counts *counts, struct pw_error *err)
{
    struct pw_profile *p = &q->profile;
    p->passes = counts->passes;
    p->ctas = counts->ctas;
    p->warps = counts->warps;
    p->lanes = counts->lane_accesses;
    p->atomics = p->memory_instructions - p->loads - p->stores;
    p->distinct_pages = q->distances.distinct;
    p->slice_count = pw_page_slices_finish(&q->slices, p->warp_instructions);
    p->slice_instructions = UINT64_C(1) << q->slices.shift;
    p->slices = calloc(PW_PAGE_SLICES, sizeof *p->slices);
    if (!p->slices)
        return pw_fail_memory(err, "pages over time");
    for (unsigned i = 0; i < p->slice_count; i++)
        p->slices[i] = (struct pw_profile_slice){pw_page_slices_distinct(&q->slices, i), q->slices.first_touches[i]};
    return pw_profile_uses_finish(&q->uses, p->allocations, err);
}

static enum pw_status describe(struct profiler *q, struct pw_error *err)
{
    struct pw_profile *p = &q->profile;
    if (!q->spec->workload)
        return pw_fail(err, PW_USER_ERROR, "no workload is given; name one (see 'pagewalk list workloads')");
    enum pw_status status = pw_program_parse(q->spec->workload, &q->program, err);
    if (status == PW_OK)
        status = pw_parameters_describe(&q->program, &q->parameters, err);
    if (status != PW_OK)
        return status;
    const struct pw_workload *w = q->program.workload;
    p->workload = q->program.text;
    p->name = w->name;
    p->suite = w->suite;
    p->papers = w->papers ? w->papers : "";
    p->summary = w->summary;
    p->passes_parameter = w->passes ? w->passes : "";
    p->seed = q->spec->seed ? q->spec->seed : 1;
    p->parameter_count = q->parameters.parameter_count;
    p->parameters = q->parameters.parameters;
    p->size_count = q->parameters.size_count;
    p->sizes = q->parameters.sizes;
    return PW_OK;
}

enum pw_status pw_workload_profile(const struct pw_profile_spec *spec, struct pw_profile **out, struct pw_error *err)
{
    struct pw_functional_counts counts;
    struct profiler *q = calloc(1, sizeof *q);
    if (!q)
        return pw_fail_memory(err, "a profile");
    q->spec = spec;
    q->clock = pw_report_clock();
    const struct pw_functional_observer observer = {.context = q,
                                                    .visit = visit,
                                                    .allocated = allocated,
                                                    .origin = origin,
                                                    .freed = freed,
                                                    .launched = launched,
                                                    .advanced = advanced,
                                                    .interrupted = spec->interrupted};
    enum pw_status status = describe(q, err);
    if (status == PW_OK)
        status = pw_functional_observe(&q->program, q->profile.seed, false, &observer, &counts, err);
    if (status == PW_OK)
        status = finish(q, &counts, err);
    pw_stack_distance_release(&q->distances);
    pw_page_slices_release(&q->slices);
    pw_profile_uses_release(&q->uses);
    q->spec = NULL;
    if (status == PW_OK)
        *out = &q->profile;
    else
        pw_profile_free(&q->profile);
    return status;
}

void pw_profile_free(struct pw_profile *p)
{
    if (!p)
        return;
    struct profiler *q = (struct profiler *)p;
    for (size_t i = 0; i < p->allocation_count; i++) {
        free((char *)p->allocations[i].name);
        free((struct pw_profile_use *)p->allocations[i].kernels);
    }
    for (size_t i = 0; i < p->launch_count; i++)
        free((char *)p->launches[i].name);
    free(p->allocations);
    free(p->launches);
    free(p->slices);
    pw_parameters_release(&q->parameters);
    pw_program_release(&q->program);
    free(q);
}
