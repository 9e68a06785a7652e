/* Which application has how many SMs: an even split, the option apps.sms, or the end of the workload's text. */
#ifndef PW_SYSTEM_APP_SMS_H
#define PW_SYSTEM_APP_SMS_H

#include "system/config.h"

/* The two parts of a workload's text: "3DS,HISTO:scale=2" and "20+10" of "3DS,HISTO:scale=2@20+10". */
struct pw_workload_text {
    size_t programs; /* bytes of the first part */
    unsigned apps;   /* programs in it, by their commas */
    const char *sms; /* the second part, inside the text; NULL: it has none */
};
struct pw_workload_text pw_workload_cut(const char *text);

enum { PW_APP_SMS_CAPACITY = PW_MAX_APPS * sizeof "4294967295" };

/* The SMs that a workload's text gives, in canonical form ("20+10"; "" where it gives none): one number for each
 * application, none of them 0, and together no more than `limit`. */
enum pw_status pw_workload_sms(const char *text, uint32_t limit, char out[PW_APP_SMS_CAPACITY], struct pw_error *err);

/* Sets apps.sms to what the workload's text gives, if it gives any (NULL: there is no workload). It wins over machine
 * and design; beside a --set of the option it is a contradiction. Call after all other options have been set. */
enum pw_status pw_workload_set_sms(const char *text, const struct pw_config *config, struct pw_options *options,
                                   struct pw_error *err);

/* Divides the SMs among so many applications, as apps.sms says. */
enum pw_status pw_config_divide_sms(struct pw_config *config, unsigned apps, struct pw_error *err);

#endif
