/* The effective options of runs, and how many SMs their applications have: what a plan asks src/system again and again.
 *
 * Reading a machine and a design takes far longer than all else that a plan does, and figures ask for the same few. So
 * an answer is worked out once and found again by what was asked. */
#ifndef PW_EXP_PLAN_OPTIONS_H
#define PW_EXP_PLAN_OPTIONS_H

#include "pagewalk/pagewalk.h"

/* Starts as {0}. */
struct pw_plan_options {
    void *texts;   /* of options, once each */
    void *answers; /* by question */
};
void pw_plan_options_release(struct pw_plan_options *o);

/* As pw_run_options; *out is kept by `o`, and the same text is the same pointer. */
enum pw_status pw_plan_options(struct pw_plan_options *o, const struct pw_run_spec *spec, const char **out,
                               struct pw_error *err);
/* As pw_run_sms. */
enum pw_status pw_plan_sms(struct pw_plan_options *o, const struct pw_run_spec *spec, unsigned apps, unsigned *out_sms,
                           struct pw_error *err);

/* The SMs that a workload gives, "20+10"; "": none. */
const char *pw_plan_given_sms(const char *workload);

#endif
