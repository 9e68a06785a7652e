/* Builds, walks and takes apart the four-level page table of page_table.h (Mosaic, Section 4.3 and Figure 7; MASK,
 * Section 3 and Table 1).
 *
 * On the host the two upper levels are one flat directory, of which only what is used is ever touched; level 3 is an
 * array of 512 regions; level 4 is four bytes per page. In simulated memory every node has a place of its own:
 * nodes are carved from chunks, one frame where a node fits in a frame and a 64 KiB run where a wide entry_stride makes
 * nodes larger. The tables of 64 KiB pages are small (256 bytes when dense) and share a frame, as on NVIDIA GPUs.
 *
 * A leaf table whose last page is unmapped keeps its place until its 2 MiB region gets another page size; then it waits
 * for the next region that needs a leaf of its kind.
 *
 * A region of 4 KiB pages whose large bit is set keeps its leaf and is of the kind PW_TABLE_COALESCED, with the first
 * frame of the large page beside the leaf: a lookup need not read the leaf, and the bit takes no memory of its own,
 * here or in simulated memory. */
#include "vm/page_table.h"

#include "vm/table_chunks.h"

#include <stdlib.h>
#include <string.h>

#define NO_NODE UINT64_MAX

enum { DIRECTORY_ENTRIES = 1 << PW_TABLE_DIRECTORY_BITS };

enum { DISABLED_WORDS = PW_TABLE_ENTRIES / 32 };

static unsigned index_of(pw_vpn vpn, unsigned level)
{
    return (unsigned)(vpn.v >> (9 * (PW_TABLE_LEVELS - level))) % PW_TABLE_ENTRIES;
}

enum pw_status pw_page_table_create(const struct pw_page_table_config *config, struct pw_page_table **out,
                                    struct pw_error *err)
{
    uint32_t stride = config->entry_stride;
    if (stride < 8 || stride > 128 || (stride & (stride - 1)))
        return pw_fail(err, PW_USER_ERROR,
                       "page-table entries %u bytes apart are not possible; give a power of two from 8 to 128", stride);
    struct pw_page_table *t = calloc(1, sizeof *t);
    if (!t)
        return pw_fail_memory(err, "page table");
    t->config = *config;
    for (unsigned i = 0; i < PW_TABLE_ENTRIES; i++)
        t->level2[i].v = NO_NODE;
    t->arenas[PW_ARENA_NODES].node_bytes = PW_TABLE_ENTRIES * stride;
    t->arenas[PW_ARENA_BIG_LEAVES].node_bytes = PW_TABLE_BIG_ENTRIES * stride;
    t->directory = calloc(DIRECTORY_ENTRIES, sizeof(struct pw_table_node *));
    enum pw_status status = t->directory ? PW_OK : pw_fail_memory(err, "page table");
    if (!status)
        status = pw_table_place_node(t, &t->arenas[PW_ARENA_NODES], &t->root, err);
    if (status) {
        pw_page_table_destroy(t);
        return status;
    }
    *out = t;
    return PW_OK;
}

/* The first level-3 node at or above place `from` of the directory; skips what no level-2 node covers. */
static size_t next_level3(const struct pw_page_table *t, size_t from)
{
    for (size_t i = from; i < DIRECTORY_ENTRIES;) {
        if (t->level2[i / PW_TABLE_ENTRIES].v == NO_NODE)
            i = (i / PW_TABLE_ENTRIES + 1) * PW_TABLE_ENTRIES;
        else if (t->directory[i])
            return i;
        else
            i++;
    }
    return DIRECTORY_ENTRIES;
}

static void free_level3(struct pw_table_node *node)
{
    for (unsigned i = 0; i < PW_TABLE_ENTRIES; i++)
        free(node->regions[i].leaf);
    free(node);
}

