/* What reading a kernel's trace has in common, however it is stored (import_kernel.h). */
#include "trace/import_kernel.h"

#include <stdio.h>
#include <stdlib.h>

enum pw_status pw_import_kernel_begin(struct pw_import_kernel *k, struct pw_error *err)
{
    const struct pw_traceg_header *h = &k->head;
    char recorder[96];
    snprintf(recorder, sizeof recorder, "Accel-Sim tracer %u%s%s%s", h->version, *h->nvbit ? " (NVBit " : "", h->nvbit,
             *h->nvbit ? ")" : "");
    pw_import_set_recorder(k->import, recorder);
    pw_traceg_reader_init(&k->reader, h, k->import->out);
    k->seen = calloc(h->ctas / 64 + 1, sizeof *k->seen);
    if (!k->seen)
        return pw_fail_memory(err, "a grid");
    pw_trace_write_launch(k->import->out, &(struct pw_trace_event){.kind = PW_TRACE_LAUNCH,
                                                                   .name = h->name,
                                                                   .grid = h->grid,
                                                                   .block = h->block,
                                                                   .shared_bytes = h->shared_bytes,
                                                                   .registers = h->registers,
                                                                   .sampled_of = h->sampled_of,
                                                                   .pace = h->pace});
    return pw_import_check(k->import, err);
}

void pw_import_kernel_release(struct pw_import_kernel *k)
{
    free(k->seen);
    k->seen = NULL;
}

bool pw_import_kernel_place(struct pw_import_kernel *k, const uint32_t place[3])
{
    const struct pw_dim3 *grid = &k->head.grid;
    if (place[0] >= grid->x || place[1] >= grid->y || place[2] >= grid->z) {
        snprintf(k->problem, sizeof k->problem, "this is not a thread block of the grid of (%u,%u,%u)", grid->x,
                 grid->y, grid->z);
        return false;
    }
    k->cta = place[0] + grid->x * (place[1] + grid->y * place[2]);
    uint64_t bit = UINT64_C(1) << k->cta % 64;
    if (k->seen[k->cta / 64] & bit) {
        snprintf(k->problem, sizeof k->problem, "thread block %u,%u,%u comes twice", place[0], place[1], place[2]);
        return false;
    }
    k->seen[k->cta / 64] |= bit;
    k->seen_count++;
    return true;
}

void pw_import_kernel_begin_warp(struct pw_import_kernel *k)
{
    k->reader.lanes = pw_import_lanes(k->head.threads, k->warp);
    k->reader.copy_begun = false;
    pw_warp_ops_begin(&k->reader.ops, k->cta, k->warp, k->reader.lanes);
}

enum pw_status pw_import_kernel_end_warp(struct pw_import_kernel *k, struct pw_error *err)
{
    pw_warp_ops_end(&k->reader.ops);
    return k->reader.ops.failed ? pw_import_check(k->import, err) : PW_OK;
}

enum pw_status pw_import_kernel_check(struct pw_import_kernel *k, const char *path, struct pw_error *err)
{
    if (k->reader.ops.failed)
        return pw_import_check(k->import, err);
    uint64_t copied = k->reader.copied;
    k->reader.copied = 0;
    return pw_lines_tell(&k->import->progress, path, 0, copied, err);
}
