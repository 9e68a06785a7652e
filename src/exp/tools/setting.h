/* "--set key=v1,v2,…": one option and the values that it takes in turn. */
#ifndef PW_EXP_SETTING_H
#define PW_EXP_SETTING_H

#include "sim/status.h"

#include <stdbool.h>
#include <stddef.h>

struct pw_setting {
    char *key;
    size_t value_count;
    char **values;
};

/* Reads one and checks each value by itself. Commas separate values, except in an option that is a text (uvm.advice,
 * link.points, apps.sms), which keeps them and has one value. Release it after a failure too. */
enum pw_status pw_setting_read(const char *text, struct pw_setting *out, struct pw_error *err);
/* Whether a setting has commas between values. */
bool pw_setting_has_several(const char *text);
void pw_setting_release(struct pw_setting *s);

#endif
