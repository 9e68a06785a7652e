/* The whole configuration of a run: every module's struct, and the groups of options over them. */
#ifndef PW_SYSTEM_CONFIG_H
#define PW_SYSTEM_CONFIG_H

#include "gpu/gpu.h"
#include "system/catalog.h"
#include "system/paging.h"
#include "system/place.h"
#include "vm/address_space.h"
#include "vm/page_manager.h"

struct pw_sim_config {
    uint32_t progress_limit; /* cycles without an instruction after which a run is given up */
    uint32_t snapshots;      /* cycles between two of the L2 TLB; 0: there are none */
    bool reuse;              /* look at page accesses */
};

/* Whether programs that start together get their memory one page of each in turn, or one program after the other. */
enum pw_backing { PW_BACKING_IN_TURN, PW_BACKING_ONE_BY_ONE };

/* What a program that starts over finds: the pages of its last run, or an empty address space. */
enum pw_restart { PW_RESTART_KEEP, PW_RESTART_FRESH };

struct pw_apps_config {
    char sms[PW_OPTION_TEXT_CAPACITY]; /* "even", or a number for each application, separated by '+' */
    uint32_t backing;                  /* enum pw_backing */
    uint32_t restart;                  /* enum pw_restart */
};

enum { PW_MAX_GPUS = 64 };

struct pw_config {
    uint32_t gpus; /* nodes of the system, all alike */
    struct pw_sim_config sim;
    struct pw_apps_config apps;
    struct pw_gpu_config gpu;
    struct pw_page_config page;
    struct pw_coalesce_config coalesce;
    struct pw_compact_config compact;
    struct pw_paging_config paging;
    struct pw_uvm_config uvm;
    struct pw_link_config link;
    struct pw_fabric_config fabric; /* and the rest of a system with an IOMMU or several GPUs */
    struct pw_iommu_config iommu;
    struct pw_place_config place;
    char machine_note[PW_DESCRIPTION_CAPACITY]; /* what one should know of the machine, for the result */
};

extern const struct pw_option_group pw_config_groups[];

/* Options over a configuration, with all defaults set. */
enum pw_status pw_config_create(struct pw_config *config, struct pw_options **out, struct pw_error *err);

/* Resolves what depends on other options and checks combinations. Call after the last option has been set. */
enum pw_status pw_config_finish(struct pw_config *config, struct pw_options *options, struct pw_error *err);

/* Frames of several GPUs are numbered from gpu << this on (vm/physical_memory.h). */
unsigned pw_config_frame_shift(const struct pw_config *config);

/* What pw_config_finish leaves to the units, said in the names of the options. */
enum pw_status pw_config_check(const struct pw_config *config, struct pw_error *err);

#endif
