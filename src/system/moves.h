/* Pages that move from one GPU to another while kernels run (place.remote; GMMU Bypass, Section 2.2).
 *
 * The host decides when a walk of its IOMMU has found the page on another GPU than the one that asks. Then
 * 1. invalidate: every GPU gets a message, drops the page from its TLBs and acknowledges;
 * 2. drain: accesses that are in flight, on any GPU, end;
 * 3. transfer: the page crosses the fabric;
 * and at one moment the page table changes, caches and TLBs forget the old frame, and whoever waited is answered. From
 * the beginning to that moment no GPU's own walkers find the page, so that all who ask for it wait at the IOMMU; those
 * of other GPUs are answered with its new place and access it there. An answer that was on its way to an SM when the
 * TLBs were emptied may still be used, and the drain waits for it, before the transfer or after.
 *
 * The GPU that a page is to move to may have no room: then it stays. Which page would have to leave for it is a
 * question for demand paging, which there is on one GPU only.
 *
 * Left out: what it costs the host to decide and to write page tables. */
#ifndef PW_SYSTEM_MOVES_H
#define PW_SYSTEM_MOVES_H

#include "sim/stats.h"
#include "vm/iommu.h"

struct pw_system;
struct pw_moves;

enum pw_status pw_moves_create(struct pw_system *s, struct pw_moves **out, struct pw_error *err);
void pw_moves_destroy(struct pw_moves *m);
void pw_moves_register(struct pw_moves *m, struct pw_stats *stats); /* move.pages .bytes … */

/* A walk of the IOMMU has ended. True: the request waits for its page. */
bool pw_moves_ask(void *moves, struct pw_iommu_request *r, pw_cycle now);

/* Whether the page is on its way. */
bool pw_moves_has(const struct pw_moves *m, pw_asid asid, pw_vpn vpn);

/* No access to this frame is in flight any more on one of the GPUs. */
void pw_moves_frame_idle(struct pw_moves *m, pw_pfn frame, pw_cycle now);

uint64_t pw_moves_pending(const struct pw_moves *m);

#endif
