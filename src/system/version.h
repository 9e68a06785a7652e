/* Which sources a run depends on: the mechanisms, the policies that its options choose, the programs that it runs.
 *
 * scripts/core-version takes a digest of each of them. A stored run is that of another program too as long as those it
 * depends on are the same there, whatever else was changed. */
#ifndef PW_SYSTEM_VERSION_H
#define PW_SYSTEM_VERSION_H

#include "sim/status.h"

/* A digest of what every run depends on. */
const char *pw_mechanisms_version(void);

/* The version of a run, "MECHANISMS/PARTS", 12 and 16 hexadecimal digits: the mechanisms' digest, and one of the
 * policies and programs. `options` are those of pw_run_options, `workload` that of pw_run_workload. */
enum { PW_RUN_VERSION_CAPACITY = 32 };
enum pw_status pw_run_version(const char *options, const char *workload, char out[PW_RUN_VERSION_CAPACITY],
                              struct pw_error *err);

#endif
