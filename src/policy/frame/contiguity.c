/* Contiguity-conserving allocation, CoCoA (Mosaic, Sections 4.1, 4.2 and 4.4).
 *
 * A page of a 2 MiB region that one allocation fills goes to its own place in the large frame (block) that backs the
 * region; the block leaves the free frame list with the region's first page. Any other page goes to a block from which
 * its application already has pages; when those are used up, a block from the free frame list joins them, with all its
 * 512 pages. So each block has the pages of one application: a soft guarantee. Page tables are kept apart, in blocks of
 * their own. When there is no block to take, the answer is no: the caller asks for room (compaction, Section 4.4) and,
 * when there is none to be made, comes back with last_resort. Then any free frame will do, first those that break no
 * guarantee. Page tables, for which nobody makes room, come to that at once. Frames of coalesced blocks, and of blocks
 * that are being emptied, are never handed out.
 *
 * The free frame list is what struct pw_frames knows of blocks that are free altogether, and the lowest of them is
 * taken: so memory stays dense and a run repeats itself. All other blocks with something to give stand in one of the
 * lists below, in the order in which they came there, and the first gives until it is full. Which list is a function of
 * the block's own fields (list_of), so every change ends with settle(). The block behind a region is found by a hash;
 * the chains run through the blocks, as the lists do. Zeroed memory is memory that is free.
 *
 * Pages of 64 KiB and 2 MiB work too; a search for the former may pass over blocks that have only smaller holes. */
#include "policy/frame/frame_policy.h"

enum { BLOCK_PAGES = 1 << PW_PAGE_2M };

/* Owners: applications, their page tables, pre-fragmented data. */
enum { SLOT_TABLES = PW_MAX_APPS, SLOT_FRAGMENT = 2 * PW_MAX_APPS, SLOTS };

enum {
    NO_LIST,
    OPEN,                                  /* + slot: the free base page list, for any page of the owner's */
    RESERVED = OPEN + SLOTS,               /* + slot: backs a region; what is free waits for the region's pages */
    EMERGENCY = RESERVED + SLOTS,          /* + slot: coalesced, with free frames */
    SHARED = EMERGENCY + SLOTS,            /* fragmented, and with pages: + 0 of several, + 1 + x of application x */
    FRAGMENTED = SHARED + 1 + PW_MAX_APPS, /* with nothing but pre-fragmented data: + free pages, 1 to 511 */
    LISTS = FRAGMENTED + BLOCK_PAGES
};

/* Blocks are named by their number + 1; 0 is none. */
struct block {
    uint64_t region;         /* it backs, if backs_region: page number / 512 */
    uint32_t previous, next; /* in its list */
    uint32_t bucket;         /* first block in the chain of regions with this hash; nothing of this block's own */
    uint32_t chain;          /* next block in the chain it is in */
    uint16_t list;
    pw_owner owner;      /* it is assigned to */
    uint16_t taken, own; /* pages: altogether, its owner's */
    uint16_t room;       /* what it adds to fragment_room */
    uint8_t guest;       /* whose the others are: 1 + application, or 0 for several; only while there are any */
    bool backs_region;
    bool reserved; /* what is free in it is kept for the region */
    bool coalesced, kept, evacuating;
};

struct list {
    uint32_t first, last;
};

struct state {
    struct list lists[LISTS];
    uint64_t occupied[(LISTS + 63) / 64]; /* a bit per list that is not empty */
    uint64_t assigned[SLOTS];             /* blocks */
    uint64_t elsewhere[SLOTS];            /* pages in blocks of others */
    uint64_t violations;
    uint64_t fragment_room; /* free pages of the blocks in SHARED and FRAGMENTED */
    uint32_t blocks;
    struct block block[]; /* block[i] is the block named i + 1 */
};

static struct block *block_at(struct state *s, uint32_t name)
{
    return &s->block[name - 1];
}

static uint32_t name_of(pw_pfn frame)
{
    return (frame.v >> PW_PAGE_2M) + 1;
}

static pw_pfn first_frame(uint32_t name)
{
    return (pw_pfn){(name - 1) << PW_PAGE_2M};
}

