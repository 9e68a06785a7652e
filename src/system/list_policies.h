/* Listings of policies, and of the options and metrics that exist only where one is chosen. */
#ifndef PW_SYSTEM_LIST_POLICIES_H
#define PW_SYSTEM_LIST_POLICIES_H

#include "pagewalk/pagewalk.h"
#include "sim/option.h"

void pw_list_policies(pw_list_visit *visit, void *context);
/* Of all policies that this option can choose. */
void pw_list_own_options(const char *option, const struct pw_option *row, pw_list_visit *visit, void *context);
void pw_list_own_metrics(pw_list_visit *visit, void *context);

/* Whether some policy has a metric of this name. */
bool pw_list_is_own_metric(const char *name);

#endif
