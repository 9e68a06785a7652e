/* Machines and designs as files, and the options that a run would have. */
#ifndef PW_EXP_SHOW_H
#define PW_EXP_SHOW_H

#include "exp/format/text.h"
#include "pagewalk/pagewalk.h"

/* The YAML of a machine (or designs, joined by '+'). A file that stands on its own comes as it is, comments and all;
 * what is put together from several is one file again, with the place that each value comes from beside it. */
enum pw_status pw_show_machine(const char *names, struct pw_text *out, struct pw_error *err);
enum pw_status pw_show_design(const char *names, struct pw_text *out, struct pw_error *err);

/* Every option with the value that a run of this specification would have, and who set it; the workload is not looked
 * at. */
enum pw_status pw_show_options(const struct pw_run_spec *spec, bool json, struct pw_text *out, struct pw_error *err);

#endif
