/* Physical memory as frames, as a bitmap of bitmaps.
 *
 * The bottom bitmap has one bit per 4 KiB frame, eight words per 2 MiB block: one host cache line. Above it stand three
 * summaries, one for each size of run, each a tree of 64-way bitmaps over the blocks. A set bit means "nothing free of
 * this size below", so memory fresh from calloc() describes free memory, and 144 GB of simulated memory costs the host
 * only address space until it is used. A search reads one word per level of the tree and one cache line of the block.
 *
 * The owner of each frame is kept in an array of its own, two bytes a frame. Blocks that were never used are known from
 * one more bit each, so that counting everything anew at the end of a run reads only what the run has written. */
#include "page/frames.h"

#include "sim/option.h"

#include <stdlib.h>
#include <string.h>

enum {
    BLOCK_SHIFT = PW_PAGE_2M,
    BLOCK_FRAMES = 1 << BLOCK_SHIFT,
    BLOCK_WORDS = BLOCK_FRAMES / 64,
    LEVELS = 4, /* 64^4 blocks are 32 TiB; frame numbers end at 16 TiB */
    SIZES = 3,
    NO_FRAME = -1
};

static const uint64_t LOW_BIT_OF_16 = 0x0001000100010001;

/* A set of exhausted blocks. words[0] has a bit per block; a bit of words[k + 1] is set when its word of words[k] is
 * all ones. Bits beyond the last block are set. */
struct summary {
    uint64_t *words[LEVELS];
    size_t counts[LEVELS];
};

struct pw_frames {
    uint32_t blocks;
    uint64_t free;
    uint64_t free_blocks;
    uint64_t *taken; /* a bit per frame */
    pw_owner *owners;
    uint64_t *used; /* a bit per block that has ever had a frame taken */
    struct summary exhausted[SIZES];
};

static unsigned size_index(enum pw_page_order order)
{
    return order == PW_PAGE_4K ? 0 : order == PW_PAGE_64K ? 1 : 2;
}

static bool summary_create(struct summary *s, uint32_t blocks)
{
    size_t below = blocks;
    for (unsigned k = 0; k < LEVELS; k++) {
        s->counts[k] = (below + 63) / 64;
        s->words[k] = calloc(s->counts[k], sizeof *s->words[k]);
        if (!s->words[k])
            return false;
        if (below % 64)
            s->words[k][s->counts[k] - 1] = ~0ULL << (below % 64);
        below = s->counts[k];
    }
    return true;
}

static bool summary_has(const struct summary *s, uint32_t block)
{
    return s->words[0][block / 64] >> (block % 64) & 1;
}

static void summary_set(struct summary *s, uint32_t block)
{
    size_t at = block;
    for (unsigned k = 0; k < LEVELS; k++) {
        uint64_t *word = &s->words[k][at / 64];
        *word |= 1ULL << (at % 64);
        if (*word != ~0ULL)
            return;
        at /= 64;
    }
}

static void summary_clear(struct summary *s, uint32_t block)
{
    size_t at = block;
    for (unsigned k = 0; k < LEVELS; k++) {
        uint64_t *word = &s->words[k][at / 64];
        bool was_full = *word == ~0ULL;
        *word &= ~(1ULL << (at % 64));
        if (!was_full)
            return;
        at /= 64;
    }
}

/* The first block at or above `from` that is not exhausted, or `blocks`: climbs until a word has a clear bit at or
 * above the position, then goes down along first clear bits. */
static uint32_t summary_next(const struct summary *s, uint32_t blocks, uint32_t from)
{
    size_t at = from;
    for (unsigned k = 0; k < LEVELS; k++) {
        if (at / 64 >= s->counts[k])
            return blocks;
        uint64_t candidates = ~s->words[k][at / 64] & (~0ULL << (at % 64));
        if (candidates) {
            at = at / 64 * 64 + (size_t)__builtin_ctzll(candidates);
            while (k-- > 0)
                at = at * 64 + (size_t)__builtin_ctzll(~s->words[k][at]);
            return (uint32_t)at;
        }
        at = at / 64 + 1;
    }
    return blocks;
}

