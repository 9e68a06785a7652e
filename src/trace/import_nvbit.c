/* Reads what NVBit's mem_trace prints: one line for each access of a warp, those of several warps interleaved, those of
 * one in program order.
 *
 * Only accesses are there: how many instructions lie between them is not, nor when a load is first used. Each access
 * waits for all loads of its warp before it, with nothing in between, so that times mean little; which pages are
 * touched, by whom and in which order is what such a trace is good for. A lane whose address is 0 is not active.
 * Shared and local memory count as instructions; generic addresses are taken as global.
 *
 * The file is read twice. First, what launches there are, how large the grid and block of those are that nothing was
 * said of (the largest coordinates seen), and how warps are numbered: the tool prints the slot of the multiprocessor
 * that a warp has. Where such numbers do not fit the block, the warps of a thread block are numbered in the order in
 * which they come, and if the one that has fewer lanes is not the last, the block gets all lanes of that warp. Accesses
 * of launches follow one another; kernels that ran at the same time are refused. */
#include "trace/nvbit_launches.h"
#include "trace/warp_ops.h"

#include <stdlib.h>

struct nvbit {
    struct pw_import *import;
    struct pw_lines text;
    struct pw_sass_cache names;
    struct pw_nvbit_line line;
    struct pw_nvbit_launches launches;
    struct pw_nvbit_blocks blocks; /* of the launch under way */
    size_t begun;                  /* launches */
    struct pw_warp_ops ops;
};

typedef enum pw_status line_fn(struct nvbit *n, struct pw_error *err);

/* Hands every line of the file that means something to `use`. */
static enum pw_status read_file(struct nvbit *n, line_fn *use, struct pw_error *err)
{
    bool more = true;
    enum pw_status status = pw_lines_open(&n->text, n->import->path, &n->import->progress, err);
    while (status == PW_OK && more) {
        status = pw_nvbit_read_line(&n->text, &n->names, &n->line, &more, err);
        if (status == PW_OK && more && n->line.kind != PW_NVBIT_OTHER)
            status = use(n, err);
    }
    return status;
}

static enum pw_status count_line(struct nvbit *n, struct pw_error *err)
{
    size_t launch, before = n->launches.current;
    enum pw_status status = pw_nvbit_find_launch(&n->launches, &n->text, &n->line, &launch, err);
    if (status != PW_OK || n->line.kind == PW_NVBIT_LAUNCH)
        return status;
    if (launch != before)
        pw_nvbit_blocks_clear(&n->blocks);
    uint32_t warp;
    status = pw_nvbit_number_warp(&n->blocks, &n->text, &n->line, &warp, err);
    if (status == PW_OK)
        pw_nvbit_include(&n->launches.item[launch], &n->line, warp);
    return status;
}

static uint32_t cta_of(const struct pw_nvbit_launch *l, const struct pw_dim3 *cta)
{
    return cta->x + l->grid.x * (cta->y + l->grid.y * cta->z);
}

/* All warps that were seen leave. */
static void end_launch(struct nvbit *n)
{
    const struct pw_nvbit_launch *l = n->begun ? &n->launches.item[n->begun - 1] : NULL;
    const struct pw_op exit = {.kind = PW_OP_EXIT, .loads_in_flight = PW_ANY_IN_FLIGHT};
    const struct pw_key_link *link = NULL;
    while (l && (link = pw_key_map_next(&n->blocks.map, link))) {
        const struct pw_nvbit_block *b = (const struct pw_nvbit_block *)link;
        for (uint64_t left = b->seen; left; left &= left - 1) {
            uint32_t slot = (uint32_t)__builtin_ctzll(left);
            pw_trace_write_op(n->import->out, cta_of(l, &b->cta), l->direct ? slot : b->order[slot], &exit, NULL);
        }
    }
    pw_nvbit_blocks_clear(&n->blocks);
}

