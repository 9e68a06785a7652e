/* Any bytes as a figure's file, and as an expression: nothing may crash, a refusal is one line that says where, and
 * what is accepted keeps to the limits and can be planned and evaluated without a single run. */
#include "exp/figure/evaluate.h"
#include "fuzz.h"
#include "sim/types.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_refusal(enum pw_status status, const struct pw_error *err, const char *place)
{
    require(status == PW_USER_ERROR && err->status == status);
    require(strlen(err->message) < sizeof(err->message) && !strpbrk(err->message, "\n\r\t\x1b"));
    require(!strncmp(err->message, place, strlen(place)) && strlen(err->message) > strlen(place) + 2);
}

/* Without runs nothing is known, so no claim can be decided. */
static void check_unknown(const struct pw_figure *f)
{
    struct pw_plan plan = {0};
    struct pw_error err = {0};
    struct pw_figure_outcome outcome;
    enum pw_status status = pw_plan_add(&plan, f, 1, &err);
    if (status != PW_OK) {
        check_refusal(status, &err, "fuzz: variant ");
        pw_plan_release(&plan);
        return;
    }
    struct pw_stored_run **runs = calloc(plan.job_count + 1, sizeof(struct pw_stored_run *));
    require(runs);
    status = pw_figure_evaluate(&plan.figures[0], runs, &outcome, &err);
    if (status == PW_OK) {
        require(outcome.runs_there == 0 && outcome.runs_needed == plan.job_count);
        for (size_t i = 0; i < f->claim_count; i++)
            require(outcome.claims[i].verdict == PW_NOT_RUN);
        pw_figure_outcome_release(&outcome);
    } else {
        check_refusal(status, &err, "in \"");
    }
    free(runs);
    pw_plan_release(&plan);
}

static void check_figure(const struct pw_figure *f)
{
    require(f->variant_count >= 1 && f->variant_count <= PW_FIGURE_MAX_VARIANTS);
    require(f->workload_count >= 1 && f->workload_count <= PW_FIGURE_MAX_WORKLOADS);
    require(f->group_count >= 1 && f->group_count <= PW_FIGURE_MAX_NAMES);
    require(f->measure_count >= 1 && f->measure_count <= PW_FIGURE_MAX_NAMES);
    for (size_t i = 0; i < f->workload_count; i++) {
        const struct pw_figure_workload *w = &f->workloads[i];
        unsigned apps = 1;
        for (const char *c = w->programs; *c; c++)
            apps += *c == ',';
        require(apps == w->app_count && apps <= PW_MAX_APPS && w->group < f->group_count);
    }
    for (size_t i = 0; i < f->column_count; i++)
        require(!pw_expression_is_number(f->columns[i].expression));
    for (size_t i = 0; i < f->claim_count; i++)
        require(f->claims[i].part_count == pw_claim_parts(f->claims[i].claim));
    check_unknown(f);
}

static void feed_file(const char *text, size_t size)
{
    for (enum pw_scope scope = PW_QUICK; scope <= PW_FULL; scope++) {
        struct pw_figure *f;
        struct pw_error err = {0};
        enum pw_status status = pw_figure_read(text, size, "fuzz.yaml", "fuzz", scope, &f, &err);
        if (status == PW_OK)
            check_figure(f);
        else
            check_refusal(status, &err, "fuzz.yaml:");
        pw_figure_free(f);
    }
}

static enum pw_status unknown(void *context, size_t measure, size_t variant, bool alone, int group,
                              struct pw_vector *out, struct pw_error *err)
{
    (void)context;
    (void)variant;
    (void)err;
    require(measure < 3 && group < 3);
    out->count = alone ? 2 : 1;
    out->items = calloc(2, sizeof *out->items);
    require(out->items);
    for (int i = 0; i < 2; i++) {
        out->items[i].app = alone ? i : -1;
        out->items[i].value = NAN;
    }
    return PW_OK;
}

static void feed_expression(const char *line)
{
    static const char *const measures[] = {"speed", "miss", "ws", NULL};
    static const char *const variants[] = {"4k", "2m", "ideal", "shared", NULL};
    static const char *const groups[] = {"1-app", "5-app", "pairs", NULL};
    static const struct pw_expression_names names = {.measures = measures, .variants = variants, .groups = groups};
    static const struct pw_expression_source source = {.reference = unknown};
    struct pw_expression *e;
    struct pw_vector v;
    struct pw_error err = {0};
    enum pw_status status = pw_expression_parse(line, &names, &e, &err);
    if (status != PW_OK) {
        check_refusal(status, &err, "");
        return;
    }
    require(pw_expression_evaluate(e, &source, &v, &err) == PW_OK);
    for (size_t i = 0; i < v.count; i++)
        require(isnan(v.items[i].value));
    pw_vector_free(&v);
    pw_expression_free(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    feed_file((const char *)data, size);
    char *copy = strndup((const char *)data, size), *rest = copy;
    require(copy);
    while (rest) {
        const char *line = strsep(&rest, "\n");
        const char *value = strchr(line, ':');
        feed_expression(value ? value + 1 : line);
    }
    free(copy);
    return 0;
}
