/* Any bytes as the text of a whole workload, "NAME:key=value,NAME@20+10": nothing may crash, a refusal is one line, and
 * what is accepted has as many SMs as applications, none without any, written in one way. */
#include "fuzz.h"
#include "message.h"
#include "system/app_sms.h"
#include "system/inputs.h"

#include <stdlib.h>
#include <string.h>

enum { LIMIT = 30 };

static void check_sms(const char *text, const char *sms)
{
    struct pw_workload_text cut = pw_workload_cut(text);
    unsigned count = 0, sum = 0;
    char again[PW_APP_SMS_CAPACITY];
    require(!!cut.sms == !!*sms);
    for (const char *at = sms; *at; count++) {
        char *end;
        unsigned long n = strtoul(at, &end, 10);
        require(end > at && *at != '0' && n <= LIMIT);
        sum += (unsigned)n;
        at = end + (*end == '+');
    }
    require(sum <= LIMIT && count == (*sms ? cut.apps : 0));
    char *canonical = malloc(cut.programs + strlen(sms) + 2);
    require(canonical);
    memcpy(canonical, text, cut.programs);
    canonical[cut.programs] = '@';
    strcpy(canonical + cut.programs + 1, sms);
    require(!*sms || (pw_workload_sms(canonical, LIMIT, again, NULL) == PW_OK && !strcmp(again, sms)));
    free(canonical);
}

static void check_programs(const char *text)
{
    struct pw_program programs[PW_MAX_APPS];
    struct pw_error err = {0};
    unsigned count;
    enum pw_status status = pw_run_programs(text, programs, &count, &err);
    if (status == PW_OK)
        require(count == pw_workload_cut(text).apps);
    else
        require_refusal(status, &err);
    for (unsigned i = 0; i < count; i++) {
        require(!pw_workload_cut(programs[i].text).sms);
        pw_program_release(&programs[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = strndup((const char *)data, size), sms[PW_APP_SMS_CAPACITY];
    struct pw_error err = {0};
    require(text);
    enum pw_status status = pw_workload_sms(text, LIMIT, sms, &err);
    if (status == PW_OK)
        check_sms(text, sms);
    else
        require_refusal(status, &err);
    check_programs(text);
    free(text);
    return 0;
}
