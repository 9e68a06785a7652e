/* trace: a recorded program, run again (-w trace:FILE).
 *
 * The host program goes through the events of the trace: allocations, frees, prefetches, advice, launches. A kernel is
 * one that hands on the recorded operations of its warp. Kept: what each warp does, in its order, with the distances in
 * instructions and the first uses of loads that the trace has; launch geometry, registers, shared memory and pace;
 * which allocations share a piece of 2 MiB, and each address's place within it (relocation.h). Left out: data, and with
 * them checks of results; copies, whose data are on the GPU when a kernel asks for them as those of other programs are;
 * the host's own time; what ran beside what: launches follow one another.
 *
 * A trace that was recorded of a built-in program gives that program's results to the last bit. */
#include "trace/import.h"
#include "workload/trace/relocation.h"

#include <stdio.h>
#include <string.h>

struct parameters {
    char file[PW_OPTION_TEXT_CAPACITY];
    uint32_t skip, count;
};

/* What a kernel finds: the operations of its launch, and where addresses go. */
struct launch {
    struct pw_trace_launch *trace;
    struct pw_relocation *relocation;
    const char *path;
    struct pw_error *err; /* for a kernel that fails: the stacks of warps are small */
};

struct replay {
    struct pw_host *host;
    struct pw_trace *trace;
    struct pw_relocation relocation;
    struct launch launch;
    struct pw_error err;
};

static bool fail_address(struct pw_warp *w, const struct launch *l, uint64_t address)
{
    pw_error_set(l->err, PW_USER_ERROR,
                 "%s: kernel %s accesses address 0x%llx, which is not in any allocation; the trace is damaged", l->path,
                 w->launch->name, (unsigned long long)address);
    pw_warp_fail(w, l->err);
    return false;
}

/* Moves addresses of lanes that may lie in different allocations. An access that goes on behind its range begins at a
 * multiple of its width, so that it stays in the page of its first byte: what lies behind the range may have moved to
 * somewhere else. */
static bool move_each_lane(struct pw_warp *w, const struct launch *l, uint64_t *words, uint32_t count, uint32_t bytes)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct pw_moved_range *range = pw_relocation_find(l->relocation, words[i]);
        if (!range)
            return fail_address(w, l, words[i]);
        if (__builtin_expect(!pw_moved_range_has(range, words[i] + bytes - 1), 0))
            words[i] &= ~(uint64_t)(bytes - 1);
        words[i] += range->shift;
    }
    return true;
}

/* No two addresses of a GPU are further apart. */
#define FARTHEST (UINT64_C(1) << 57)

/* An access at this offset from the beginning of a range lies within it, as the offset is at most `most`, if bit 63 is
 * not set. So many accesses are asked about without a branch for each. */
static inline uint64_t is_outside(uint64_t offset, uint64_t most)
{
    return offset | (most - offset);
}

static inline bool has_all(const struct pw_moved_range *range, const uint64_t *words, uint32_t count, uint32_t bytes)
{
    uint64_t first = range->first, most = range->bytes - bytes, outside = most;
    for (uint32_t i = 0; i < count; i++)
        outside |= is_outside(words[i] - first, most);
    return !(outside >> 63);
}

/* Moves one address per active lane, which mostly lie in the same allocation. */
static bool move_lanes(struct pw_warp *w, const struct launch *l, uint64_t *words, uint32_t count, uint32_t bytes)
{
    const struct pw_moved_range *range = pw_relocation_find(l->relocation, words[0]);
    if (!range || !has_all(range, words, count, bytes))
        return move_each_lane(w, l, words, count, bytes);
    for (uint32_t i = 0; i < count; i++)
        words[i] += range->shift;
    return true;
}