enum pw_status pw_frames_create(uint64_t bytes, struct pw_frames **out, struct pw_error *err)
{
    char size[PW_SIZE_CAPACITY];
    uint64_t blocks = bytes >> (PW_PAGE_SHIFT + BLOCK_SHIFT);
    if (blocks == 0)
        return pw_fail(err, PW_USER_ERROR, "memory of %s is too small; give at least 2MB",
                       pw_size_text(size, bytes, false));
    if (blocks > UINT32_MAX >> BLOCK_SHIFT)
        return pw_fail(err, PW_USER_ERROR, "memory of %s is too large; give less than 16TB",
                       pw_size_text(size, bytes, true));
    struct pw_frames *f = calloc(1, sizeof *f);
    if (!f)
        return pw_fail_memory(err, "frames");
    f->blocks = (uint32_t)blocks;
    f->free = blocks << BLOCK_SHIFT;
    f->free_blocks = blocks;
    f->taken = calloc(blocks * BLOCK_WORDS, sizeof *f->taken);
    f->owners = calloc(blocks * BLOCK_FRAMES, sizeof *f->owners);
    f->used = calloc((blocks + 63) / 64, sizeof *f->used);
    bool ok = f->taken && f->owners && f->used;
    for (unsigned i = 0; i < SIZES; i++)
        ok = summary_create(&f->exhausted[i], f->blocks) && ok;
    if (!ok) {
        pw_frames_destroy(f);
        return pw_fail_memory(err, "frames");
    }
    *out = f;
    return PW_OK;
}

void pw_frames_destroy(struct pw_frames *f)
{
    if (!f)
        return;
    for (unsigned i = 0; i < SIZES; i++)
        for (unsigned k = 0; k < LEVELS; k++)
            free(f->exhausted[i].words[k]);
    free(f->used);
    free(f->owners);
    free(f->taken);
    free(f);
}

/* One bit, the lowest, for each aligned group of 16 in which no bit of `taken` is set. */
static uint64_t free_groups(uint64_t taken)
{
    taken |= taken >> 8; /* what comes down from the next group stays above the bits that count */
    taken |= taken >> 4;
    taken |= taken >> 2;
    taken |= taken >> 1;
    return ~taken & LOW_BIT_OF_16;
}

/* Whether the block has no free run left, for each size. */
static void block_state(const uint64_t *taken, bool exhausted[SIZES])
{
    uint64_t all = ~0ULL, any = 0, groups = 0;
    for (unsigned w = 0; w < BLOCK_WORDS; w++) {
        all &= taken[w];
        any |= taken[w];
        groups |= free_groups(taken[w]);
    }
    exhausted[0] = all == ~0ULL;
    exhausted[1] = groups == 0;
    exhausted[2] = any != 0;
}

/* Whether the run is taken altogether (`all`), or has a frame taken (not `all`). */
static bool run_taken(const struct pw_frames *f, enum pw_page_order order, uint32_t at, bool all)
{
    const uint64_t *word = &f->taken[at / 64];
    if (order != PW_PAGE_2M) {
        uint64_t mask = (order == PW_PAGE_4K ? 1ULL : 0xffffULL) << (at % 64);
        return all ? (*word & mask) == mask : (*word & mask) != 0;
    }
    bool state[SIZES];
    block_state(word, state);
    return all ? state[0] : state[2];
}

/* Whether taking one frame leaves the summaries of its block as they are, as it mostly does when a range is mapped: the
 * block and the frame's group of 16 were in use before, and its word is not full with it. */
static bool is_inside_use(const struct pw_frames *f, uint32_t at)
{
    uint64_t word = f->taken[at / 64];
    return (word >> (at % 64 / 16 * 16) & 0xffff) && (word | 1ULL << (at % 64)) != ~0ULL;
}

/* Marks a run and brings the summaries of its block up to date. */
static void mark(struct pw_frames *f, enum pw_page_order order, uint32_t at, pw_owner owner)
{
    if (order == PW_PAGE_4K && owner != PW_OWNER_FREE && is_inside_use(f, at)) {
        f->taken[at / 64] |= 1ULL << (at % 64);
        f->owners[at] = owner;
        f->free--;
        return;
    }
    uint32_t count = 1U << order, block = at >> BLOCK_SHIFT;
    uint64_t *words = &f->taken[(size_t)block * BLOCK_WORDS];
    bool before[SIZES], after[SIZES];
    f->used[block / 64] |= 1ULL << (block % 64);
    for (unsigned i = 0; i < SIZES; i++)
        before[i] = summary_has(&f->exhausted[i], block);
    if (order == PW_PAGE_2M) {
        memset(words, owner == PW_OWNER_FREE ? 0 : 0xff, BLOCK_WORDS * sizeof *words);
    } else {
        uint64_t mask = (order == PW_PAGE_4K ? 1ULL : 0xffffULL) << (at % 64);
        uint64_t *word = &f->taken[at / 64];
        *word = owner == PW_OWNER_FREE ? *word & ~mask : *word | mask;
    }
    block_state(words, after);
    for (unsigned i = 0; i < SIZES; i++) {
        if (after[i] && !before[i])
            summary_set(&f->exhausted[i], block);
        else if (before[i] && !after[i])
            summary_clear(&f->exhausted[i], block);
    }
    f->free_blocks += (uint64_t)before[2] - after[2];
    f->free += owner == PW_OWNER_FREE ? count : -(uint64_t)count;
    for (uint32_t i = 0; i < count; i++)
        f->owners[at + i] = owner;
}

