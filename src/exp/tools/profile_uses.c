/* The uses of allocations, counted while a program runs: a table says which allocation has a piece of 2 MiB, and each
 * allocation has a row for each kernel that accesses it. An instruction counts once for each allocation it touches. */
#include "exp/tools/profile_uses.h"

#include "sim/grow.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE_SHIFT = 21, NO_ALLOCATION = UINT32_MAX };

struct row {
    uint32_t kernel;
    uint64_t launches, accesses, last_launch;
};

struct pw_allocation_uses {
    struct row *rows;
    size_t count, capacity, current; /* current: of the kernel that accessed it last */
    uint64_t launches, first_launch, last_launch;
    bool written;
};

enum pw_status pw_profile_uses_allocated(struct pw_profile_uses *u, pw_vaddr base, uint64_t bytes, struct pw_error *err)
{
    struct pw_allocation_uses *list =
        pw_grow(u->allocations, u->allocation_count, &u->allocation_capacity, sizeof *list);
    if (!list)
        return pw_fail_memory(err, "the uses of allocations");
    u->allocations = list;
    if (!u->allocation_count)
        u->first_address = base.v;
    uint64_t outer = ((base.v + bytes - 1 - u->first_address) >> PIECE_SHIFT) + 1;
    while (u->piece_count < outer) {
        uint32_t *pieces = pw_grow(u->pieces, u->piece_count, &u->piece_capacity, sizeof *pieces);
        if (!pieces)
            return pw_fail_memory(err, "the uses of allocations");
        u->pieces = pieces;
        pieces[u->piece_count++] = (uint32_t)u->allocation_count;
    }
    list[u->allocation_count++] = (struct pw_allocation_uses){0};
    return PW_OK;
}

enum pw_status pw_profile_uses_launched(struct pw_profile_uses *u, const char *kernel, struct pw_error *err)
{
    uint32_t k = 0;
    u->launch++;
    while (k < u->kernel_count && strcmp(u->kernels[k], kernel) != 0)
        k++;
    u->kernel = k;
    if (k < u->kernel_count)
        return PW_OK;
    const char **grown = pw_grow(u->kernels, u->kernel_count, &u->kernel_capacity, sizeof *grown);
    if (!grown)
        return pw_fail_memory(err, "the names of kernels");
    u->kernels = grown;
    grown[u->kernel_count++] = kernel;
    return PW_OK;
}

/* The row of the present kernel; NULL when memory is out. */
static struct row *row_of(struct pw_allocation_uses *a, uint32_t kernel)
{
    if (a->current < a->count && a->rows[a->current].kernel == kernel)
        return &a->rows[a->current];
    for (a->current = 0; a->current < a->count; a->current++)
        if (a->rows[a->current].kernel == kernel)
            return &a->rows[a->current];
    struct row *grown = pw_grow(a->rows, a->count, &a->capacity, sizeof *grown);
    if (!grown)
        return NULL;
    a->rows = grown;
    grown[a->count++] = (struct row){.kernel = kernel};
    return &grown[a->current];
}

static void use(struct pw_profile_uses *u, uint32_t allocation, bool writes)
{
    struct pw_allocation_uses *a = &u->allocations[allocation];
    struct row *r = row_of(a, u->kernel);
    if (!r) {
        u->out_of_memory = true;
        return;
    }
    r->accesses++;
    a->written |= writes;
    if (r->last_launch == u->launch)
        return;
    r->last_launch = a->last_launch = u->launch;
    r->launches++;
    a->launches++;
    if (!a->first_launch)
        a->first_launch = u->launch;
}

static uint32_t allocation_at(const struct pw_profile_uses *u, uint64_t address)
{
    uint64_t piece = (address - u->first_address) >> PIECE_SHIFT;
    return piece < u->piece_count ? u->pieces[piece] : NO_ALLOCATION;
}

/* Uses of an instruction whose lanes may lie in several allocations: one each, as far as neighbours show. */
static void use_lanes(struct pw_profile_uses *u, const uint64_t *addresses, uint32_t count, bool writes)
{
    uint32_t last = NO_ALLOCATION;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t allocation = allocation_at(u, addresses[i]);
        if (allocation != last && allocation != NO_ALLOCATION)
            use(u, allocation, writes);
        last = allocation;
    }
}

void pw_profile_uses_access(struct pw_profile_uses *u, const struct pw_op *op, const uint64_t *words)
{
    bool writes = op->kind != PW_OP_LOAD;
    if (op->form != PW_FORM_AFFINE) {
        use_lanes(u, words, pw_lane_count(op->count_or_mask), writes);
        return;
    }
    uint64_t addresses[PW_WARP_LANES];
    uint32_t mask = op->count_or_mask, count = 0;
    uint64_t lowest = (uint64_t)__builtin_ctz(mask), highest = 31 - (uint64_t)__builtin_clz(mask);
    uint32_t first = allocation_at(u, words[0] + lowest * words[1]);
    if (first != NO_ALLOCATION && first == allocation_at(u, words[0] + highest * words[1])) {
        use(u, first, writes);
        return;
    }
    for (uint32_t m = mask; m; m &= m - 1)
        addresses[count++] = words[0] + (uint64_t)__builtin_ctz(m) * words[1];
    use_lanes(u, addresses, count, writes);
}

static int by_falling_accesses(const void *x, const void *y)
{
    const struct pw_profile_use *a = x, *b = y;
    if (a->accesses != b->accesses)
        return a->accesses > b->accesses ? -1 : 1;
    return strcmp(a->kernel, b->kernel);
}

enum pw_status pw_profile_uses_finish(struct pw_profile_uses *u, struct pw_profile_allocation *out,
                                      struct pw_error *err)
{
    for (size_t i = 0; i < u->allocation_count; i++) {
        const struct pw_allocation_uses *a = &u->allocations[i];
        struct pw_profile_use *list = calloc(a->count + 1, sizeof *list);
        if (!list || u->out_of_memory) {
            free(list);
            return pw_fail_memory(err, "the uses of allocations");
        }
        for (size_t k = 0; k < a->count; k++)
            list[k] = (struct pw_profile_use){u->kernels[a->rows[k].kernel], a->rows[k].launches, a->rows[k].accesses};
        qsort(list, a->count, sizeof *list, by_falling_accesses);
        out[i].kernels = list;
        out[i].kernel_count = a->count;
        out[i].written = a->written;
        out[i].launches = a->launches;
        out[i].first_launch = a->first_launch;
        out[i].last_launch = a->last_launch;
    }
    return PW_OK;
}

void pw_profile_uses_release(struct pw_profile_uses *u)
{
    for (size_t i = 0; i < u->allocation_count; i++)
        free(u->allocations[i].rows);
    free(u->allocations);
    free(u->pieces);
    free(u->kernels);
}
