/* How the SMs of the GPU are given to the applications of a run.
 *
 * A workload's text may end in them: "3DS,HISTO@20+10". They become the option apps.sms, so a run is the same run, in
 * the store too, however they were given. An '@' begins them only where nothing but digits and '+' follow to the end:
 * the names of files, which are values of parameters, may hold one. */
#include "system/app_sms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pw_workload_text pw_workload_cut(const char *text)
{
    const char *at = strrchr(text, '@');
    bool given = at && !at[1 + strspn(at + 1, "0123456789+")];
    struct pw_workload_text out = {given ? (size_t)(at - text) : strlen(text), 1, given ? at + 1 : NULL};
    for (size_t i = 0; i < out.programs; i++)
        out.apps += text[i] == ',';
    return out;
}

/* Reads "20+10"; `what` is how the user gave it, for messages. */
static enum pw_status read_sms(const char *text, const char *what, unsigned apps, uint32_t limit, uint32_t *out,
                               struct pw_error *err)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < apps; i++) {
        char *end;
        unsigned long n = strtoul(text, &end, 10);
        if (end == text || *text < '0' || *text > '9' || *end != (i + 1 < apps ? '+' : 0))
            return pw_fail(err, PW_USER_ERROR,
                           "%s: there must be one number of SMs for each of %u application%s, such as %s", what, apps,
                           apps == 1 ? "" : "s", apps == 1 ? "10" : "20+10");
        if (!n)
            return pw_fail(err, PW_USER_ERROR, "%s: every application needs at least one SM", what);
        if (n > limit || (sum += n) > limit)
            return pw_fail(err, PW_USER_ERROR, "%s: more than the %u SMs of this machine (sm.count)", what, limit);
        out[i] = (uint32_t)n;
        text = end + 1;
    }
    return PW_OK;
}

enum pw_status pw_workload_sms(const char *text, uint32_t limit, char out[PW_APP_SMS_CAPACITY], struct pw_error *err)
{
    struct pw_workload_text cut = pw_workload_cut(text);
    uint32_t sms[PW_MAX_APPS];
    char what[128];
    *out = 0;
    if (!cut.sms)
        return PW_OK;
    if (!cut.programs)
        return pw_fail(err, PW_USER_ERROR, "workload '%.80s': a name is missing before the '@'", text);
    if (cut.apps > PW_MAX_APPS)
        return pw_fail(err, PW_USER_ERROR, "workload '%.60s': at most %d applications can share a GPU", text,
                       PW_MAX_APPS);
    snprintf(what, sizeof what, "workload '%s%.80s'", strlen(text) > 80 ? "…" : "",
             strlen(text) > 80 ? text + strlen(text) - 80 : text);
    enum pw_status status = read_sms(cut.sms, what, cut.apps, limit, sms, err);
    for (unsigned i = 0; status == PW_OK && i < cut.apps; i++)
        out += sprintf(out, "%s%u", i ? "+" : "", sms[i]);
    return status;
}

enum pw_status pw_workload_set_sms(const char *text, const struct pw_config *config, struct pw_options *options,
                                   struct pw_error *err)
{
    if (!text || !pw_workload_cut(text).sms)
        return PW_OK;
    char sms[PW_APP_SMS_CAPACITY];
    enum pw_status status = pw_workload_sms(text, config->gpu.sm.count, sms, err);
    if (status == PW_OK && !strcmp(pw_options_origin(options, "apps.sms"), "--set"))
        return pw_fail(err, PW_USER_ERROR,
                       "the workload gives the applications their SMs (@%s), and so does --set apps.sms=%s; leave one "
                       "of them out",
                       sms, config->apps.sms);
    return status == PW_OK ? pw_options_set(options, "apps.sms", sms, "-w", err) : status;
}

static enum pw_status divide_evenly(struct pw_gpu_config *gpu, unsigned apps, struct pw_error *err)
{
    if (apps > gpu->sm.count)
        return pw_fail(err, PW_USER_ERROR, "%u applications need at least as many SMs; sm.count is %u", apps,
                       gpu->sm.count);
    for (unsigned i = 0; i < apps; i++)
        gpu->app_sms[i] = gpu->sm.count / apps + (i < gpu->sm.count % apps);
    return PW_OK;
}

enum pw_status pw_config_divide_sms(struct pw_config *config, unsigned apps, struct pw_error *err)
{
    if (!strcmp(config->apps.sms, "even"))
        return divide_evenly(&config->gpu, apps, err);
    char what[sizeof config->apps.sms + sizeof "apps.sms = "];
    snprintf(what, sizeof what, "apps.sms = %s", config->apps.sms);
    return read_sms(config->apps.sms, what, apps, config->gpu.sm.count, config->gpu.app_sms, err);
}