/* The first free run within the block, at or above `from` (a place in the block, 0 to 512), or NO_FRAME. */
static int find_in_block(const struct pw_frames *f, enum pw_page_order order, uint32_t block, uint32_t from)
{
    const uint64_t *words = &f->taken[(size_t)block * BLOCK_WORDS];
    if (order == PW_PAGE_2M)
        return from == 0 && !run_taken(f, order, block << BLOCK_SHIFT, false) ? 0 : NO_FRAME;
    uint64_t mask = ~0ULL << (from % 64);
    for (uint32_t w = from / 64; w < BLOCK_WORDS; w++) {
        uint64_t candidates = (order == PW_PAGE_4K ? ~words[w] : free_groups(words[w])) & mask;
        if (candidates)
            return (int)(w * 64) + __builtin_ctzll(candidates);
        mask = ~0ULL;
    }
    return NO_FRAME;
}

bool pw_frames_find(const struct pw_frames *f, enum pw_page_order order, pw_pfn from, pw_pfn *out)
{
    const struct summary *exhausted = &f->exhausted[size_index(order)];
    uint32_t block = summary_next(exhausted, f->blocks, from.v >> BLOCK_SHIFT);
    if (block >= f->blocks)
        return false;
    bool starts_inside = block == from.v >> BLOCK_SHIFT;
    int place = find_in_block(f, order, block, starts_inside ? from.v % BLOCK_FRAMES : 0);
    if (place == NO_FRAME) {
        block = summary_next(exhausted, f->blocks, block + 1);
        if (block >= f->blocks)
            return false;
        place = find_in_block(f, order, block, 0);
    }
    out->v = (block << BLOCK_SHIFT) + (uint32_t)place;
    return true;
}

bool pw_frames_take(struct pw_frames *f, enum pw_page_order order, pw_pfn from, pw_owner owner, pw_pfn *out)
{
    if (owner == PW_OWNER_FREE || !pw_frames_find(f, order, from, out))
        return false;
    mark(f, order, out->v, owner);
    return true;
}

bool pw_frames_take_in(struct pw_frames *f, enum pw_page_order order, pw_pfn block, pw_owner owner, pw_pfn *out)
{
    uint32_t number = block.v >> BLOCK_SHIFT;
    int place = owner == PW_OWNER_FREE || number >= f->blocks ? NO_FRAME : find_in_block(f, order, number, 0);
    if (place == NO_FRAME)
        return false;
    out->v = (number << BLOCK_SHIFT) + (uint32_t)place;
    mark(f, order, out->v, owner);
    return true;
}

static bool is_run(const struct pw_frames *f, enum pw_page_order order, pw_pfn at)
{
    return at.v >> BLOCK_SHIFT < f->blocks && (at.v & ((1U << order) - 1)) == 0;
}

bool pw_frames_take_at(struct pw_frames *f, enum pw_page_order order, pw_pfn at, pw_owner owner)
{
    if (owner == PW_OWNER_FREE || !is_run(f, order, at) || run_taken(f, order, at.v, false))
        return false;
    mark(f, order, at.v, owner);
    return true;
}

bool pw_frames_release(struct pw_frames *f, enum pw_page_order order, pw_pfn at, pw_owner owner)
{
    if (owner == PW_OWNER_FREE || !is_run(f, order, at) || !run_taken(f, order, at.v, true))
        return false;
    for (uint32_t i = 0; i < 1U << order; i++)
        if (f->owners[at.v + i] != owner)
            return false;
    mark(f, order, at.v, PW_OWNER_FREE);
    return true;
}

