/* Paging: memory comes to the GPU mapped before it is accessed, moved before the kernel starts, or on demand. */
#ifndef PW_SYSTEM_PAGING_H
#define PW_SYSTEM_PAGING_H

#include "mem/link.h"
#include "sim/option.h"
#include "uvm/driver.h"

enum pw_paging_mode {
    PW_PAGING_FREE,    /* transfers take no time (Mosaic, Figures 3 and 4) */
    PW_PAGING_PRELOAD, /* all data is moved before the first kernel, and the transfer is paid (Mosaic, Figure 12) */
    PW_PAGING_DEMAND,  /* pages come when they are accessed */
};

struct pw_paging_config {
    uint32_t mode; /* enum pw_paging_mode */
};

extern const struct pw_option pw_paging_options[];

struct pw_system;
struct pw_app;

/* Makes the links of the nodes and the driver, unless paging is free. */
enum pw_status pw_paging_create(struct pw_system *s, struct pw_error *err);

/* Before the programs begin: finds what uvm.oversubscription is a share of, where that takes a first pass over them. */
enum pw_status pw_paging_measure(struct pw_system *s, struct pw_error *err);

/* Before an application's kernels start. Returns true when they may start now; else `then` is called when they may. */
bool pw_paging_before_launch(struct pw_app *a, pw_event_fn *then);

/* Sends for what explicit prefetches have asked for: not before the first launch, when it is known how much memory
 * there is. */
void pw_paging_send_wanted(struct pw_app *a);

#endif