void pw_page_table_destroy(struct pw_page_table *t)
{
    if (!t)
        return;
    for (size_t i = next_level3(t, 0); i < DIRECTORY_ENTRIES; i = next_level3(t, i + 1))
        free_level3(t->directory[i]);
    for (unsigned kind = 0; kind < PW_TABLE_KIND_COUNT; kind++)
        for (struct pw_table_leaf *leaf = t->spare[kind], *next; leaf; leaf = next) {
            next = leaf->next_spare;
            free(leaf);
        }
    pw_table_release_chunks(t);
    free(t->directory);
    free(t);
}

/* The level-3 node over vpn, made where there is none; NULL when there is no memory for it. */
static struct pw_table_node *get_level3(struct pw_page_table *t, pw_vpn vpn, struct pw_error *err)
{
    struct pw_table_arena *arena = &t->arenas[PW_ARENA_NODES];
    pw_paddr *level2 = &t->level2[index_of(vpn, 1)];
    if (level2->v == NO_NODE && pw_table_place_node(t, arena, level2, err))
        return NULL;
    struct pw_table_node **slot = &t->directory[vpn.v >> 18];
    if (*slot)
        return *slot;
    struct pw_table_node *node = calloc(1, sizeof *node);
    if (!node) {
        pw_fail_memory(err, "page table");
        return NULL;
    }
    if (pw_table_place_node(t, arena, &node->place, err)) {
        free(node);
        return NULL;
    }
    *slot = node;
    return node;
}

/* An empty leaf, a spare one where there is one; NULL when there is no memory for it. */
static struct pw_table_leaf *get_leaf(struct pw_page_table *t, enum pw_table_kind kind, struct pw_error *err)
{
    struct pw_table_leaf *leaf = t->spare[kind];
    if (leaf) {
        t->spare[kind] = leaf->next_spare;
        return leaf;
    }
    bool is_big = kind == PW_TABLE_64K;
    size_t entries = is_big ? PW_TABLE_BIG_ENTRIES : PW_TABLE_ENTRIES + DISABLED_WORDS;
    leaf = calloc(1, sizeof *leaf + entries * sizeof leaf->frames[0]);
    if (!leaf) {
        pw_fail_memory(err, "page table");
        return NULL;
    }
    if (pw_table_place_node(t, &t->arenas[is_big ? PW_ARENA_BIG_LEAVES : PW_ARENA_NODES], &leaf->place, err)) {
        free(leaf);
        return NULL;
    }
    return leaf;
}

static enum pw_status fail_mapped(pw_vpn vpn, struct pw_error *err)
{
    return pw_fail(err, PW_FAILED, "page 0x%llx is mapped already", (unsigned long long)vpn.v);
}

/* Makes the region ready for pages of this kind: an empty leaf of another kind is put aside. */
static enum pw_status prepare_region(struct pw_page_table *t, struct pw_table_region *region, enum pw_table_kind kind,
                                     pw_vpn vpn, struct pw_error *err)
{
    enum pw_table_kind present = region->kind;
    struct pw_table_leaf *old = region->leaf;
    if (present == kind || (present == PW_TABLE_COALESCED && kind == PW_TABLE_4K))
        return kind == PW_TABLE_2M ? fail_mapped(vpn, err) : PW_OK;
    if (present == PW_TABLE_2M || (old && old->present))
        return pw_fail(err, PW_FAILED, "page 0x%llx cannot be mapped: its 2 MiB region holds pages of another size",
                       (unsigned long long)vpn.v);
    struct pw_table_leaf *leaf = NULL;
    if (kind != PW_TABLE_2M) {
        leaf = get_leaf(t, kind, err);
        if (!leaf)
            return PW_FAILED;
    }
    if (old) {
        old->next_spare = t->spare[present];
        t->spare[present] = old;
    }
    *region = (struct pw_table_region){.leaf = leaf, .kind = (uint8_t)kind};
    return PW_OK;
}

static enum pw_table_kind kind_of(enum pw_page_order order)
{
    return order == PW_PAGE_4K ? PW_TABLE_4K : order == PW_PAGE_64K ? PW_TABLE_64K : PW_TABLE_2M;
}