static unsigned slot_of(pw_owner owner)
{
    if (owner == PW_OWNER_FRAGMENT)
        return SLOT_FRAGMENT;
    return (unsigned)(owner >= PW_OWNER_TABLE ? SLOT_TABLES + owner - PW_OWNER_TABLE : owner - PW_OWNER_APP);
}

/* The application behind an owner, or PW_MAX_APPS for pre-fragmented data. */
static unsigned app_of(pw_owner owner)
{
    return owner == PW_OWNER_FRAGMENT ? PW_MAX_APPS : slot_of(owner) % PW_MAX_APPS;
}

/* The first list in [from, outer) that is not empty, or `outer`. */
static unsigned next_list(const struct state *s, unsigned from, unsigned outer)
{
    for (unsigned at = from; at < outer; at = (at / 64 + 1) * 64) {
        uint64_t word = s->occupied[at / 64] >> (at % 64);
        if (word) {
            at += (unsigned)__builtin_ctzll(word);
            return at < outer ? at : outer;
        }
    }
    return outer;
}

static void unlink_block(struct state *s, struct block *b)
{
    struct list *l = &s->lists[b->list];
    if (b->previous)
        block_at(s, b->previous)->next = b->next;
    else
        l->first = b->next;
    if (b->next)
        block_at(s, b->next)->previous = b->previous;
    else
        l->last = b->previous;
    if (!l->first)
        s->occupied[b->list / 64] &= ~(1ULL << (b->list % 64));
    b->previous = b->next = 0;
}

static void append_block(struct state *s, uint32_t name, unsigned list)
{
    struct block *b = block_at(s, name);
    struct list *l = &s->lists[list];
    b->previous = l->last;
    if (l->last)
        block_at(s, l->last)->next = name;
    else
        l->first = name;
    l->last = name;
    s->occupied[list / 64] |= 1ULL << (list % 64);
}

static unsigned list_of(const struct block *b)
{
    if (b->evacuating || b->taken == 0)
        return NO_LIST;
    if (b->coalesced)
        return b->kept ? EMERGENCY + slot_of(b->owner) : NO_LIST;
    if (b->taken == BLOCK_PAGES)
        return NO_LIST;
    if (b->owner == PW_OWNER_FRAGMENT)
        return (unsigned)(b->own == b->taken ? FRAGMENTED + BLOCK_PAGES - b->taken : SHARED + b->guest);
    return (b->reserved ? RESERVED : OPEN) + slot_of(b->owner);
}

static uint32_t *bucket_of(struct state *s, pw_owner owner, uint64_t region)
{
    uint64_t hash = (region << 16 | owner) * 0x9e3779b97f4a7c15ULL >> 32; /* 2^64 over the golden ratio (Knuth 6.4) */
    return &s->block[hash * s->blocks >> 32].bucket;
}

/* The block that backs this region of the owner's, or 0. */
static uint32_t find_backing(struct state *s, pw_owner owner, uint64_t region)
{
    uint32_t name = *bucket_of(s, owner, region);
    while (name && (block_at(s, name)->region != region || block_at(s, name)->owner != owner))
        name = block_at(s, name)->chain;
    return name;
}

static void back_region(struct state *s, uint32_t name, uint64_t region)
{
    struct block *b = block_at(s, name);
    uint32_t *bucket = bucket_of(s, b->owner, region);
    b->region = region;
    b->backs_region = b->reserved = true;
    b->chain = *bucket;
    *bucket = name;
}

static void forget_region(struct state *s, uint32_t name)
{
    struct block *b = block_at(s, name);
    uint32_t *link = bucket_of(s, b->owner, b->region);
    while (*link != name)
        link = &block_at(s, *link)->chain;
    *link = b->chain;
}

