/* Places for allocations: pieces of shared blocks, and runs of whole ones.
 *
 * A shared block is a list of pieces in order of address, taken ones and free ones. Sizes are multiples of 512 bytes
 * below 2 MiB, so there are 4,095 of them: each has a queue of the free pieces of that size, oldest first, and a bit
 * that says whether anything is in it. Addresses of whole blocks are handed out in rising order; what was freed at the
 * upper end is used again, and everything is once nothing is left, which is enough for 128 TiB of addresses. */
#include "exp/touch/managed_heap.h"

#include <stdlib.h>

enum { GRAIN = 512, BLOCK_GRAINS = PW_SHARED_BYTES / GRAIN, WORDS = BLOCK_GRAINS / 64 };
#define NONE UINT32_MAX

/* The first block is not used, so that no allocation has address 0. */
enum { FIRST_BLOCK = 1, BLOCK_LIMIT = 1 << 26 };

struct piece {
    uint64_t address;
    uint32_t grains;
    uint32_t before, after;  /* neighbours in the block */
    uint32_t previous, next; /* in the queue of its size; `next` chains unused pieces as well */
    bool free;
};

struct queue {
    uint32_t oldest, youngest;
};

struct pw_managed_heap {
    bool shares;
    struct piece *pieces;
    uint32_t piece_count, piece_capacity, unused;
    struct queue queues[BLOCK_GRAINS];
    uint64_t filled[WORDS]; /* queues that are not empty */
    uint64_t next_block, live_blocks;
};

enum pw_status pw_managed_heap_create(bool shares, struct pw_managed_heap **out, struct pw_error *err)
{
    struct pw_managed_heap *h = calloc(1, sizeof *h);
    if (!h)
        return pw_fail_memory(err, "places of managed memory");
    h->shares = shares;
    h->unused = NONE;
    h->next_block = FIRST_BLOCK;
    for (unsigned i = 0; i < BLOCK_GRAINS; i++)
        h->queues[i] = (struct queue){NONE, NONE};
    *out = h;
    return PW_OK;
}

void pw_managed_heap_destroy(struct pw_managed_heap *h)
{
    if (!h)
        return;
    free(h->pieces);
    free(h);
}

/* Makes sure that two more pieces can be had, which is what an allocation needs at most. */
static enum pw_status reserve_pieces(struct pw_managed_heap *h, struct pw_error *err)
{
    if (h->piece_capacity - h->piece_count >= 2)
        return PW_OK;
    uint32_t capacity = h->piece_capacity ? 2 * h->piece_capacity : 64;
    struct piece *grown = capacity > h->piece_capacity ? realloc(h->pieces, capacity * sizeof *grown) : NULL;
    if (!grown)
        return pw_fail_memory(err, "places of managed memory");
    h->pieces = grown;
    h->piece_capacity = capacity;
    return PW_OK;
}

static uint32_t new_piece(struct pw_managed_heap *h, struct piece value)
{
    uint32_t index = h->unused;
    if (index == NONE)
        index = h->piece_count++;
    else
        h->unused = h->pieces[index].next;
    h->pieces[index] = value;
    return index;
}

static void drop_piece(struct pw_managed_heap *h, uint32_t index)
{
    h->pieces[index].next = h->unused;
    h->unused = index;
}

static void put_in_queue(struct pw_managed_heap *h, uint32_t index)
{
    struct piece *p = &h->pieces[index];
    struct queue *q = &h->queues[p->grains];
    p->free = true;
    p->next = NONE;
    p->previous = q->youngest;
    *(q->youngest == NONE ? &q->oldest : &h->pieces[q->youngest].next) = index;
    q->youngest = index;
    h->filled[p->grains / 64] |= 1ULL << p->grains % 64;
}

static void take_from_queue(struct pw_managed_heap *h, uint32_t index)
{
    struct piece *p = &h->pieces[index];
    struct queue *q = &h->queues[p->grains];
    *(p->previous == NONE ? &q->oldest : &h->pieces[p->previous].next) = p->next;
    *(p->next == NONE ? &q->youngest : &h->pieces[p->next].previous) = p->previous;
    if (q->oldest == NONE)
        h->filled[p->grains / 64] &= ~(1ULL << p->grains % 64);
    p->free = false;
}