/* Moves an affine access. One whose lanes do not all lie in one allocation becomes one of single addresses. */
static inline bool move_affine(struct pw_warp *w, const struct launch *l, struct pw_op *op, uint64_t *words)
{
    uint32_t mask = op->count_or_mask;
    uint64_t base = words[0], stride = words[1];
    uint32_t lowest = (uint32_t)__builtin_ctz(mask), lanes = 31 - (uint32_t)__builtin_clz(mask) - lowest;
    uint64_t first = base + lowest * stride;
    const struct pw_moved_range *range = pw_relocation_find(l->relocation, first);
    if (range) {
        uint64_t offset = first - range->first, most = range->bytes - op->bytes;
        uint64_t outside = most | is_outside(offset, most) | is_outside(offset + lanes * stride, most);
        outside |= is_outside(stride + FARTHEST, 2 * FARTHEST); /* or the last lane could be back where the first is */
        if (__builtin_expect(!(outside >> 63), 1)) {
            words[0] = base + range->shift;
            return true;
        }
    }
    uint32_t count = 0;
    for (uint32_t m = mask; m; m &= m - 1)
        words[count++] = base + (uint32_t)__builtin_ctz(m) * stride;
    op->form = PW_FORM_LANES;
    return move_each_lane(w, l, words, count, op->bytes);
}

static inline bool move(struct pw_warp *w, const struct launch *l, struct pw_op *op, uint64_t *words)
{
    if (!pw_op_is_access(*op))
        return true;
    return op->form == PW_FORM_AFFINE ? move_affine(w, l, op, words)
                                      : move_lanes(w, l, words, pw_lane_count(op->count_or_mask), op->bytes);
}

static void replay_kernel(struct pw_warp *w, const void *arguments)
{
    const struct launch *l = arguments;
    struct pw_trace_cursor cursor;
    pw_trace_cursor_start(&cursor, l->trace, w->cta_index, w->index);
    for (;;) {
        uint64_t *at = pw_emit_room(w);
        struct pw_op op;
        enum pw_trace_step step = pw_trace_cursor_next(&cursor, &op, at + 1, l->err);
        if (step == PW_TRACE_STEP_FAILED)
            pw_warp_fail(w, l->err);
        if (step != PW_TRACE_STEP_OP)
            return;
        if (op.kind == PW_OP_EXIT) { /* returning makes one */
            w->next_in_flight = op.loads_in_flight;
            return;
        }
        if (!move(w, l, &op, at + 1))
            return;
        pw_emitted(w, op);
    }
}

/* A name that is the address of the recorded run says nothing in the next. */
static bool is_named(const struct pw_trace_event *e)
{
    char address[32];
    snprintf(address, sizeof address, "0x%llx", (unsigned long long)e->address);
    return *e->name && strcmp(e->name, address) != 0;
}

static void say_origin(struct replay *r, const struct pw_trace_group *g, const struct pw_trace_event *e)
{
    static const enum pw_memory_kind kinds[] = {[PW_TRACE_DEVICE] = PW_MEMORY_DEVICE,
                                                [PW_TRACE_MANAGED] = PW_MEMORY_MANAGED,
                                                [PW_TRACE_HOST] = PW_MEMORY_HOST,
                                                [PW_TRACE_INFERRED] = PW_MEMORY_UNKNOWN,
                                                [PW_TRACE_MEMORY_COUNT] = PW_MEMORY_SEVERAL};
    const struct pw_alloc_origin origin = {.memory = kinds[g->memory],
                                           .order = g->order,
                                           .members = g->members,
                                           .bytes = g->bytes,
                                           .has_name = is_named(e)};
    pw_alloc_from(r->host, &g->array, &origin);
}

static void allocate(struct replay *r, const struct pw_trace_event *e)
{
    struct pw_trace_group *g = &r->relocation.groups[r->relocation.group_of[e->allocation]];
    if (!g->is_allocated) {
        char name[64];
        if (g->members > 1)
            snprintf(name, sizeof name, "%.40s+%u", e->name, g->members - 1);
        else
            snprintf(name, sizeof name, "%.60s", e->name);
        g->array = pw_alloc(r->host, name, g->outer - g->first, 1);
        g->is_allocated = true;
        say_origin(r, g, e);
        if (g->memory == PW_TRACE_HOST) /* memory of the host that the GPU has mapped: nothing moves */
            pw_mem_advise(r->host, &g->array, PW_ADVICE_PREFER_HOST | PW_ADVICE_ACCESSED_BY);
    }
    pw_relocation_add(&r->relocation, e);
}

