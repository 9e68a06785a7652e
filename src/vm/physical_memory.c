/* Creation of physical memory, and its fragmentation before anything runs (Mosaic, Section 6.4).
 *
 * How many large frames and how many of their pages are taken is exact, rounded to the nearest; which ones is drawn
 * without replacement, one number per candidate (Knuth, Algorithm 3.4.2 S), from a stream of random numbers of its own.
 * A frame that is fragmented has at least one such page, else it would not be. */
#include "vm/physical_memory.h"

enum { BLOCK_PAGES = 1 << PW_PAGE_2M };

static const char *const page_size_names[] = {"4KB", "64KB", "2MB", NULL};
static const enum pw_page_order page_size_orders[] = {PW_PAGE_4K, PW_PAGE_64K, PW_PAGE_2M};

const struct pw_option pw_page_options[] = {
    {"size", PW_OPTION_CHOICE, offsetof(struct pw_page_config, size), 0, 0, "4KB", "", page_size_names,
     "Size of the pages that allocations are mapped with. 4KB and 64KB pages use the base entries of the TLBs, "
     "2MB pages the large entries, which are fewer unless large_as_base is on, as in design gpu-mmu-2m.",
     false},
    {"entry_stride", PW_OPTION_COUNT, offsetof(struct pw_page_config, entry_stride), 8, 128, "8", "bytes", NULL,
     "Distance between neighbouring page-table entries; more than 8 makes tables sparser.", true},
    {"frames", PW_OPTION_POLICY, offsetof(struct pw_page_config, frames), 0, 0, "first-free", "", &pw_frame_family,
     "Which free frames a page gets.", false},
    {"fragmentation", PW_OPTION_NUMBER, offsetof(struct pw_page_config, fragmentation), 0, 100, "0", "%", NULL,
     "Share of the 2 MiB frames that hold data from before the run, placed at random.", false},
    {"occupancy", PW_OPTION_NUMBER, offsetof(struct pw_page_config, occupancy), 0, 100, "50", "%", NULL,
     "Share of the base pages of such a frame that this data takes; at least one page.", false},
    {0}};

enum pw_page_order pw_page_config_order(const struct pw_page_config *c)
{
    return page_size_orders[c->size];
}

static uint32_t share_of(uint64_t whole, double percent)
{
    return (uint32_t)((double)whole * percent / 100 + 0.5);
}

/* Takes `wanted` of the pages of a block. */
static void fragment_block(struct pw_physical_memory *p, uint32_t block, uint32_t wanted, struct pw_random *random)
{
    for (uint32_t i = 0; i < BLOCK_PAGES && wanted; i++)
        if (pw_random_below(random, BLOCK_PAGES - i) < wanted) {
            pw_frames_take_at(p->frames, PW_PAGE_4K, (pw_pfn){(block << PW_PAGE_2M) + i}, PW_OWNER_FRAGMENT);
            wanted--;
        }
}

static void fragment(struct pw_physical_memory *p, const struct pw_page_config *config, uint64_t seed)
{
    struct pw_random random;
    uint32_t blocks = (uint32_t)(pw_frames_total(p->frames) / BLOCK_PAGES);
    uint32_t wanted = share_of(blocks, config->fragmentation), pages = share_of(BLOCK_PAGES, config->occupancy);
    pages += !pages;
    pw_random_init(&random, seed, "fragmentation");
    p->fragment_pages = (uint64_t)wanted * pages;
    p->foreign_bytes = p->fragment_pages << PW_PAGE_SHIFT;
    for (uint32_t i = 0; i < blocks && wanted; i++)
        if (pw_random_below(&random, blocks - i) < wanted) {
            fragment_block(p, i, pages, &random);
            wanted--;
        }
}

/* 4 KiB pages that free memory has room for in pages of this order. */
static uint64_t count_room(const struct pw_frames *f, enum pw_page_order order)
{
    uint64_t runs = 0;
    if (order == PW_PAGE_4K)
        return pw_frames_free(f);
    if (order == PW_PAGE_2M)
        return pw_frames_free_blocks(f) * BLOCK_PAGES;
    for (pw_pfn at = {0}; pw_frames_find(f, order, at, &at); at.v += 1U << order)
        runs++;
    return runs << order;
}

static enum pw_status create_policy(struct pw_physical_memory *p, const struct pw_page_config *config,
                                    struct pw_policies *policies, struct pw_error *err)
{
    const struct pw_policy *policy = pw_policy_chosen(&pw_frame_family, &config->frames);
    struct pw_frame_environment environment = {p->frames, &p->random};
    enum pw_status status =
        pw_policy_use_init(&p->policy_use, policies, "page.frames", policy, &config->frames, PW_MAX_APPS, err);
    p->policy = pw_frame_policy_of(policy);
    return status == PW_OK ? pw_policy_use_add(&p->policy_use, &environment, &p->policy_state, err) : status;
}

enum pw_status pw_physical_memory_init(struct pw_physical_memory *p, uint64_t bytes,
                                       const struct pw_page_config *config, uint64_t seed, struct pw_policies *policies,
                                       struct pw_error *err)
{
    *p = (struct pw_physical_memory){0};
    enum pw_status status = pw_frames_create(bytes, &p->frames, err);
    if (status != PW_OK)
        return status;
    p->usable = pw_frames_total(p->frames);
    if (config->fragmentation > 0) {
        fragment(p, config, seed);
        p->usable = count_room(p->frames, pw_page_config_order(config));
    }
    if (!p->usable) {
        pw_physical_memory_release(p);
        return pw_fail(err, PW_USER_ERROR,
                       "page.fragmentation and page.occupancy leave no free frame for a page of %s; lower one of them",
                       page_size_names[config->size]);
    }
    pw_random_init(&p->random, seed, "frames");
    status = create_policy(p, config, policies, err);
    if (status == PW_OK)
        pw_physical_memory_note(p);
    else
        pw_physical_memory_release(p);
    return status;
}

void pw_physical_memory_release(struct pw_physical_memory *p)
{
    pw_frames_destroy(p->frames);
    pw_policy_use_release(&p->policy_use);
    *p = (struct pw_physical_memory){0};
}

void pw_physical_memory_note(struct pw_physical_memory *p)
{
    const struct pw_frame_blocks *blocks = p->policy->blocks;
    if (!blocks)
        return;
    p->violations = blocks->violations(p->policy_state);
    p->foreign_frame_bytes = blocks->held(p->policy_state, p->frames, PW_OWNER_FRAGMENT) << PW_PAGE_SHIFT;
}
