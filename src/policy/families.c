/* The tables of policies, one for each family, from the lines of its .def file.
 *
 * A new policy needs nothing here. A new family is a folder with a header and a .def file, and a paragraph below. */
#include "policy/families.h"

#include "policy/coalesce/coalesce_policy.h"
#include "policy/compact/compact_policy.h"
#include "policy/dram/dram_policy.h"
#include "policy/evict/evict_policy.h"
#include "policy/fill/fill_policy.h"
#include "policy/frame/frame_policy.h"
#include "policy/l2_walks/l2_walks_policy.h"
#include "policy/place/place_policy.h"
#include "policy/prefetch/prefetch_policy.h"
#include "policy/route/route_policy.h"
#include "policy/tlb/tlb_policy.h"
#include "policy/warp/warp_policy.h"

#define PW_POLICY(symbol) extern const struct pw_tlb_policy pw_tlb_policy_##symbol;
#include "policy/tlb/tlb.def"
#undef PW_POLICY
static const struct pw_policy *const tlb[] = {
#define PW_POLICY(symbol) &pw_tlb_policy_##symbol.head,
#include "policy/tlb/tlb.def"
#undef PW_POLICY
    NULL};
const struct pw_policy_family pw_tlb_family = {"tlb", "TLB organisation", tlb};

#define PW_POLICY(symbol) extern const struct pw_warp_policy pw_warp_policy_##symbol;
#include "policy/warp/warp.def"
#undef PW_POLICY
static const struct pw_policy *const warp[] = {
#define PW_POLICY(symbol) &pw_warp_policy_##symbol.head,
#include "policy/warp/warp.def"
#undef PW_POLICY
    NULL};
const struct pw_policy_family pw_warp_family = {"warp", "warp schedule", warp};

#define PW_POLICY(symbol) extern const struct pw_fill_policy pw_fill_policy_##symbol;
#include "policy/fill/fill.def"
#undef PW_POLICY
static const struct pw_policy *const fill[] = {
#define PW_POLICY(symbol) &pw_fill_policy_##symbol.head,
#include "policy/fill/fill.def"
#undef PW_POLICY
    NULL};
const struct pw_policy_family pw_fill_family = {"fill", "TLB fill", fill};

#define PW_POLICY(symbol) extern const struct pw_frame_policy pw_frame_policy_##symbol;
#include "policy/frame/frame.def"
#undef PW_POLICY
static const struct pw_policy *const frame[] = {
#define PW_POLICY(symbol) &pw_frame_policy_##symbol.head,
#include "policy/frame/frame.def"
#undef PW_POLICY
    NULL};
const struct pw_policy_family pw_frame_family = {"frame", "frame allocation", frame};

#define PW_POLICY(symbol) extern const struct pw_coalesce_policy pw_coalesce_policy_##symbol;
#include "policy/coalesce/coalesce.def"
#undef PW_POLICY
static const struct pw_policy *const coalesce[] = {
#define PW_POLICY(symbol) &pw_coalesce_policy_##symbol.head,
#include "policy/coalesce/coalesce.def"
#undef PW_POLICY
    NULL};
const struct pw_policy_family pw_coalesce_family = {"coalesce", "page size", coalesce};

#define PW_POLICY(symbol) extern const struct pw_compact_policy pw_compact_policy_##symbol;
#include "policy/compact/compact.def"
#undef PW_POLICY
static const struct pw_policy *const compact[] = {
#define PW_POLICY(symbol) &pw_compact_policy_##symbol.head,
#include "policy/compact/compact.def"
#undef PW_POLICY
    NULL};
const struct pw_policy_family pw_compact_family = {"compact", "compaction", compact};

#define PW_POLICY(symbol) extern const struct pw_prefetch_policy pw_prefetch_policy_##symbol;
#include "policy/prefetch/prefetch.def"
#undef PW_POLICY
static const struct pw_policy *const prefetch[] = {
#define PW_POLICY(symbol) &pw_prefetch_policy_##symbol.head,
#include "policy/prefetch/prefetch.def"
#undef PW_POLICY
    NULL};
const struct pw_policy_family pw_prefetch_family = {"prefetch", "prefetch", prefetch};

#define PW_POLICY(symbol) extern const struct pw_evict_policy pw_evict_policy_##symbol;
#include "policy/evict/evict.def"
#undef PW_POLICY
static const struct pw_policy *const evict[] = {
#define PW_POLICY(symbol) &pw_evict_policy_##symbol.head,
#include "policy/evict/evict.def"
#undef PW_POLICY
    NULL};
const struct pw_policy_family pw_evict_family = {"evict", "eviction", evict};

#define PW_POLICY(symbol) extern const struct pw_dram_policy pw_dram_policy_##symbol;
#include "policy/dram/dram.def"
#undef PW_POLICY
static const struct pw_policy *const dram[] = {
#define PW_POLICY(symbol) &pw_dram_policy_##symbol.head,
#include "policy/dram/dram.def"
#undef PW_POLICY
    NULL};
const struct pw_policy_family pw_dram_family = {"dram", "DRAM schedule", dram};

#define PW_POLICY(symbol) extern const struct pw_l2_walks_policy pw_l2_walks_policy_##symbol;
#include "policy/l2_walks/l2_walks.def"
#undef PW_POLICY
static const struct pw_policy *const l2_walks[] = {
#define PW_POLICY(symbol) &pw_l2_walks_policy_##symbol.head,
#include "policy/l2_walks/l2_walks.def"
#undef PW_POLICY
    NULL};
const struct pw_policy_family pw_l2_walks_family = {"l2_walks", "L2 use by page walks", l2_walks};

#define PW_POLICY(symbol) extern const struct pw_route_policy pw_route_policy_##symbol;
#include "policy/route/route.def"
#undef PW_POLICY
static const struct pw_policy *const route[] = {
#define PW_POLICY(symbol) &pw_route_policy_##symbol.head,
#include "policy/route/route.def"
#undef PW_POLICY
    NULL};
const struct pw_policy_family pw_route_family = {"route", "translation route", route};

#define PW_POLICY(symbol) extern const struct pw_place_policy pw_place_policy_##symbol;
#include "policy/place/place.def"
#undef PW_POLICY
static const struct pw_policy *const place[] = {
#define PW_POLICY(symbol) &pw_place_policy_##symbol.head,
#include "policy/place/place.def"
#undef PW_POLICY
    NULL};
const struct pw_policy_family pw_place_family = {"place", "page placement", place};

const struct pw_policy_family *const pw_families[] = {&pw_warp_family,
                                                      &pw_tlb_family,
                                                      &pw_fill_family,
                                                      &pw_frame_family,
                                                      &pw_coalesce_family,
                                                      &pw_compact_family,
                                                      &pw_prefetch_family,
                                                      &pw_evict_family,
                                                      &pw_l2_walks_family,
                                                      &pw_dram_family,
                                                      &pw_route_family,
                                                      &pw_place_family,
                                                      NULL};
