/* Values of options as text: what option.c and option_value.c share. */
#ifndef PW_SIM_OPTION_VALUE_H
#define PW_SIM_OPTION_VALUE_H

#include "sim/option.h"

/* pw_option_parse under the option's full name, for messages. The target is written only on PW_OK. */
enum pw_status pw_option_parse_as(const struct pw_option *row, const char *name, const char *text, uint32_t clock_mhz,
                                  void *target, struct pw_error *err);

/* Whether `text`, a value of a PW_OPTION_CYCLES row, is a time with a unit and so depends on the clock. */
bool pw_option_is_time(const char *text);

#endif