static void copy(struct replay *r, const struct pw_trace_event *e)
{
    const struct pw_moved_range *range = pw_relocation_find(&r->relocation, e->address);
    if (!range || e->flags == PW_TRACE_FROM_DEVICE)
        return;
    const struct pw_array *a = &r->relocation.groups[r->relocation.group_of[e->allocation]].array;
    uint64_t room = range->first + range->bytes - e->address;
    pw_filled(r->host, a, e->address + range->shift - a->base.v, e->bytes < room ? e->bytes : room,
              e->flags == PW_TRACE_ON_DEVICE ? PW_CONTENTS_SET : PW_CONTENTS_COPIED);
}

static void release(struct replay *r, const struct pw_trace_event *e)
{
    struct pw_trace_group *g = &r->relocation.groups[r->relocation.group_of[e->allocation]];
    pw_relocation_remove(&r->relocation, e->address);
    if (++g->gone == g->members)
        pw_free(r->host, &g->array);
}

static bool geometry_is_possible(const struct pw_trace_event *e)
{
    enum { MOST_CTAS = 1U << 31, MOST_THREADS = 1024, MOST_SHARED = 16 << 20 };
    const struct pw_dim3 *g = &e->grid, *b = &e->block;
    return g->x && g->y && g->z && b->x && b->y && b->z && (uint64_t)g->x * g->y <= MOST_CTAS &&
           (uint64_t)g->x * g->y * g->z <= MOST_CTAS && b->x <= MOST_THREADS && b->y <= MOST_THREADS &&
           b->z <= MOST_THREADS && b->x * b->y * b->z <= MOST_THREADS && e->shared_bytes <= MOST_SHARED;
}

static void launch(struct replay *r, const struct pw_trace_event *e)
{
    struct launch *l = &r->launch;
    if (!geometry_is_possible(e))
        pw_host_fail(r->host,
                     "launch %u (%s) has a grid of %ux%ux%u CTAs of %ux%ux%u threads with %u bytes of shared "
                     "memory, which no GPU can run",
                     e->allocation + 1, e->name, e->grid.x, e->grid.y, e->grid.z, e->block.x, e->block.y, e->block.z,
                     e->shared_bytes);
    if (pw_trace_launch_open(r->trace, e->allocation, &l->trace, &r->err))
        pw_host_fail_with(r->host, &r->err);
    const struct pw_launch launch = {.name = e->name,
                                     .grid = e->grid,
                                     .block = e->block,
                                     .shared_bytes = e->shared_bytes,
                                     .registers = e->registers,
                                     .pace = e->pace,
                                     .kernel = replay_kernel,
                                     .arguments = l};
    pw_launch(r->host, &launch);
    pw_trace_launch_close(l->trace);
    l->trace = NULL;
}

static void carry_out(struct replay *r, const struct pw_trace_event *e)
{
    const struct pw_array *a = NULL;
    if (e->kind >= PW_TRACE_PREFETCH && e->kind <= PW_TRACE_PROTECT)
        a = &r->relocation.groups[r->relocation.group_of[e->allocation]].array;
    switch ((enum pw_trace_event_kind)e->kind) {
    case PW_TRACE_ALLOC:
        allocate(r, e);
        break;
    case PW_TRACE_FREE:
        release(r, e);
        break;
    case PW_TRACE_PREFETCH:
        pw_prefetch(r->host, a);
        break;
    case PW_TRACE_ADVISE:
        pw_mem_advise(r->host, a, e->flags);
        break;
    case PW_TRACE_PROTECT:
        pw_protect(r->host, a, e->flags);
        break;
    case PW_TRACE_LAUNCH:
        launch(r, e);
        break;
    case PW_TRACE_COPY:
        copy(r, e);
        break;
    case PW_TRACE_EVENT_KIND_COUNT:
        break;
    }
}