/* Brings lists and sums up to date after a change of the block; one without pages belongs to nobody any more. */
static void settle(struct state *s, uint32_t name)
{
    struct block *b = block_at(s, name);
    unsigned list = list_of(b);
    if (list != b->list) {
        if (b->list)
            unlink_block(s, b);
        if (list)
            append_block(s, name, list);
        b->list = (uint16_t)list;
    }
    uint16_t room = (uint16_t)(list >= SHARED ? BLOCK_PAGES - b->taken : 0);
    s->fragment_room += (uint64_t)room - b->room;
    b->room = room;
    if (b->taken)
        return;
    if (b->backs_region)
        forget_region(s, name);
    s->assigned[slot_of(b->owner)]--;
    *b = (struct block){.bucket = b->bucket};
}

/* Whether a page of this owner's in this block has company of another application's. */
static bool has_company(const struct block *b, const struct pw_frames *frames, pw_pfn block, pw_owner owner)
{
    unsigned app = app_of(owner);
    if (owner == PW_OWNER_FRAGMENT)
        return false;
    if (b->own && b->owner != PW_OWNER_FRAGMENT && app_of(b->owner) != app)
        return true;
    if (b->own == b->taken || b->guest == app + 1)
        return false;
    for (uint32_t i = 0; i < BLOCK_PAGES; i++) {
        pw_owner other = pw_frames_owner(frames, (pw_pfn){block.v + i});
        if (other != PW_OWNER_FREE && other != PW_OWNER_FRAGMENT && app_of(other) != app)
            return true;
    }
    return false;
}

/* Notes a run that was taken; in a block that was free, its owner becomes the block's. */
static void note_taken(struct state *s, const struct pw_frames *frames, const struct pw_frame_request *request,
                       pw_pfn at)
{
    uint32_t name = name_of(at);
    struct block *b = block_at(s, name);
    unsigned pages = 1U << request->order, slot = slot_of(request->owner);
    if (!b->taken) {
        b->owner = request->owner;
        s->assigned[slot]++;
    } else if (has_company(b, frames, first_frame(name), request->owner)) {
        s->violations += pages;
    }
    if (request->owner == b->owner) {
        b->own = (uint16_t)(b->own + pages);
    } else {
        uint8_t guest = (uint8_t)(request->owner == PW_OWNER_FRAGMENT ? 0 : app_of(request->owner) + 1);
        b->guest = b->own == b->taken || b->guest == guest ? guest : 0;
        s->elsewhere[slot] += pages;
    }
    b->taken = (uint16_t)(b->taken + pages);
    settle(s, name);
}

/* A run of this block, wherever one is free. What is free in it is no longer reserved for a region: with a page of
 * something else it cannot be coalesced. */
static bool take_in(struct state *s, struct pw_frames *frames, uint32_t name, const struct pw_frame_request *request,
                    pw_pfn *out)
{
    if (!pw_frames_take_in(frames, request->order, first_frame(name), request->owner, out))
        return false;
    block_at(s, name)->reserved = false;
    note_taken(s, frames, request, *out);
    return true;
}

/* From the blocks of the lists in [first, outer), the lowest list first. */
static bool take_from(struct state *s, struct pw_frames *frames, unsigned first, unsigned outer,
                      const struct pw_frame_request *request, pw_pfn *out)
{
    for (unsigned list = next_list(s, first, outer); list < outer; list = next_list(s, list + 1, outer))
        for (uint32_t name = s->lists[list].first; name; name = block_at(s, name)->next)
            if (take_in(s, frames, name, request, out))
                return true;
    return false;
}

/* Anything that is free: first what leaves every block to one application, then what leaves reserved frames alone. Of
 * fragmented blocks the fullest gives first: the emptier ones are easier to empty. */
static bool take_anywhere(struct state *s, struct pw_frames *frames, const struct pw_frame_request *request,
                          pw_pfn *out)
{
    unsigned app = app_of(request->owner);
    if (app < PW_MAX_APPS &&
        (take_from(s, frames, OPEN + app, OPEN + app + 1, request, out) ||
         take_from(s, frames, OPEN + SLOT_TABLES + app, OPEN + SLOT_TABLES + app + 1, request, out) ||
         take_from(s, frames, SHARED + 1 + app, SHARED + 1 + app + 1, request, out)))
        return true;
    if (take_from(s, frames, FRAGMENTED, LISTS, request, out))
        return true;
    if (app < PW_MAX_APPS && take_from(s, frames, RESERVED + app, RESERVED + app + 1, request, out))
        return true;
    return take_from(s, frames, SHARED, FRAGMENTED, request, out) ||
           take_from(s, frames, OPEN, RESERVED, request, out) ||
           take_from(s, frames, RESERVED, EMERGENCY, request, out);
}

