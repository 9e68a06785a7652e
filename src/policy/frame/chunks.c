/* Chunks: frames come in pieces of 2 MiB and 64 KiB, in an order drawn by the seed, as from a driver that has run for a
 * while.
 *
 * A page of a 2 MiB region that one allocation fills goes to its own place in the large piece that backs the region;
 * any other page goes to its own place in the small piece that backs its aligned 64 KiB. So consecutive pages of an
 * allocation have consecutive frames up to the end of a piece, and the next piece lies anywhere. A large piece is a
 * block of 2 MiB that is free altogether, drawn from all of those with equal probability. A small piece is drawn from a
 * block that has been broken up already; only where none has one left, a free block is drawn and broken up, as a buddy
 * allocator does. Where no large piece is left, its pages take small ones; where no small piece is left, a page takes
 * any free frame, first one that lies in no piece. A page that finds its place taken that way goes the same way. A
 * piece goes back when its last frame does. So no request fails while frames are free. Page tables fill small pieces of
 * their own, all applications together, in the order of their requests. With 2 MiB pages they take single frames that
 * are left over before they break up a block, as whoever counts the pages that memory has room for expects.
 *
 * Two sets of blocks are kept, those that are free and those that are broken up and have a free 64 KiB: each is the
 * beginning of a permutation of all blocks, so that a draw takes one step. The piece behind an aligned part of an
 * address space is found by a hash; the chains run through the pieces, which are named by their first 64 KiB group + 1,
 * with 0 for none. Permutations are kept as differences from the identity: zeroed memory is memory that is free. */
#include "policy/frame/frame_policy.h"

enum { GROUP_ORDER = PW_PAGE_64K, BLOCK_PAGES = 1 << PW_PAGE_2M, GROUPS = 1 << (PW_PAGE_2M - GROUP_ORDER) };

enum { MAX_DRAWS = 16 };

enum { FREE, OPEN, SETS };

static const uint32_t ALL = UINT32_MAX;

static const char *const piece_names[] = {"64KB", "2MB", NULL};
static const enum pw_page_order piece_orders[] = {PW_PAGE_64K, PW_PAGE_2M};

struct chunks_options {
    uint32_t large, small;
};

static const struct pw_option options[] = {
    {"large", PW_OPTION_CHOICE, offsetof(struct chunks_options, large), 0, 0, "2MB", "", piece_names,
     "Size of the pieces for pages of a 2 MiB region that one allocation fills.", false},
    {"small", PW_OPTION_CHOICE, offsetof(struct chunks_options, small), 0, 0, "64KB", "", piece_names,
     "Size of the pieces for all other pages and for page tables.", false},
    {0}};

struct piece {
    uint64_t part;   /* of the address space that it backs: page number >> order */
    uint32_t bucket; /* first piece in the chain of parts with this hash; nothing of this piece's own */
    uint32_t chain;  /* next piece in the chain it is in */
    pw_owner owner;
    uint8_t order; /* 0: there is no piece here */
};

struct block {
    uint32_t used;       /* bit i: group i is (in) a piece or has a frame taken */
    uint32_t item[SETS]; /* which block stands at this block's number in the permutation, ^ that number */
    uint32_t at[SETS];   /* where this block stands in it, ^ its number */
    struct piece pieces[GROUPS];
};

struct state {
    struct pw_random random;
    enum pw_page_order large, small;
    bool has_large_pages; /* pages of 2 MiB have been asked for */
    uint32_t blocks;
    uint32_t counts[SETS];
    struct block block[];
};

static struct piece *piece_at(struct state *s, uint32_t name)
{
    return &s->block[(name - 1) / GROUPS].pieces[(name - 1) % GROUPS];
}

static pw_pfn first_frame(uint32_t name)
{
    return (pw_pfn){(name - 1) << GROUP_ORDER};
}

static struct block *block_of(struct state *s, pw_pfn frame)
{
    return &s->block[frame.v >> PW_PAGE_2M];
}

static unsigned group_of(pw_pfn frame)
{
    return frame.v >> GROUP_ORDER & (GROUPS - 1);
}

/* Puts a block into a set or takes it out: it changes places with the first one beyond the set, or the last one in. */
static void set_member(struct state *s, unsigned set, uint32_t number, bool on)
{
    uint32_t from = s->block[number].at[set] ^ number;
    if ((from < s->counts[set]) == on)
        return;
    uint32_t to = on ? s->counts[set]++ : --s->counts[set];
    uint32_t other = s->block[to].item[set] ^ to;
    s->block[from].item[set] = other ^ from;
    s->block[other].at[set] = from ^ other;
    s->block[to].item[set] = number ^ to;
    s->block[number].at[set] = to ^ number;
}

static void set_used(struct state *s, uint32_t number, uint32_t used)
{
    s->block[number].used = used;
    set_member(s, FREE, number, used == 0);
    set_member(s, OPEN, number, used != 0 && used != ALL);
}