static bool import_watch(void *host, uint64_t bytes_read, uint64_t bytes_in_all)
{
    (void)bytes_read;
    (void)bytes_in_all;
    return pw_host_interrupted(host);
}

static void close_trace(void *trace)
{
    pw_trace_close(trace);
}

/* Opened once, however often the program starts over: a text is read only once. */
static struct pw_trace *open_trace(struct pw_host *h, const char *path, struct pw_error *err)
{
    struct pw_program_object *kept = pw_host_program_object(h);
    if (kept->object)
        return kept->object;
    const struct pw_import_watch watch = {import_watch, h};
    struct pw_trace *trace;
    if (pw_trace_open_any(path, &watch, &trace, err))
        pw_host_fail_with(h, err);
    *kept = (struct pw_program_object){trace, close_trace};
    return trace;
}

static void note_sample(struct pw_host *h, const struct pw_trace *trace)
{
    uint32_t sample = pw_trace_get_origin(trace)->cta_sample;
    if (sample > 1)
        pw_host_note(h, "%s has one CTA in %u of the program it was recorded from", pw_trace_path(trace), sample);
}

static void release_replay(void *replay)
{
    struct replay *r = replay;
    pw_trace_launch_close(r->launch.trace);
    pw_relocation_release(&r->relocation);
}

static void trace_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    if (!*p->file)
        pw_host_fail(h, "no file is given; use trace:FILE");
    struct replay *r = pw_host_keep(h, sizeof *r);
    r->host = h;
    pw_host_at_end(h, release_replay, r);
    r->trace = open_trace(h, p->file, &r->err);
    r->launch.relocation = &r->relocation;
    r->launch.err = &r->err;
    r->launch.path = pw_trace_path(r->trace);
    note_sample(h, r->trace);

    size_t count;
    const struct pw_trace_event *events = pw_trace_events(r->trace, &count);
    uint32_t launches = pw_trace_launches(r->trace), skip = p->skip < launches ? p->skip : launches;
    uint32_t outer = p->count && p->count < launches - skip ? skip + p->count : launches;
    if (launches && skip == launches)
        pw_host_fail(h, "skip=%u leaves nothing of its %u launches", p->skip, launches);
    if (pw_relocation_create(&r->relocation, events, count, &r->err))
        pw_host_fail_with(h, &r->err);
    pw_host_plan(h, outer - skip);
    for (size_t i = 0; i < count; i++)
        if (events[i].kind != PW_TRACE_LAUNCH || (events[i].allocation >= skip && events[i].allocation < outer))
            carry_out(r, &events[i]);
}

static const struct pw_option rows[] = {
    {"file", PW_OPTION_TEXT, offsetof(struct parameters, file), 0, 0, "", "file", NULL,
     "the trace: pagewalk's own (.pwt), Accel-Sim's (kernelslist.g, .traceg, .tracez), or NVBit's mem_trace", false},
    {"skip", PW_OPTION_COUNT, offsetof(struct parameters, skip), 0, 0, "0", "launches", NULL,
     "launches at the beginning that are left out", false},
    {"count", PW_OPTION_COUNT, offsetof(struct parameters, count), 0, 0, "0", "launches", NULL,
     "launches that are run; 0: all", false},
    {0}};

const struct pw_workload pw_workload_trace = {
    .name = "trace",
    .suite = "recorded",
    .summary = "runs a recorded program again: trace:FILE",
    .parameters = rows,
    .required = "file",
    .has_no_values = true,
    .parameters_bytes = sizeof(struct parameters),
    .digest_file = pw_trace_digest_file,
    .main = trace_main,
};