/* The free piece that fits best, or NONE. */
static uint32_t find_piece(const struct pw_managed_heap *h, uint32_t grains)
{
    uint64_t word = h->filled[grains / 64] & UINT64_MAX << grains % 64;
    for (unsigned i = grains / 64;; word = h->filled[i]) {
        if (word)
            return h->queues[i * 64 + (unsigned)__builtin_ctzll(word)].oldest;
        if (++i == WORDS)
            return NONE;
    }
}

static enum pw_status take_blocks(struct pw_managed_heap *h, uint64_t count, uint64_t *out_address,
                                  struct pw_error *err)
{
    if (count > BLOCK_LIMIT - h->next_block)
        return pw_fail(err, PW_USER_ERROR,
                       "allocations take more than 128 TiB of addresses; make them smaller or free the last one first");
    *out_address = h->next_block * PW_SHARED_BYTES;
    h->next_block += count;
    h->live_blocks += count;
    return PW_OK;
}

static void give_blocks(struct pw_managed_heap *h, uint64_t address, uint64_t count)
{
    h->live_blocks -= count;
    if (!h->live_blocks)
        h->next_block = FIRST_BLOCK;
    else if (address / PW_SHARED_BYTES + count == h->next_block)
        h->next_block -= count;
}

static uint64_t blocks_of(uint64_t bytes)
{
    return bytes / PW_SHARED_BYTES + (bytes % PW_SHARED_BYTES != 0);
}

/* Leaves the first `grains` of a piece to its user and frees the rest. */
static void split(struct pw_managed_heap *h, uint32_t index, uint32_t grains)
{
    struct piece *p = &h->pieces[index];
    if (p->grains == grains)
        return;
    uint32_t rest = new_piece(h, (struct piece){.address = p->address + (uint64_t)grains * GRAIN,
                                                .grains = p->grains - grains,
                                                .before = index,
                                                .after = p->after});
    p = &h->pieces[index];
    if (p->after != NONE)
        h->pieces[p->after].before = rest;
    p->after = rest;
    p->grains = grains;
    put_in_queue(h, rest);
}

enum pw_status pw_managed_heap_allocate(struct pw_managed_heap *h, uint64_t bytes, struct pw_managed_place *out,
                                        struct pw_error *err)
{
    *out = (struct pw_managed_place){.bytes = bytes, .piece = NONE};
    if (!h->shares || bytes > PW_SHARED_BYTES - GRAIN) {
        out->new_block = true;
        return take_blocks(h, blocks_of(bytes), &out->address, err);
    }
    enum pw_status status = reserve_pieces(h, err);
    if (status)
        return status;
    uint32_t grains = (uint32_t)((bytes + GRAIN - 1) / GRAIN), found = find_piece(h, grains);
    if (found == NONE) {
        uint64_t address;
        if ((status = take_blocks(h, 1, &address, err)))
            return status;
        found = new_piece(h, (struct piece){.address = address, .grains = BLOCK_GRAINS, .before = NONE, .after = NONE});
        out->new_block = true;
    } else {
        take_from_queue(h, found);
    }
    split(h, found, grains);
    out->shared = true;
    out->piece = found;
    out->address = h->pieces[found].address;
    return PW_OK;
}

/* Joins a piece with the one after it. */
static void join(struct pw_managed_heap *h, uint32_t index)
{
    struct piece *p = &h->pieces[index];
    uint32_t gone = p->after;
    p->grains += h->pieces[gone].grains;
    p->after = h->pieces[gone].after;
    if (p->after != NONE)
        h->pieces[p->after].before = index;
    drop_piece(h, gone);
}

bool pw_managed_heap_free(struct pw_managed_heap *h, const struct pw_managed_place *place)
{
    if (!place->shared) {
        give_blocks(h, place->address, blocks_of(place->bytes));
        return true;
    }
    uint32_t index = place->piece, before = h->pieces[index].before, after = h->pieces[index].after;
    if (after != NONE && h->pieces[after].free) {
        take_from_queue(h, after);
        join(h, index);
    }
    if (before != NONE && h->pieces[before].free) {
        take_from_queue(h, before);
        join(h, before);
        index = before;
    }
    if (h->pieces[index].grains < BLOCK_GRAINS) {
        put_in_queue(h, index);
        return false;
    }
    give_blocks(h, h->pieces[index].address, 1);
    drop_piece(h, index);
    return true;
}
