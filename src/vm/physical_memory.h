/* The physical memory of a GPU with the policy that hands it out, shared by all address spaces.
 *
 * Part of it can be filled at the start with data that was there before any application (Mosaic, Section 6.4): of all
 * large frames the share page.fragmentation, drawn at random, has page.occupancy of its base pages, drawn at random,
 * taken by PW_OWNER_FRAGMENT.
 *
 * A system of several GPUs has one such memory for each. Frames are numbered over all of them: those of GPU i begin at
 * i << frame_shift, so that the number of a frame says whose it is. A memory's own bitmaps, and its policy, know only
 * numbers within it; whoever comes from a page table goes through the functions below. */
#ifndef PW_VM_PHYSICAL_MEMORY_H
#define PW_VM_PHYSICAL_MEMORY_H

#include "policy/frame/frame_policy.h"
#include "sim/policy_use.h"

struct pw_page_config {
    uint32_t size;                  /* index into 4KB, 64KB, 2MB */
    uint32_t entry_stride;          /* bytes between page-table entries */
    struct pw_policy_choice frames; /* of pw_frame_family */
    double fragmentation;           /* % of large frames with pre-fragmented data */
    double occupancy;               /* % of the base pages of such a frame that it takes */
};

extern const struct pw_option pw_page_options[];

enum pw_page_order pw_page_config_order(const struct pw_page_config *c);

struct pw_page_manager;

struct pw_physical_memory {
    struct pw_frames *frames;
    const struct pw_frame_policy *policy;
    void *policy_state;
    struct pw_policy_use policy_use;
    struct pw_random random;
    uint64_t fragment_pages;         /* of pre-fragmented data */
    uint64_t foreign_bytes;          /* theirs */
    uint64_t foreign_frame_bytes;    /* of large frames with such data, where the policy tells them apart; kept below */
    uint64_t usable;                 /* 4 KiB pages beside them, in runs of the page size configured */
    uint64_t violations;             /* of the soft guarantee */
    struct pw_page_manager *manager; /* whom to ask for room and to tell what is freed, or NULL */
    /* Of several GPUs: all their memories, this one among them, and where its frames begin. NULL: it is the only
     * one. */
    struct pw_physical_memory *const *all;
    unsigned count;
    uint32_t frame_shift;
    uint32_t first_frame;
};

/* Memory without a free frame for pages of the size configured is a user error. `policies`: of the machine, or NULL. */
enum pw_status pw_physical_memory_init(struct pw_physical_memory *p, uint64_t bytes,
                                       const struct pw_page_config *config, uint64_t seed, struct pw_policies *policies,
                                       struct pw_error *err);
void pw_physical_memory_release(struct pw_physical_memory *p);

/* The number of memories, and the one that a frame of device memory is in. */
static inline unsigned pw_physical_memories(const struct pw_physical_memory *p)
{
    return p->all ? p->count : 1;
}
static inline struct pw_physical_memory *pw_physical_memory_at(struct pw_physical_memory *p, unsigned gpu)
{
    return p->all ? p->all[gpu] : p;
}
static inline unsigned pw_frame_gpu(const struct pw_physical_memory *p, pw_pfn frame)
{
    return p->all ? frame.v >> p->frame_shift : 0;
}
/* Whether a frame is one of this memory. */
static inline bool pw_physical_memory_has(const struct pw_physical_memory *p, pw_pfn frame)
{
    return frame.v - p->first_frame < pw_frames_total(p->frames);
}
/* A frame of this memory as its policy knows it. */
static inline pw_pfn pw_frame_within(const struct pw_physical_memory *p, pw_pfn frame)
{
    return (pw_pfn){frame.v - p->first_frame};
}
/* Ask the policy for a frame, and give one back. */
static inline bool pw_physical_allocate(struct pw_physical_memory *p, const struct pw_frame_request *request,
                                        pw_pfn *out)
{
    if (!p->policy->allocate(p->policy_state, p->frames, request, out))
        return false;
    out->v += p->first_frame;
    return true;
}
static inline void pw_physical_give_back(struct pw_physical_memory *p, const struct pw_frame_request *request,
                                         pw_pfn frame)
{
    p->policy->release(p->policy_state, p->frames, request, pw_frame_within(p, frame));
}
static inline pw_owner pw_physical_owner(const struct pw_physical_memory *p, pw_pfn frame)
{
    return pw_frames_owner(p->frames, pw_frame_within(p, frame));
}

/* Called by those who map and unmap: brings up to date what the policy knows of large frames. */
void pw_physical_memory_note(struct pw_physical_memory *p);

#endif