/* False: the set is empty. */
static bool draw_block(struct state *s, unsigned set, uint32_t *out)
{
    if (!s->counts[set])
        return false;
    uint32_t place = (uint32_t)pw_random_below(&s->random, s->counts[set]);
    *out = s->block[place].item[set] ^ place;
    return true;
}

static unsigned draw_group(struct state *s, uint32_t used)
{
    uint32_t free = ~used;
    for (uint64_t skip = pw_random_below(&s->random, (unsigned)__builtin_popcount(free)); skip; skip--)
        free &= free - 1;
    return (unsigned)__builtin_ctz(free);
}

static bool is_table(const struct pw_frame_request *request)
{
    return request->owner >= PW_OWNER_TABLE && request->owner != PW_OWNER_FRAGMENT;
}

/* What a piece for this request backs; the bucket and the chain are not said. */
static struct piece wanted_for(const struct pw_frame_request *request, enum pw_page_order order)
{
    if (is_table(request))
        return (struct piece){.owner = PW_OWNER_TABLE, .order = (uint8_t)order};
    return (struct piece){.part = request->vpn.v >> order, .owner = request->owner, .order = (uint8_t)order};
}

static uint32_t *bucket_of(struct state *s, const struct piece *p)
{
    uint64_t key = (p->part << 16 | p->owner) + p->order;
    uint64_t hash = key * 0x9e3779b97f4a7c15ULL >> 32; /* 2^64 over the golden ratio (Knuth 6.4) */
    return &piece_at(s, (uint32_t)(hash * s->blocks * GROUPS >> 32) + 1)->bucket;
}

/* The newest piece for this, or 0. */
static uint32_t find_piece(struct state *s, const struct piece *wanted)
{
    uint32_t name = *bucket_of(s, wanted);
    for (; name; name = piece_at(s, name)->chain) {
        const struct piece *p = piece_at(s, name);
        if (p->part == wanted->part && p->owner == wanted->owner && p->order == wanted->order)
            break;
    }
    return name;
}

/* A new piece, or 0. */
static uint32_t open_piece(struct state *s, const struct piece *wanted)
{
    uint32_t number, name, *bucket = bucket_of(s, wanted);
    if (wanted->order == PW_PAGE_2M) {
        if (!draw_block(s, FREE, &number))
            return 0;
        name = number * GROUPS + 1;
        set_used(s, number, ALL);
    } else {
        if (!draw_block(s, OPEN, &number) && !draw_block(s, FREE, &number))
            return 0;
        unsigned group = draw_group(s, s->block[number].used);
        name = number * GROUPS + group + 1;
        set_used(s, number, s->block[number].used | 1U << group);
    }
    struct piece *p = piece_at(s, name);
    *p = (struct piece){wanted->part, p->bucket, *bucket, wanted->owner, wanted->order};
    *bucket = name;
    return name;
}

static void close_piece(struct state *s, uint32_t name)
{
    struct piece *p = piece_at(s, name);
    uint32_t *link = bucket_of(s, p);
    while (*link != name)
        link = &piece_at(s, *link)->chain;
    *link = p->chain;
    *p = (struct piece){.bucket = p->bucket};
}

/* The page's own place in the piece; of page tables the lowest that is free. */
static bool take_in(struct state *s, struct pw_frames *frames, uint32_t name, const struct pw_frame_request *request,
                    pw_pfn *out)
{
    uint32_t pages = 1U << piece_at(s, name)->order;
    *out = first_frame(name);
    if (!is_table(request))
        out->v += (uint32_t)(request->vpn.v & (pages - 1));
    else if (!pw_frames_find(frames, request->order, *out, out) || out->v >= first_frame(name).v + pages)
        return false;
    return pw_frames_take_at(frames, request->order, *out, request->owner);
}

static bool is_in_piece(struct state *s, pw_pfn frame)
{
    const struct block *b = block_of(s, frame);
    return b->pieces[0].order == PW_PAGE_2M || b->pieces[group_of(frame)].order;
}

/* A frame that is left over in a block that is not free and lies in no piece. */
static bool find_left_over(struct state *s, const struct pw_frames *frames, enum pw_page_order order, pw_pfn *out)
{
    for (pw_pfn at = {0}; pw_frames_find(frames, order, at, out);) {
        bool is_free_block = !block_of(s, *out)->used;
        if (!is_free_block && !is_in_piece(s, *out))
            return true;
        at.v = (out->v | ((is_free_block ? BLOCK_PAGES : 1U << GROUP_ORDER) - 1)) + 1;
    }
    return false;
}

/* Any free run, wherever it is. */
static bool find_anywhere(struct state *s, const struct pw_frames *frames, enum pw_page_order order, pw_pfn *out)
{
    bool found = false;
    for (unsigned i = 0; i < MAX_DRAWS; i++) {
        pw_pfn from = {(uint32_t)pw_random_below(&s->random, pw_frames_total(frames))};
        found = pw_frames_find(frames, order, from, out) || pw_frames_find(frames, order, (pw_pfn){0}, out);
        if (!found || !is_in_piece(s, *out))
            break;
    }
    return found;
}