pw_owner pw_frames_owner(const struct pw_frames *f, pw_pfn frame)
{
    return frame.v >> BLOCK_SHIFT < f->blocks ? f->owners[frame.v] : (pw_owner)PW_OWNER_FREE;
}

uint64_t pw_frames_total(const struct pw_frames *f)
{
    return (uint64_t)f->blocks << BLOCK_SHIFT;
}

uint64_t pw_frames_free(const struct pw_frames *f)
{
    return f->free;
}

uint64_t pw_frames_free_blocks(const struct pw_frames *f)
{
    return f->free_blocks;
}

static bool owners_agree(const struct pw_frames *f, uint32_t block)
{
    const pw_owner *owners = &f->owners[(size_t)block << BLOCK_SHIFT];
    const uint64_t *words = &f->taken[(size_t)block * BLOCK_WORDS];
    for (unsigned w = 0; w < BLOCK_WORDS; w++, owners += 64) {
        uint64_t owned = 0;
        pw_owner any = PW_OWNER_FREE;
        for (unsigned k = 0; k < 64; k++)
            any |= owners[k];
        for (unsigned k = 0; any && k < 64; k++)
            owned |= (uint64_t)(owners[k] != PW_OWNER_FREE) << k;
        if (owned != words[w])
            return false;
    }
    return true;
}

static bool summary_agrees(const struct summary *s)
{
    for (unsigned k = 1; k < LEVELS; k++)
        for (size_t i = 0; i < s->counts[k - 1]; i++)
            if ((s->words[k][i / 64] >> (i % 64) & 1) != (s->words[k - 1][i] == ~0ULL))
                return false;
    return true;
}

/* Compares a block's frames with their owners and with the summaries, and counts those that are taken. */
static enum pw_status check_block(const struct pw_frames *f, uint32_t block, uint64_t *taken_frames,
                                  uint64_t *taken_blocks, struct pw_error *err)
{
    const uint64_t *words = &f->taken[(size_t)block * BLOCK_WORDS];
    bool state[SIZES];
    block_state(words, state);
    for (unsigned w = 0; w < BLOCK_WORDS; w++)
        *taken_frames += (unsigned)__builtin_popcountll(words[w]);
    *taken_blocks += state[2];
    if (!owners_agree(f, block))
        return pw_fail(err, PW_FAILED, "frames: owners and free frames of block %u disagree", block);
    for (unsigned i = 0; i < SIZES; i++)
        if (summary_has(&f->exhausted[i], block) != state[i])
            return pw_fail(err, PW_FAILED, "frames: summary %u of block %u is wrong", i, block);
    return PW_OK;
}

/* Blocks that were never used must be free in every summary. */
static enum pw_status check_unused(const struct pw_frames *f, uint32_t word, struct pw_error *err)
{
    uint32_t left = f->blocks - word * 64;
    uint64_t unused = ~f->used[word] & (left < 64 ? ~(~0ULL << left) : ~0ULL);
    for (unsigned i = 0; i < SIZES; i++)
        if (f->exhausted[i].words[0][word] & unused)
            return pw_fail(err, PW_FAILED, "frames: summary %u names a block from %u on that was never used", i,
                           word * 64);
    return PW_OK;
}

enum pw_status pw_frames_check(const struct pw_frames *f, struct pw_error *err)
{
    uint64_t frames = 0, blocks = 0;
    for (uint32_t w = 0; w < (f->blocks + 63) / 64; w++) {
        enum pw_status status = check_unused(f, w, err);
        for (uint64_t bits = f->used[w]; status == PW_OK && bits; bits &= bits - 1)
            status = check_block(f, w * 64 + (uint32_t)__builtin_ctzll(bits), &frames, &blocks, err);
        if (status != PW_OK)
            return status;
    }
    for (unsigned i = 0; i < SIZES; i++)
        if (!summary_agrees(&f->exhausted[i]))
            return pw_fail(err, PW_FAILED, "frames: upper levels of summary %u are wrong", i);
    uint64_t free_frames = pw_frames_total(f) - frames, free_blocks = f->blocks - blocks;
    if (free_frames != f->free || free_blocks != f->free_blocks)
        return pw_fail(err, PW_FAILED, "frames: %llu free in %llu free blocks counted, %llu in %llu found",
                       (unsigned long long)f->free, (unsigned long long)f->free_blocks, (unsigned long long)free_frames,
                       (unsigned long long)free_blocks);
    return PW_OK;
}
