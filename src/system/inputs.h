/* The inputs of a run, known before it: the effective options and the workload. */
#ifndef PW_SYSTEM_INPUTS_H
#define PW_SYSTEM_INPUTS_H

#include "system/config.h"

#include "pagewalk/pagewalk.h"

/* Options and configuration of a run; out_design (capacity bytes) gets the canonical names of its designs. On PW_OK
 * *out is the caller's to destroy. */
enum pw_status pw_run_configure(const struct pw_run_spec *spec, struct pw_config *config, struct pw_options **out,
                                char *out_design, size_t capacity, struct pw_error *err);

/* The effective options as "name=value\n" in table order; the caller's to free. Of the workload, which may be NULL,
 * only the SMs that it gives are looked at. */
enum pw_status pw_run_options(const struct pw_run_spec *spec, char **out, struct pw_error *err);

/* The settings "KEY=VALUE" of spec->sets that its machine and design take, for a design that may lack the options of a
 * policy which others have: those of every run, and those of the policies that are then chosen. The texts are the
 * caller's own; out_sets has room for spec->set_count of them. */
enum pw_status pw_run_takes(const struct pw_run_spec *spec, const char **out_sets, size_t *out_count,
                            struct pw_error *err);

/* Parses "A,B:k=v,…@SMS" into at most PW_MAX_APPS programs, the caller's to release (those before *out_count, after a
 * failure too). */
enum pw_status pw_run_programs(const char *text, struct pw_program *programs, unsigned *out_count,
                               struct pw_error *err);

/* The workload as it identifies a run beside its options: the text without SMs, and for each program that reads files a
 * digest of their bytes. The caller's to free. */
enum pw_status pw_run_workload(const char *workload, char **out, struct pw_error *err);

/* Builds what a run would simulate, and simulates nothing: finds mistakes that the options and the workload do not show
 * by themselves, such as a workload of two applications on one SM. */
enum pw_status pw_run_check(const struct pw_run_spec *spec, struct pw_error *err);

/* How many SMs each of `apps` applications would have. */
enum pw_status pw_run_sms(const struct pw_run_spec *spec, unsigned apps, unsigned *out_sms, struct pw_error *err);

#endif
