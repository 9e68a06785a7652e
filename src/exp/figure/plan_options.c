/* The answers that a plan finds again (plan_options.h): a tree of questions, "MACHINE\nDESIGN\nOPTION=VALUE\n…@SMS". */
#include "exp/figure/plan_options.h"

#include "system/app_sms.h"
#include "system/inputs.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct answer {
    char *question;
    const char *options; /* one of the texts; NULL where the question was about SMs */
    unsigned sms[PW_MAX_APPS];
};

static int compare_texts(const void *a, const void *b)
{
    return strcmp(a, b);
}

static int compare_answers(const void *a, const void *b)
{
    return strcmp(((const struct answer *)a)->question, ((const struct answer *)b)->question);
}

const char *pw_plan_given_sms(const char *workload)
{
    const char *sms = workload ? pw_workload_cut(workload).sms : NULL;
    return sms ? sms : "";
}

/* `apps` is 0 where options are asked for. NULL: no memory. */
static char *question_of(const struct pw_run_spec *spec, unsigned apps)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return NULL;
    fprintf(out, "%u\n%s\n%s\n", apps, spec->machine, spec->design);
    for (size_t i = 0; i < spec->set_count; i++)
        fprintf(out, "%s\n", spec->sets[i]);
    fprintf(out, "@%s", pw_plan_given_sms(spec->workload));
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

static void free_answer(void *item)
{
    struct answer *a = item;
    free(a->question);
    free(a);
}

void pw_plan_options_release(struct pw_plan_options *o)
{
    tdestroy(o->answers, free_answer);
    tdestroy(o->texts, free);
    *o = (struct pw_plan_options){0};
}

/* The one text that says the same; takes `text`. NULL: no memory. */
static const char *keep_text(struct pw_plan_options *o, char *text)
{
    char **node = tsearch(text, &o->texts, compare_texts);
    if (!node || *node != text)
        free(text);
    return node ? *node : NULL;
}

static enum pw_status work_out(struct pw_plan_options *o, const struct pw_run_spec *spec, unsigned apps,
                               struct answer *out, struct pw_error *err)
{
    if (apps)
        return pw_run_sms(spec, apps, out->sms, err);
    char *text;
    enum pw_status status = pw_run_options(spec, &text, err);
    if (status == PW_OK && !(out->options = keep_text(o, text)))
        status = pw_fail_memory(err, "a plan of runs");
    return status;
}

/* The answer to a question, which is kept; what cannot run is not. */
static enum pw_status ask(struct pw_plan_options *o, const struct pw_run_spec *spec, unsigned apps,
                          const struct answer **out, struct pw_error *err)
{
    struct answer wanted = {.question = question_of(spec, apps)}, *kept = NULL;
    if (!wanted.question)
        return pw_fail_memory(err, "a plan of runs");
    struct answer **known = tfind(&wanted, &o->answers, compare_answers);
    enum pw_status status = PW_OK;
    if (!known) {
        kept = calloc(1, sizeof *kept);
        status = kept ? work_out(o, spec, apps, kept, err) : pw_fail_memory(err, "a plan of runs");
        if (status == PW_OK) {
            kept->question = wanted.question;
            known = tsearch(kept, &o->answers, compare_answers);
            status = known ? PW_OK : pw_fail_memory(err, "a plan of runs");
        }
    }
    if (status != PW_OK)
        free(kept);
    if (status != PW_OK || !kept)
        free(wanted.question);
    *out = status == PW_OK ? *known : NULL;
    return status;
}

enum pw_status pw_plan_options(struct pw_plan_options *o, const struct pw_run_spec *spec, const char **out,
                               struct pw_error *err)
{
    const struct answer *answer;
    enum pw_status status = ask(o, spec, 0, &answer, err);
    *out = status == PW_OK ? answer->options : NULL;
    return status;
}

enum pw_status pw_plan_sms(struct pw_plan_options *o, const struct pw_run_spec *spec, unsigned apps, unsigned *out_sms,
                           struct pw_error *err)
{
    const struct answer *answer;
    enum pw_status status = ask(o, spec, apps, &answer, err);
    if (status == PW_OK)
        memcpy(out_sms, answer->sms, apps * sizeof *out_sms);
    return status;
}