/* A block from the free frame list. */
static bool take_in_new_block(struct state *s, struct pw_frames *frames, const struct pw_frame_request *request,
                              pw_pfn *out)
{
    pw_pfn block;
    return pw_frames_find(frames, PW_PAGE_2M, (pw_pfn){0}, &block) && take_in(s, frames, name_of(block), request, out);
}

/* The page's own place in the block behind its region; `name` is 0 where there is none yet. */
static bool take_in_region(struct state *s, struct pw_frames *frames, uint32_t name,
                           const struct pw_frame_request *request, pw_pfn *out)
{
    pw_pfn block = first_frame(name);
    bool is_new = !name;
    if (is_new ? !pw_frames_find(frames, PW_PAGE_2M, (pw_pfn){0}, &block)
               : block_at(s, name)->coalesced || block_at(s, name)->evacuating)
        return false;
    out->v = block.v + (uint32_t)(request->vpn.v % BLOCK_PAGES);
    if (!pw_frames_take_at(frames, request->order, *out, request->owner))
        return false;
    note_taken(s, frames, request, *out);
    if (is_new) {
        back_region(s, name_of(block), request->vpn.v / BLOCK_PAGES);
        settle(s, name_of(block));
    }
    return true;
}

static bool allocate(void *state, struct pw_frames *frames, const struct pw_frame_request *request, pw_pfn *out)
{
    struct state *s = state;
    unsigned slot = slot_of(request->owner);
    if (request->order == PW_PAGE_2M)
        return take_in_new_block(s, frames, request, out);
    if (request->whole_region) {
        uint32_t name = find_backing(s, request->owner, request->vpn.v / BLOCK_PAGES);
        if (take_in_region(s, frames, name, request, out))
            return true;
        if (!name && !request->last_resort)
            return false;
    }
    if (take_from(s, frames, OPEN + slot, OPEN + slot + 1, request, out))
        return true;
    if (slot == SLOT_FRAGMENT) {
        if (take_from(s, frames, SHARED, LISTS, request, out))
            return true;
        if (!request->last_resort)
            return false;
    }
    if (take_in_new_block(s, frames, request, out))
        return true;
    return (request->last_resort || slot >= SLOT_TABLES) && take_anywhere(s, frames, request, out);
}

static void release(void *state, struct pw_frames *frames, const struct pw_frame_request *request, pw_pfn at)
{
    struct state *s = state;
    struct block *b = block_at(s, name_of(at));
    unsigned pages = 1U << request->order;
    if (!pw_frames_release(frames, request->order, at, request->owner))
        return;
    if (request->owner == b->owner)
        b->own = (uint16_t)(b->own - pages);
    else
        s->elsewhere[slot_of(request->owner)] -= pages;
    b->taken = (uint16_t)(b->taken - pages);
    /* A region that its allocation no longer fills waits for no page. */
    b->reserved &= request->whole_region;
    settle(s, name_of(at));
}

static const struct pw_frames *frames_of(const struct pw_policy_setup *setup)
{
    return ((const struct pw_frame_environment *)setup->environment)->frames;
}

static size_t more_bytes(const struct pw_policy_setup *setup)
{
    return pw_frames_total(frames_of(setup)) / BLOCK_PAGES * sizeof(struct block);
}

