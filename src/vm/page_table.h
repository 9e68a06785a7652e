/* A four-level page table in simulated memory, one per address space.
 *
 * 48-bit virtual addresses; 512 entries of 8 bytes in each of the levels 1 (root) to 4. A 4 KiB page is mapped by a
 * level-4 entry and walked in four reads; a 2 MiB page by a level-3 entry in three reads; 64 KiB pages by a level-4
 * table of 32 entries (as NVIDIA's big-page tables), in four reads. Every node has a real physical address, from the
 * frame allocator, so that its reads compete in the L2 and in DRAM. entry_stride spreads the entries out
 * (docs/decisions.md: the density of leaf tables decides how often walks hit the L2; dense, 8 bytes, is the default).
 *
 * Of several GPUs each has a copy of all nodes in its own memory, which its walks read. Addresses are those of the copy
 * of GPU 0; pw_page_table_on says where another has it. In truth a GPU's table would have entries for its own pages
 * only, and could do without nodes that have none; what a walk finds is decided by where the frame lies (vm/mmu.h).
 *
 * For the simulator's own use a lookup is inline and costs two dependent loads, level 3 and level 4, behind a load from
 * the directory: one word per GiB in use, which stays in the host's first-level cache. */
#ifndef PW_VM_PAGE_TABLE_H
#define PW_VM_PAGE_TABLE_H

#include "sim/status.h"
#include "sim/types.h"
#include "vm/physical_memory.h"

enum {
    PW_TABLE_ENTRIES = 512,
    PW_TABLE_BIG_ENTRIES = 32, /* of the level-4 table of a region of 64 KiB pages */
    PW_TABLE_VPN_BITS = 36,
    PW_TABLE_DIRECTORY_BITS = 18 /* levels 1 and 2 together */
};

struct pw_page_table;

struct pw_translation {
    pw_pfn frame;  /* of the 4 KiB page asked for */
    uint8_t order; /* enum pw_page_order of the mapping */
    bool present;
    uint8_t denied; /* what the page may not be used for: PW_MAY_READ, PW_MAY_WRITE */
};

struct pw_page_table_config {
    pw_asid asid;
    uint32_t entry_stride; /* bytes, a power of two from 8 to 128 */
    struct pw_frames *frames;
    const struct pw_frame_policy *policy; /* where nodes are put */
    void *policy_state;
    struct pw_physical_memory *const *copies; /* of several GPUs, the memories of those but the first */
    unsigned copy_count;
};

/* No memory for its root is a user error. */
enum pw_status pw_page_table_create(const struct pw_page_table_config *config, struct pw_page_table **out,
                                    struct pw_error *err);
/* Gives all node frames back. Mapped frames belong to the caller. */
void pw_page_table_destroy(struct pw_page_table *t);

/* Maps a page of 2^order 4 KiB pages; vpn and frame aligned to it. `frame` may deny uses (pw_frame_word). Mapping over
 * a present page, or two page sizes in one 2 MiB region, is PW_FAILED, and so is a frame in a large region other than
 * the one that the large page has there, or other permissions; no memory for a node is PW_FAILED. */
enum pw_status pw_page_table_map(struct pw_page_table *t, pw_vpn vpn, pw_pfn frame, enum pw_page_order order,
                                 struct pw_error *err);
/* Removes the mapping that covers vpn and returns what it was (present = false when there was none). Nodes that become
 * empty are kept until the table is destroyed. */
struct pw_translation pw_page_table_unmap(struct pw_page_table *t, pw_vpn vpn);

/* The most frames that nodes may take when a page of this order is mapped at vpn; 0 when every node is there. */
unsigned pw_page_table_growth(const struct pw_page_table *t, pw_vpn vpn, enum pw_page_order order);

/* What the mapped pages of [first, outer) may not be used for, from now on. Of a coalesced region all pages must be
 * there: a large page has one set of permissions. */
void pw_page_table_protect(struct pw_page_table *t, pw_vpn first, pw_vpn outer, unsigned denied);

static inline struct pw_translation pw_page_table_lookup(const struct pw_page_table *t, pw_vpn vpn);

