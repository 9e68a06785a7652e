/* Physical memory with the policy that hands it out, shared by all address spaces.
 *
 * Part of it can be filled at the start with data that was there before any application (Mosaic, Section 6.4): of all
 * large frames the share page.fragmentation, drawn at random, has page.occupancy of its base pages, drawn at random,
 * taken by PW_OWNER_FRAGMENT. */
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
};

/* Memory without a free frame for pages of the size configured is a user error. `policies`: of the machine, or NULL. */
enum pw_status pw_physical_memory_init(struct pw_physical_memory *p, uint64_t bytes,
                                       const struct pw_page_config *config, uint64_t seed, struct pw_policies *policies,
                                       struct pw_error *err);
void pw_physical_memory_release(struct pw_physical_memory *p);
/* Called by those who map and unmap: brings up to date what the policy knows of large frames. */
void pw_physical_memory_note(struct pw_physical_memory *p);

#endif