static bool take_single(struct state *s, struct pw_frames *frames, const struct pw_frame_request *request, pw_pfn at)
{
    uint32_t number = at.v >> PW_PAGE_2M;
    if (!pw_frames_take_at(frames, request->order, at, request->owner))
        return false;
    set_used(s, number, s->block[number].used | 1U << group_of(at));
    return true;
}

/* In a piece of this size that backs the page, which may be a new one. */
static bool take_in_piece(struct state *s, struct pw_frames *frames, enum pw_page_order order,
                          const struct pw_frame_request *request, pw_pfn *out)
{
    struct piece wanted = wanted_for(request, order);
    uint32_t name = find_piece(s, &wanted);
    if (name && take_in(s, frames, name, request, out))
        return true;
    if (name && !is_table(request))
        return false;
    if (is_table(request) && s->has_large_pages && !s->counts[OPEN] && find_left_over(s, frames, request->order, out) &&
        take_single(s, frames, request, *out))
        return true;
    name = open_piece(s, &wanted);
    return name && take_in(s, frames, name, request, out);
}

static bool take_block(struct state *s, struct pw_frames *frames, pw_owner owner, pw_pfn *out)
{
    uint32_t number;
    s->has_large_pages = true;
    if (!draw_block(s, FREE, &number))
        return false;
    out->v = number << PW_PAGE_2M;
    set_used(s, number, ALL);
    return pw_frames_take_at(frames, PW_PAGE_2M, *out, owner);
}

static bool allocate(void *state, struct pw_frames *frames, const struct pw_frame_request *request, pw_pfn *out)
{
    struct state *s = state;
    if (request->order == PW_PAGE_2M)
        return take_block(s, frames, request->owner, out);
    return (request->whole_region && take_in_piece(s, frames, s->large, request, out)) ||
           take_in_piece(s, frames, s->small, request, out) ||
           (find_anywhere(s, frames, request->order, out) && take_single(s, frames, request, *out));
}

/* Whether the aligned run around a frame is free. */
static bool is_free(const struct pw_frames *frames, enum pw_page_order order, pw_pfn frame)
{
    pw_pfn first = {frame.v & ~((1U << order) - 1)}, found;
    return pw_frames_find(frames, order, first, &found) && found.v == first.v;
}

static void release(void *state, struct pw_frames *frames, const struct pw_frame_request *request, pw_pfn at)
{
    struct state *s = state;
    struct block *b = block_of(s, at);
    if (!pw_frames_release(frames, request->order, at, request->owner))
        return;
    bool whole = request->order == PW_PAGE_2M || b->pieces[0].order == PW_PAGE_2M;
    unsigned group = whole ? 0 : group_of(at);
    if (!is_free(frames, whole ? PW_PAGE_2M : PW_PAGE_64K, at))
        return;
    uint32_t number = at.v >> PW_PAGE_2M;
    if (b->pieces[group].order)
        close_piece(s, number * GROUPS + group + 1);
    set_used(s, number, whole ? 0 : b->used & ~(1U << group));
}

static const struct pw_frames *frames_of(const struct pw_policy_setup *setup)
{
    return ((const struct pw_frame_environment *)setup->environment)->frames;
}

static size_t more_bytes(const struct pw_policy_setup *setup)
{
    return pw_frames_total(frames_of(setup)) / BLOCK_PAGES * sizeof(struct block);
}

/* Blocks with pre-fragmented data are broken up already. */
static void note_taken(struct state *s, const struct pw_frames *frames)
{
    pw_pfn at = {0};
    for (uint32_t number = 0; number < s->blocks; number++)
        set_used(s, number, ALL);
    for (; pw_frames_find(frames, PW_PAGE_64K, at, &at); at.v += 1U << GROUP_ORDER)
        set_used(s, at.v >> PW_PAGE_2M, block_of(s, at)->used & ~(1U << group_of(at)));
}

static enum pw_status init(void *state, const struct pw_policy_setup *setup, struct pw_error *err)
{
    (void)err;
    struct state *s = state;
    const struct chunks_options *chosen = setup->options;
    const struct pw_frame_environment *environment = setup->environment;
    for (unsigned i = 0; i < sizeof s->random.s / sizeof s->random.s[0]; i++)
        s->random.s[i] = pw_random_next(environment->random);
    s->large = piece_orders[chosen->large];
    s->small = piece_orders[chosen->small];
    s->blocks = s->counts[FREE] = (uint32_t)(pw_frames_total(environment->frames) / BLOCK_PAGES);
    if (pw_frames_free(environment->frames) < pw_frames_total(environment->frames))
        note_taken(s, environment->frames);
    return PW_OK;
}

extern const struct pw_frame_policy pw_frame_policy_chunks;
const struct pw_frame_policy pw_frame_policy_chunks = {
    .head = {.name = "chunks",
             .summary = "pieces of 2 MiB and 64 KiB in seeded order, as from a driver that has run for a while",
             .options = options,
             .options_bytes = sizeof(struct chunks_options),
             .state_bytes = sizeof(struct state),
             .more_bytes = more_bytes,
             .init = init},
    .allocate = allocate,
    .release = release,
    .asks_regions = true,
};