static bool has_leaf(const struct pw_table_node *node, pw_vpn vpn, enum pw_table_kind kind)
{
    enum pw_table_kind present = node ? node->regions[index_of(vpn, 3)].kind : PW_TABLE_EMPTY;
    return present == kind || (present == PW_TABLE_COALESCED && kind == PW_TABLE_4K);
}

unsigned pw_page_table_growth(const struct pw_page_table *t, pw_vpn vpn, enum pw_page_order order)
{
    enum pw_table_kind kind = kind_of(order);
    const struct pw_table_node *node = t->directory[vpn.v >> 18];
    unsigned nodes = (unsigned)(t->level2[index_of(vpn, 1)].v == NO_NODE) + !node;
    unsigned leaves = kind != PW_TABLE_2M && !has_leaf(node, vpn, kind) && !t->spare[kind];
    unsigned leaf_arena = kind == PW_TABLE_64K ? PW_ARENA_BIG_LEAVES : PW_ARENA_NODES;
    return (nodes << pw_table_chunk_order(&t->arenas[PW_ARENA_NODES])) +
           (leaves << pw_table_chunk_order(&t->arenas[leaf_arena]));
}

enum pw_status pw_page_table_map(struct pw_page_table *t, pw_vpn vpn, pw_pfn frame, enum pw_page_order order,
                                 struct pw_error *err)
{
    enum pw_table_kind kind = kind_of(order);
    uint64_t pages = 1ULL << order;
    if (vpn.v >> PW_TABLE_VPN_BITS || frame.v == UINT32_MAX || ((vpn.v | frame.v) & (pages - 1)))
        return pw_fail(err, PW_FAILED, "page 0x%llx cannot be mapped to frame 0x%x as a page of %llu KiB",
                       (unsigned long long)vpn.v, frame.v, 4ULL << order);
    struct pw_table_node *node = get_level3(t, vpn, err);
    if (!node)
        return PW_FAILED;
    struct pw_table_region *region = &node->regions[index_of(vpn, 3)];
    enum pw_status status = prepare_region(t, region, kind, vpn, err);
    if (status)
        return status;
    if (kind == PW_TABLE_2M) {
        region->frame = frame;
    } else {
        struct pw_table_leaf *leaf = region->leaf;
        uint32_t *slot = &leaf->frames[vpn.v % PW_TABLE_ENTRIES >> order];
        if (*slot)
            return fail_mapped(vpn, err);
        if (region->kind == PW_TABLE_COALESCED && frame.v != region->frame.v + index_of(vpn, PW_TABLE_LEVELS))
            return pw_fail(err, PW_FAILED, "page 0x%llx cannot be mapped: a large page covers it",
                           (unsigned long long)vpn.v);
        *slot = frame.v + 1;
        leaf->present++;
    }
    t->mapped_pages += pages;
    return PW_OK;
}

/* The leaf of a region of 4 KiB pages, large or not, or NULL. */
static struct pw_table_leaf *base_leaf(const struct pw_table_region *region)
{
    return region && region->kind != PW_TABLE_64K ? region->leaf : NULL;
}

struct pw_translation pw_page_table_unmap(struct pw_page_table *t, pw_vpn vpn)
{
    struct pw_translation was = pw_page_table_lookup(t, vpn);
    if (!was.present)
        return was;
    struct pw_table_region *region = pw_table_region_at(t, vpn);
    struct pw_table_leaf *leaf = region->leaf;
    if (leaf) {
        was.order = region->kind == PW_TABLE_64K ? PW_PAGE_64K : PW_PAGE_4K;
        uint32_t *slot = &leaf->frames[index_of(vpn, PW_TABLE_LEVELS) >> was.order];
        if (!*slot) /* in a large region, only the large page covers it */
            return (struct pw_translation){0};
        *slot = 0;
        if (!--leaf->present && was.order == PW_PAGE_4K) {
            region->kind = PW_TABLE_4K;
            memset(leaf->frames + PW_TABLE_ENTRIES, 0, DISABLED_WORDS * sizeof leaf->frames[0]);
        }
    } else {
        region->kind = PW_TABLE_EMPTY;
    }
    t->mapped_pages -= 1ULL << was.order;
    t->changes++;
    t->losses++;
    return was;
}