/* What is there already is pre-fragmented data. */
static enum pw_status init(void *state, const struct pw_policy_setup *setup, struct pw_error *err)
{
    (void)err;
    struct state *s = state;
    const struct pw_frames *frames = frames_of(setup);
    s->blocks = (uint32_t)(pw_frames_total(frames) / BLOCK_PAGES);
    if (pw_frames_free(frames) == pw_frames_total(frames))
        return PW_OK;
    for (uint32_t name = 1; name <= s->blocks; name++) {
        struct block *b = block_at(s, name);
        for (uint32_t i = 0; i < BLOCK_PAGES; i++)
            b->taken = (uint16_t)(b->taken + (pw_frames_owner(frames, (pw_pfn){first_frame(name).v + i}) != 0));
        if (!b->taken)
            continue;
        b->own = b->taken;
        b->owner = PW_OWNER_FRAGMENT;
        s->assigned[SLOT_FRAGMENT]++;
        settle(s, name);
    }
    return PW_OK;
}

static void coalesced(void *state, struct pw_frames *frames, pw_pfn block, bool on)
{
    (void)frames;
    struct state *s = state;
    struct block *b = block_at(s, name_of(block));
    if (!b->taken)
        return;
    b->coalesced = on;
    b->kept = false;
    /* One that is splintered with all its pages waits for those that leave it now to come back. */
    b->reserved &= b->taken == BLOCK_PAGES;
    settle(s, name_of(block));
}

static void set_evacuating(struct state *s, pw_pfn block, bool on)
{
    struct block *b = block_at(s, name_of(block));
    if (!b->taken)
        return;
    b->evacuating = on;
    b->reserved = false;
    settle(s, name_of(block));
}

static void evacuate(void *state, struct pw_frames *frames, pw_pfn block)
{
    (void)frames;
    set_evacuating(state, block, true);
}

static void restore(void *state, struct pw_frames *frames, pw_pfn block)
{
    (void)frames;
    set_evacuating(state, block, false);
}

static void keep_for_emergency(void *state, pw_pfn block)
{
    struct state *s = state;
    struct block *b = block_at(s, name_of(block));
    if (!b->coalesced)
        return;
    b->kept = true;
    settle(s, name_of(block));
}

static bool emergency(const void *state, pw_owner owner, pw_pfn *out_block)
{
    const struct state *s = state;
    unsigned list = EMERGENCY + slot_of(owner);
    bool any_free = next_list(s, OPEN, EMERGENCY) < EMERGENCY || next_list(s, SHARED, LISTS) < LISTS;
    if (!s->lists[list].first && !any_free)
        list = next_list(s, EMERGENCY, SHARED);
    if (list == SHARED || !s->lists[list].first)
        return false;
    *out_block = first_frame(s->lists[list].first);
    return true;
}

/* A block with f pages of such data has room for 512 - f, so the others have room for f when all together have room for
 * 512, whatever f is. Blocks with pages of applications cannot be emptied: nobody knows where those are mapped. */
static bool fragmented(const void *state, const struct pw_frames *frames, pw_pfn *out_block)
{
    (void)frames;
    const struct state *s = state;
    for (unsigned list = LISTS; s->fragment_room >= BLOCK_PAGES && list-- > FRAGMENTED;)
        if (s->lists[list].first) {
            *out_block = first_frame(s->lists[list].first);
            return true;
        }
    return false;
}

static uint64_t held(const void *state, const struct pw_frames *frames, pw_owner owner)
{
    (void)frames;
    const struct state *s = state;
    return s->assigned[slot_of(owner)] * BLOCK_PAGES + s->elsewhere[slot_of(owner)];
}

static uint64_t violations(const void *state)
{
    return ((const struct state *)state)->violations;
}

static const struct pw_frame_blocks blocks = {.coalesced = coalesced,
                                              .evacuate = evacuate,
                                              .restore = restore,
                                              .keep_for_emergency = keep_for_emergency,
                                              .emergency = emergency,
                                              .fragmented = fragmented,
                                              .held = held,
                                              .violations = violations};

extern const struct pw_frame_policy pw_frame_policy_contiguity;
const struct pw_frame_policy pw_frame_policy_contiguity = {
    .head = {.name = "contiguity",
             .summary = "whole large frames for aligned 2 MiB, one application in each (Mosaic's CoCoA)",
             .state_bytes = sizeof(struct state),
             .init = init,
             .more_bytes = more_bytes},
    .allocate = allocate,
    .release = release,
    .blocks = &blocks,
};
