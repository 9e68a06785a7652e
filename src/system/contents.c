/* What lies in the memory of a GPU before its kernels run, as far as the L2 has seen it (mem/l2_contents.c).
 *
 * A program whose host says how its arrays are filled (pw_filled: copied from the host, or set by a memset) has exactly
 * that passed through the L2, in that order, before the launch that follows. An array of which nothing is said counts
 * as copied whole before the first launch that can use it; so it seems on an H200 (docs/silicon.md), where hotspot
 * reads next to nothing of an array that the host never fills from DRAM. Pages that come on demand have no such
 * past. */
#include "sim/grow.h"
#include "system/system.h"

#include <stdlib.h>

enum pw_status pw_app_filled(void *app, uint32_t id, pw_vaddr base, uint64_t first, uint64_t bytes,
                             enum pw_contents how, struct pw_error *err)
{
    (void)id;
    struct pw_app *a = app;
    struct pw_range *range = pw_address_space_find(a->space, base);
    range->told = true;
    if (range->managed || !a->system->config.gpu.l2.copies)
        return PW_OK;
    struct pw_contents_part *grown =
        pw_grow(a->contents.parts, a->contents.count, &a->contents.capacity, sizeof *grown);
    if (!grown)
        return pw_fail_memory(err, "the list of copies");
    a->contents.parts = grown;
    grown[a->contents.count++] = (struct pw_contents_part){{base.v + first}, bytes, how};
    return PW_OK;
}

/* The bytes from `from` on, in one page at most, of which there are `left`; returns how many they are. */
static uint64_t pass_page(struct pw_system *s, const struct pw_address_space *space, pw_vaddr from, uint64_t left,
                          enum pw_contents how)
{
    uint64_t within = from.v & (PW_PAGE_BYTES - 1), bytes = PW_PAGE_BYTES - within;
    bytes = left < bytes ? left : bytes;
    struct pw_translation t = pw_page_table_lookup(space->table, pw_vpn_of(from));
    struct pw_memory_piece piece = {t.frame, (uint32_t)within, (uint32_t)bytes};
    for (unsigned i = 0; t.present && i < s->node_count; i++)
        pw_memory_fill(pw_gpu_memory(s->nodes[i].gpu), space->asid, piece, how == PW_CONTENTS_SET);
    return bytes;
}

void pw_contents_pass(struct pw_system *s, const struct pw_address_space *space, pw_vaddr from, uint64_t bytes,
                      enum pw_contents how)
{
    while (bytes) {
        uint64_t passed = pass_page(s, space, from, bytes, how);
        from.v += passed;
        bytes -= passed;
    }
}

void pw_contents_carry_out(struct pw_app *a)
{
    for (size_t i = 0; i < a->contents.count; i++)
        pw_contents_pass(a->system, a->space, a->contents.parts[i].from, a->contents.parts[i].bytes,
                         a->contents.parts[i].how);
    a->contents.count = 0;
}