unsigned pw_page_table_walk(const struct pw_page_table *t, pw_vpn vpn, pw_paddr out_reads[PW_TABLE_LEVELS],
                            struct pw_translation *out_translation)
{
    uint64_t stride = t->config.entry_stride;
    if (out_translation)
        *out_translation = (struct pw_translation){0};
    out_reads[0].v = t->root.v + index_of(vpn, 1) * stride;
    pw_paddr level2 = t->level2[index_of(vpn, 1)];
    if (level2.v == NO_NODE || vpn.v >> PW_TABLE_VPN_BITS)
        return 1;
    out_reads[1].v = level2.v + index_of(vpn, 2) * stride;
    const struct pw_table_node *node = t->directory[vpn.v >> 18];
    if (!node)
        return 2;
    out_reads[2].v = node->place.v + index_of(vpn, 3) * stride;
    const struct pw_table_region *region = &node->regions[index_of(vpn, 3)];
    if (out_translation)
        *out_translation = pw_table_region_lookup(region, vpn);
    if (!region->leaf)
        return 3;
    enum pw_page_order order = region->kind == PW_TABLE_64K ? PW_PAGE_64K : PW_PAGE_4K;
    uint64_t entry = region->kind == PW_TABLE_COALESCED ? 0 : index_of(vpn, PW_TABLE_LEVELS) >> order;
    out_reads[3].v = region->leaf->place.v + entry * stride;
    return 4;
}

bool pw_page_table_can_coalesce(const struct pw_page_table *t, pw_vpn vpn)
{
    const struct pw_table_region *region = pw_table_region_at(t, vpn);
    const struct pw_table_leaf *leaf = base_leaf(region);
    if (!leaf || region->kind == PW_TABLE_COALESCED || leaf->present < PW_TABLE_ENTRIES ||
        (leaf->frames[0] - 1) % PW_TABLE_ENTRIES)
        return false;
    bool consecutive = true;
    for (uint32_t i = 1; i < PW_TABLE_ENTRIES; i++)
        consecutive &= leaf->frames[i] == leaf->frames[0] + i;
    return consecutive;
}

bool pw_page_table_is_large(const struct pw_page_table *t, pw_vpn vpn)
{
    const struct pw_table_region *region = pw_table_region_at(t, vpn);
    return region && region->kind == PW_TABLE_COALESCED;
}

void pw_page_table_set_large(struct pw_page_table *t, pw_vpn vpn, bool on)
{
    struct pw_table_region *region = pw_table_region_at(t, vpn);
    t->changes++;
    t->losses += !on;
    if (on) {
        region->frame.v = region->leaf->frames[0] - 1;
        region->kind = PW_TABLE_COALESCED;
    } else if (region->kind == PW_TABLE_COALESCED) {
        region->kind = PW_TABLE_4K;
    }
}

void pw_page_table_set_disabled(struct pw_page_table *t, pw_vpn vpn, unsigned count, bool on)
{
    struct pw_table_leaf *leaf = base_leaf(pw_table_region_at(t, vpn));
    if (!leaf || !leaf->present)
        return;
    uint32_t *words = leaf->frames + PW_TABLE_ENTRIES;
    for (unsigned i = index_of(vpn, PW_TABLE_LEVELS), outer = i + count; i < outer; i++)
        words[i / 32] = (words[i / 32] & ~(1U << i % 32)) | (uint32_t)on << i % 32;
}

unsigned pw_page_table_disabled(const struct pw_page_table *t, pw_vpn vpn)
{
    const struct pw_table_leaf *leaf = base_leaf(pw_table_region_at(t, vpn));
    unsigned count = 0;
    for (unsigned i = 0; leaf && i < DISABLED_WORDS; i++)
        count += (unsigned)__builtin_popcount(leaf->frames[PW_TABLE_ENTRIES + i]);
    return count;
}

unsigned pw_page_table_present(const struct pw_page_table *t, pw_vpn vpn)
{
    const struct pw_table_leaf *leaf = base_leaf(pw_table_region_at(t, vpn));
    return leaf ? leaf->present : 0;
}