/* The physical addresses that a walk for vpn reads, root first; returns how many (1 to 4; it ends at the leaf, or at
 * the first entry that is not present), and what it finds. out_translation may be NULL. */
unsigned pw_page_table_walk(const struct pw_page_table *t, pw_vpn vpn, pw_paddr out_reads[PW_TABLE_LEVELS],
                            struct pw_translation *out_translation);

/* The place of a node's entry in the copy that a GPU has. */
pw_paddr pw_table_copy_place(const struct pw_page_table *t, unsigned gpu, pw_paddr place); /* of a GPU but the first */
static inline pw_paddr pw_page_table_on(const struct pw_page_table *t, unsigned gpu, pw_paddr place)
{
    return gpu ? pw_table_copy_place(t, gpu, place) : place;
}

/* Coalescing in place (Mosaic, Section 4.3, Figure 7). The level-3 entry of a region of 4 KiB pages has a large bit,
 * each of its 512 level-4 entries a disabled bit; all are 0 at first. While the large bit is set the region is one page
 * of 2 MiB: lookups and walks find that, and a walk reads the first level-4 entry instead of the page's own. The base
 * mappings stay as they are, so unmapping and visiting still go by 4 KiB pages; unmapping the last one clears the bits.
 * A page that was unmapped in a large region is still covered by the large mapping. `vpn` is any page of the region. */

/* Whether the bit can be set: 512 pages of 4 KiB are mapped to consecutive frames from an aligned one on, with the same
 * permissions, and it is 0. The large page has the permissions of the first (Mosaic, Section 4.3). */
bool pw_page_table_can_coalesce(const struct pw_page_table *t, pw_vpn vpn);
bool pw_page_table_is_large(const struct pw_page_table *t, pw_vpn vpn);
void pw_page_table_set_large(struct pw_page_table *t, pw_vpn vpn, bool on);
/* The disabled bits of `count` pages from vpn on, all of one region; a region without pages keeps none. */
void pw_page_table_set_disabled(struct pw_page_table *t, pw_vpn vpn, unsigned count, bool on);
unsigned pw_page_table_disabled(const struct pw_page_table *t, pw_vpn vpn); /* bits set in the region */
unsigned pw_page_table_present(const struct pw_page_table *t, pw_vpn vpn);  /* 4 KiB pages mapped in the region */
/* Whether this 4 KiB page has a mapping of its own, large bit or not; *out_frame may be NULL. */
bool pw_page_table_has_base(const struct pw_page_table *t, pw_vpn vpn, pw_pfn *out_frame);
/* Maps a 4 KiB page that is mapped, in a region that is not large, to another frame; returns the one it had. */
pw_pfn pw_page_table_move(struct pw_page_table *t, pw_vpn vpn, pw_pfn frame);
/* Where the entry of this page lies, of level 3 or 4; the region must have pages of 4 KiB. */
pw_paddr pw_page_table_entry(const struct pw_page_table *t, pw_vpn vpn, unsigned level);

uint64_t pw_page_table_mapped_pages(const struct pw_page_table *t); /* in 4 KiB pages */
uint64_t pw_page_table_node_bytes(const struct pw_page_table *t);   /* of simulated memory taken for nodes */

/* Calls visit for every mapping, in order of vpn. */
typedef void pw_mapping_visit(void *context, pw_vpn vpn, pw_pfn frame, enum pw_page_order order);
void pw_page_table_each(const struct pw_page_table *t, pw_mapping_visit *visit, void *context);

/* What follows is visible only so that the lookup can be inline. */

/* What a 2 MiB region holds. Coalesced: pages of 4 KiB, and the large bit is set. */
enum pw_table_kind { PW_TABLE_EMPTY, PW_TABLE_4K, PW_TABLE_64K, PW_TABLE_2M, PW_TABLE_COALESCED, PW_TABLE_KIND_COUNT };

/* A level-4 table: the frame word + 1 of each page (sim/types.h), 0 where none is mapped; behind those of 4 KiB pages
 * their disabled bits. */
struct pw_table_leaf {
    struct pw_table_leaf *next_spare;
    pw_paddr place;
    uint32_t present;
    uint32_t frames[];
};

