/* The family "frame allocation": where a page of an allocation is put.
 *
 * The mechanism asks for one run of frames per page, in the order in which the program's allocations name them; the
 * policy answers with a run it has taken from struct pw_frames. There is an instance for each physical memory. One
 * file per policy, one line in frame.def. */
#ifndef PW_POLICY_FRAME_H
#define PW_POLICY_FRAME_H

#include "page/frames.h"
#include "sim/policy.h"
#include "sim/random.h"

/* What an instance is made from. What is taken by then is pre-fragmented data (PW_OWNER_FRAGMENT). */
struct pw_frame_environment {
    struct pw_frames *frames;
    struct pw_random *random;
};

struct pw_frame_request {
    pw_owner owner;
    pw_vpn vpn; /* first 4 KiB page to be backed; undefined for page tables */
    enum pw_page_order order;
    /* The aligned 2 MiB around vpn belong to one allocation, from end to end; of a release: and still will, so that the
     * page may come back. */
    bool whole_region;
    bool last_resort; /* nothing else is left: any free frame will do */
};

/* What a policy that tells large frames (2 MiB blocks of memory) apart offers to those who coalesce and compact pages.
 * A block is named by its first frame. */
struct pw_frame_blocks {
    /* The base pages of this block now form a large page, or no longer do. While they do, its free frames are handed
     * out to nobody. */
    void (*coalesced)(void *state, struct pw_frames *frames, pw_pfn block, bool on);
    /* It is about to be emptied: nothing is allocated in it any more. Empty, it is free. */
    void (*evacuate)(void *state, struct pw_frames *frames, pw_pfn block);
    /* Ends an evacuation that could not be finished: what is free in it can be handed out again. */
    void (*restore)(void *state, struct pw_frames *frames, pw_pfn block);
    /* A coalesced block with free frames, kept for when memory is short. Forgotten when it is splintered or becomes
     * free. */
    void (*keep_for_emergency)(void *state, pw_pfn block);
    /* The oldest of those that this owner has, which stays kept; where it has none and no frame is free elsewhere, one
     * of another's. False: there is none. */
    bool (*emergency)(const void *state, pw_owner owner, pw_pfn *out_block);
    /* The block with the least pre-fragmented data, and nothing else, that the other fragmented blocks have room for;
     * false: none. */
    bool (*fragmented)(const void *state, const struct pw_frames *frames, pw_pfn *out_block);
    /* Base pages' worth of memory in the blocks assigned to an owner, free frames in them included, and its pages in
     * blocks of others. */
    uint64_t (*held)(const void *state, const struct pw_frames *frames, pw_owner owner);
    /* Base pages, page tables included, that were put into a block with another application's pages, so far. */
    uint64_t (*violations)(const void *state);
};

struct pw_frame_policy {
    struct pw_policy head;
    /* Takes a run for the request; false when there is none that it may have. With last_resort that means memory is
     * out, but for the free frames of coalesced blocks and of those that are being emptied. */
    bool (*allocate)(void *state, struct pw_frames *frames, const struct pw_frame_request *request, pw_pfn *out);
    /* Gives it back. */
    void (*release)(void *state, struct pw_frames *frames, const struct pw_frame_request *request, pw_pfn at);
    const struct pw_frame_blocks *blocks; /* NULL: the policy does not tell large frames apart, */
    bool asks_regions;                    /* but may want to know whole_region all the same, else false */
};

extern const struct pw_policy_family pw_frame_family;

static inline const struct pw_frame_policy *pw_frame_policy_of(const struct pw_policy *head)
{
    return (const struct pw_frame_policy *)head;
}

#endif