bool pw_page_table_has_base(const struct pw_page_table *t, pw_vpn vpn, pw_pfn *out_frame)
{
    const struct pw_table_leaf *leaf = base_leaf(pw_table_region_at(t, vpn));
    uint32_t frame = leaf ? leaf->frames[index_of(vpn, PW_TABLE_LEVELS)] : 0;
    if (frame && out_frame)
        *out_frame = pw_frame_of((pw_pfn){frame - 1});
    return frame != 0;
}

pw_pfn pw_page_table_move(struct pw_page_table *t, pw_vpn vpn, pw_pfn frame)
{
    uint32_t *slot = &pw_table_region_at(t, vpn)->leaf->frames[index_of(vpn, PW_TABLE_LEVELS)];
    pw_pfn was = {*slot - 1};
    *slot = pw_frame_word(frame, pw_denied_of(was)).v + 1;
    t->changes++;
    t->losses++;
    return pw_frame_of(was);
}

static pw_pfn with_denied(pw_pfn word, unsigned denied)
{
    return pw_frame_word(pw_frame_of(word), denied);
}

static void protect_page(struct pw_table_region *region, pw_vpn vpn, unsigned denied)
{
    unsigned order = region->kind == PW_TABLE_64K ? PW_PAGE_64K : PW_PAGE_4K;
    uint32_t *slot = region->leaf ? &region->leaf->frames[index_of(vpn, PW_TABLE_LEVELS) >> order] : NULL;
    if (slot && *slot)
        *slot = with_denied((pw_pfn){*slot - 1}, denied).v + 1;
    if (region->kind == PW_TABLE_2M || region->kind == PW_TABLE_COALESCED)
        region->frame = with_denied(region->frame, denied);
}

void pw_page_table_protect(struct pw_page_table *t, pw_vpn first, pw_vpn outer, unsigned denied)
{
    t->changes++;
    t->losses++;
    for (pw_vpn vpn = first; vpn.v < outer.v; vpn.v++) {
        struct pw_table_region *region = pw_table_region_at(t, vpn);
        if (region)
            protect_page(region, vpn, denied);
    }
}

pw_paddr pw_page_table_entry(const struct pw_page_table *t, pw_vpn vpn, unsigned level)
{
    const struct pw_table_node *node = t->directory[vpn.v >> 18];
    pw_paddr table = level == 3 ? node->place : node->regions[index_of(vpn, 3)].leaf->place;
    return (pw_paddr){table.v + (uint64_t)index_of(vpn, level) * t->config.entry_stride};
}

uint64_t pw_page_table_mapped_pages(const struct pw_page_table *t)
{
    return t->mapped_pages;
}

uint64_t pw_page_table_node_bytes(const struct pw_page_table *t)
{
    return t->node_bytes;
}

static void visit_region(const struct pw_table_region *region, pw_vpn first, pw_mapping_visit *visit, void *context)
{
    const struct pw_table_leaf *leaf = region->leaf;
    if (region->kind == PW_TABLE_2M)
        visit(context, first, pw_frame_of(region->frame), PW_PAGE_2M);
    if (!leaf)
        return;
    enum pw_page_order order = region->kind == PW_TABLE_64K ? PW_PAGE_64K : PW_PAGE_4K;
    for (uint64_t i = 0; i < (uint64_t)PW_TABLE_ENTRIES >> order; i++)
        if (leaf->frames[i])
            visit(context, (pw_vpn){first.v + (i << order)}, pw_frame_of((pw_pfn){leaf->frames[i] - 1}), order);
}

void pw_page_table_each(const struct pw_page_table *t, pw_mapping_visit *visit, void *context)
{
    for (size_t d = next_level3(t, 0); d < DIRECTORY_ENTRIES; d = next_level3(t, d + 1))
        for (uint64_t i = 0; i < PW_TABLE_ENTRIES; i++)
            visit_region(&t->directory[d]->regions[i], (pw_vpn){(uint64_t)d << 18 | i << 9}, visit, context);
}
