/* A four-level page table in simulated memory, one per address space.
 *
 * 48-bit virtual addresses; 512 entries of 8 bytes in each of the levels 1 (root) to 4. A 4 KiB page is mapped by a
 * level-4 entry and walked in four reads; a 2 MiB page by a level-3 entry in three reads; 64 KiB pages by a level-4
 * table of 32 entries (as NVIDIA's big-page tables), in four reads. Every node has a real physical address, from the
 * frame allocator, so that its reads compete in the L2 and in DRAM. entry_stride spreads the entries out (DECISIONS:
 * the density of leaf tables decides how often walks hit the L2; dense, 8 bytes, is the default).
 *
 * For the simulator's own use a lookup costs two dependent loads: a flat index of leaf nodes covers the range of
 * virtual addresses in use. */
#ifndef PW_VM_PAGE_TABLE_H
#define PW_VM_PAGE_TABLE_H

#include "policy/frame/frame_policy.h"
#include "sim/status.h"
#include "sim/types.h"

enum { PW_TABLE_LEVELS = 4 };

struct pw_page_table;

struct pw_translation {
    pw_pfn frame;  /* of the 4 KiB page asked for */
    uint8_t order; /* enum pw_page_order of the mapping */
    bool present;
};

struct pw_page_table_config {
    pw_asid asid;
    uint32_t entry_stride; /* bytes, a power of two from 8 to 128 */
    struct pw_frames *frames;
    const struct pw_frame_policy *policy; /* where nodes are put */
    void *policy_state;
};

enum pw_status pw_page_table_create(const struct pw_page_table_config *config, struct pw_page_table **out,
                                    struct pw_error *err);
/* Gives all node frames back. Mapped frames belong to the caller. */
void pw_page_table_destroy(struct pw_page_table *t);

/* Maps a page of 2^order 4 KiB pages; vpn and frame aligned to it. Mapping over a present page, or two page sizes in
 * one 2 MiB region, is PW_FAILED; no memory for a node is PW_FAILED. */
enum pw_status pw_page_table_map(struct pw_page_table *t, pw_vpn vpn, pw_pfn frame, enum pw_page_order order,
                                 struct pw_error *err);
/* Removes the mapping that covers vpn and returns what it was (present = false when there was none). Nodes that become
 * empty are kept until the table is destroyed. */
struct pw_translation pw_page_table_unmap(struct pw_page_table *t, pw_vpn vpn);

struct pw_translation pw_page_table_lookup(const struct pw_page_table *t, pw_vpn vpn);

/* The physical addresses that a walk for vpn reads, root first; returns how many (1 to 4; it ends at the leaf, or at
 * the first entry that is not present). out_translation may be NULL. */
unsigned pw_page_table_walk(const struct pw_page_table *t, pw_vpn vpn, pw_paddr out_reads[PW_TABLE_LEVELS],
                            struct pw_translation *out_translation);

uint64_t pw_page_table_mapped_pages(const struct pw_page_table *t); /* in 4 KiB pages */
uint64_t pw_page_table_node_bytes(const struct pw_page_table *t);

/* Calls visit for every mapping, in order of vpn. */
typedef void pw_mapping_visit(void *context, pw_vpn vpn, pw_pfn frame, enum pw_page_order order);
void pw_page_table_each(const struct pw_page_table *t, pw_mapping_visit *visit, void *context);

#endif
