/* The machine of a recording: the one that its programs run on unless another is asked for.
 *
 * A trace that was recorded on a GPU has its name ("NVIDIA H200"). Machines list in `devices` the cards that they
 * model, and in `nearest_to` those that no machine models and they come closest to: patterns separated by commas. A
 * pattern is words that follow one another in the name, whatever their case; a '*' at its end lets its last word go on,
 * and "*" alone is every card. Of several patterns of a kind that match, the longest counts. Names fall apart at
 * everything that is neither letter nor digit: "A100" is in "NVIDIA A100-SXM4-40GB". */
#ifndef PW_SYSTEM_RECORDED_MACHINE_H
#define PW_SYSTEM_RECORDED_MACHINE_H

#include "system/catalog.h"

#include "pagewalk/pagewalk.h"

/* The embedded machine of a device. *out_nearest: no machine models it, and this one comes closest. */
enum pw_status pw_recorded_find(const char *device, const struct pw_catalog_file **out, bool *out_nearest,
                                struct pw_error *err);

/* Both NULL where no program was recorded on a device. */
struct pw_recorded_choice {
    const char *machine, *design;
};

/* What runs of these workloads take by default; of several recordings the first decides. `visit` gets a line where the
 * device has no machine of its own, where the machines that are asked for (perhaps none) are others, and where
 * recordings disagree. Mistakes in a workload or a machine are left to the run. */
enum pw_status pw_recorded_choose(const char *const *workloads, size_t workload_count, const char *const *machines,
                                  size_t machine_count, pw_notice_visit *visit, void *context,
                                  struct pw_recorded_choice *out, struct pw_error *err);

#endif