/* A level-3 entry. */
struct pw_table_region {
    struct pw_table_leaf *leaf; /* of 4 KiB and 64 KiB pages, else NULL */
    pw_pfn frame;               /* word of a 2 MiB page, coalesced or not */
    uint8_t kind;
};

struct pw_table_node {
    struct pw_table_region regions[PW_TABLE_ENTRIES];
    pw_paddr place;
};

/* Where the next node goes; nodes of one size are carved from chunks of frames. */
struct pw_table_arena {
    uint64_t next, outer;
    uint32_t node_bytes;
};

struct pw_table_chunk {
    pw_pfn frame;
    uint8_t order;
    pw_pfn *copies; /* on other GPUs, or NULL */
};

enum { PW_ARENA_NODES, PW_ARENA_BIG_LEAVES, PW_ARENA_COUNT };

struct pw_page_table {
    struct pw_table_node **directory; /* of level-3 nodes, by the upper 18 bits of the page number */
    uint64_t mapped_pages, node_bytes;
    uint64_t changes; /* of what a page that was mapped is mapped to, */
    uint64_t losses;  /* and those among them that took a valid translation away: all but coalescing in place */
    struct pw_page_table_config config;
    struct pw_table_arena arenas[PW_ARENA_COUNT];
    struct pw_table_leaf *spare[PW_TABLE_KIND_COUNT]; /* leaves that lost their region, by kind */
    struct pw_table_chunk *chunks;
    size_t chunk_count, chunk_capacity;
    pw_paddr root;
    pw_paddr level2[PW_TABLE_ENTRIES]; /* UINT64_MAX where there is no node */
};

/* The frame word of a page + 1, or 0; the size of its mapping. */
static inline uint32_t pw_table_region_word(const struct pw_table_region *region, pw_vpn vpn, uint8_t *out_order)
{
    uint32_t word;
    switch ((enum pw_table_kind)region->kind) {
    case PW_TABLE_4K:
        *out_order = PW_PAGE_4K;
        return region->leaf->frames[vpn.v & 511];
    case PW_TABLE_64K:
        *out_order = PW_PAGE_64K;
        word = region->leaf->frames[vpn.v >> 4 & 31];
        return word ? word + (uint32_t)(vpn.v & 15) : 0;
    case PW_TABLE_2M:
    case PW_TABLE_COALESCED:
        *out_order = PW_PAGE_2M;
        return region->frame.v + (uint32_t)(vpn.v & 511) + 1;
    default:
        return 0;
    }
}

static inline struct pw_translation pw_table_region_lookup(const struct pw_table_region *region, pw_vpn vpn)
{
    uint8_t order = 0;
    uint32_t word = pw_table_region_word(region, vpn, &order);
    if (!word)
        return (struct pw_translation){.present = false};
    pw_pfn entry = {word - 1};
    return (struct pw_translation){pw_frame_of(entry), order, true, pw_denied_of(entry)};
}

/* The region around vpn, or NULL where there is no level-3 node. */
static inline struct pw_table_region *pw_table_region_at(const struct pw_page_table *t, pw_vpn vpn)
{
    struct pw_table_node *node =
        __builtin_expect(vpn.v >> PW_TABLE_VPN_BITS != 0, 0) ? NULL : t->directory[vpn.v >> 18];
    return __builtin_expect(node != NULL, 1) ? &node->regions[vpn.v >> 9 & 511] : NULL;
}

static inline struct pw_translation pw_page_table_lookup(const struct pw_page_table *t, pw_vpn vpn)
{
    const struct pw_table_region *region = pw_table_region_at(t, vpn);
    return region ? pw_table_region_lookup(region, vpn) : (struct pw_translation){.present = false};
}

/* Whether the page is mapped with this frame word. */
static inline bool pw_page_table_has_word(const struct pw_page_table *t, pw_vpn vpn, pw_pfn word)
{
    uint8_t order;
    const struct pw_table_region *region = pw_table_region_at(t, vpn);
    uint32_t found = region ? pw_table_region_word(region, vpn, &order) : 0;
    return found && found - 1 == word.v;
}

#endif