/* Begins this launch, and those before it that have no accesses. */
static void begin_launch(struct nvbit *n, size_t launch)
{
    while (n->begun <= launch) {
        end_launch(n);
        const struct pw_nvbit_launch *l = &n->launches.item[n->begun++];
        pw_trace_write_launch(n->import->out, &(struct pw_trace_event){.kind = PW_TRACE_LAUNCH,
                                                                       .name = l->name ? l->name : "kernel",
                                                                       .grid = l->grid,
                                                                       .block = l->block,
                                                                       .shared_bytes = l->shared_bytes,
                                                                       .registers = l->registers});
    }
}

static void write_access(struct nvbit *n, uint32_t cta, uint32_t warp)
{
    const struct pw_nvbit_line *line = &n->line;
    if (!line->mask || !pw_sass_is_access(line->sass)) {
        const struct pw_op op = {.kind = PW_OP_COMPUTE, .loads_in_flight = PW_ANY_IN_FLIGHT, .count_or_mask = 1};
        n->ops.failed |= !pw_trace_write_op(n->import->out, cta, warp, &op, NULL);
        return;
    }
    /* The same instruction has a second line, with the address in global memory. */
    if (line->sass->kind == PW_SASS_COPY && line->addresses[0] < PW_SASS_WINDOW_BYTES)
        return;
    pw_warp_ops_begin(&n->ops, cta, warp, PW_ALL_LANES);
    n->ops.in_flight = 0;
    /* Whether somebody takes what an atomic returns is in its name: RED has no result. */
    bool result = line->sass->returns;
    pw_warp_ops_access(&n->ops, line->sass, result, line->mask, line->addresses);
}

static enum pw_status write_line(struct nvbit *n, struct pw_error *err)
{
    size_t launch;
    const struct pw_nvbit_line *line = &n->line;
    if (line->kind == PW_NVBIT_LAUNCH)
        return PW_OK;
    enum pw_status status = pw_nvbit_find_launch(&n->launches, &n->text, line, &launch, err);
    if (status != PW_OK)
        return status;
    begin_launch(n, launch);
    const struct pw_nvbit_launch *l = &n->launches.item[launch];
    uint32_t warp;
    status = pw_nvbit_number_warp(&n->blocks, &n->text, line, &warp, err);
    if (status != PW_OK)
        return status;
    if (l->direct)
        warp = line->warp;
    if (line->cta.x >= l->grid.x || line->cta.y >= l->grid.y || line->cta.z >= l->grid.z ||
        warp * PW_WARP_LANES >= pw_import_threads(&l->block))
        return pw_lines_fail(&n->text, err, "this warp is not of its launch's grid and block");
    if (line->mask & ~pw_import_lanes(pw_import_threads(&l->block), warp))
        return pw_lines_fail(&n->text, err, "there are addresses of lanes that the block has no threads for");
    write_access(n, cta_of(l, &line->cta), warp);
    return n->ops.failed ? pw_import_check(n->import, err) : PW_OK;
}

static enum pw_status read_twice(struct nvbit *n, struct pw_error *err)
{
    enum pw_status status = pw_key_map_init(&n->blocks.map, "thread blocks", err);
    if (status == PW_OK)
        status = read_file(n, count_line, err);
    if (status == PW_OK)
        status = pw_nvbit_launches_finish(&n->launches, &n->text, err);
    pw_lines_close(&n->text);
    pw_nvbit_blocks_clear(&n->blocks);
    n->launches.current = 0;
    pw_import_set_recorder(n->import, "NVBit mem_trace");
    pw_warp_ops_init(&n->ops, n->import->out);
    if (status == PW_OK)
        status = read_file(n, write_line, err);
    if (status == PW_OK && n->launches.count)
        begin_launch(n, n->launches.count - 1);
    if (status == PW_OK)
        end_launch(n);
    pw_lines_close(&n->text);
    return status == PW_OK ? pw_import_check(n->import, err) : status;
}

enum pw_status pw_import_nvbit(struct pw_import *i, struct pw_error *err)
{
    struct nvbit *n = calloc(1, sizeof *n);
    if (!n)
        return pw_fail_memory(err, "reading a trace");
    n->import = i;
    enum pw_status status = read_twice(n, err);
    pw_nvbit_blocks_clear(&n->blocks);
    pw_key_map_release(&n->blocks.map);
    pw_nvbit_launches_release(&n->launches);
    free(n);
    return status;
}
