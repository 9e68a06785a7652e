/* Advice for programs: all points, all tries, and the sentences. */
#include "exp/format/result.h"
#include "exp/tools/advise_internal.h"
#include "exp/tools/profile.h"

#include <string.h>

static void json_real(struct pw_text *out, const char *member, double value)
{
    pw_text_print(out, ", \"%s\": ", member);
    pw_text_real(out, value);
}

static void json_point(const struct pw_advice *a, size_t design, const struct pw_advice_memory *memory,
                       const struct pw_advice_point *p, struct pw_text *out)
{
    pw_text_add(out, "{\"design\": ");
    pw_text_json_string(out, a->spec.designs[design]);
    if (memory) {
        pw_text_print(out, ", \"memory_bytes\": %llu", (unsigned long long)memory->bytes);
        json_real(out, "share", memory->share);
    } else {
        pw_text_add(out, ", \"memory_bytes\": null, \"share\": null");
    }
    if (!p->run) {
        pw_text_add(out, ", \"failure\": ");
        pw_text_json_string(out, p->failure ? p->failure : "interrupted");
        pw_text_add(out, "}");
        return;
    }
    pw_text_print(out, ", \"cycles\": %llu", (unsigned long long)p->cycles);
    json_real(out, "slowdown", p->slowdown);
    json_real(out, "far_faults", p->far_faults);
    json_real(out, "pages_in", p->pages_in);
    json_real(out, "pages_prefetched", p->prefetched);
    json_real(out, "prefetched_never_used", p->never_used);
    json_real(out, "pages_evicted", p->evicted);
    json_real(out, "pages_thrashed", p->thrashed);
    pw_text_add(out, ", \"allocations\": [");
    for (size_t i = 0; i < p->run->allocation_count; i++) {
        pw_text_add(out, i ? ", " : "");
        pw_allocation_json(&p->run->allocations[i], out);
    }
    pw_text_add(out, "]}");
}

static void json_need(const struct pw_advice *a, struct pw_text *out)
{
    pw_text_add(out, ",\n  \"full_speed_bytes\": {");
    for (size_t d = 0; d < a->spec.design_count; d++) {
        double need = pw_advice_need(a, d);
        pw_text_add(out, d ? ", " : "");
        pw_text_json_string(out, a->spec.designs[d]);
        if (need > 0)
            pw_text_print(out, ": %.0f", need);
        else
            pw_text_add(out, ": null");
    }
    pw_text_add(out, "}");
}

static void json_option(const struct pw_advice_trial *t, const struct pw_plan *p, struct pw_text *out)
{
    struct pw_text option = {0};
    pw_text_add(out, "\"advice\": ");
    pw_advice_plan(t, p, NULL, &option);
    pw_text_json_string(out, option.bytes ? option.bytes : "");
    out->failed |= option.failed;
    pw_text_free(&option);
}

/* A plan's members: what to call, the option that models it, and what came out. */
static void json_plan(const struct pw_advice_trial *t, const struct pw_plan *p, uint64_t cycles, const char *failure,
                      struct pw_text *out)
{
    json_option(t, p, out);
    if (!cycles) {
        pw_text_add(out, ", \"failure\": ");
        pw_text_json_string(out, failure ? failure : "interrupted");
        return;
    }
    pw_text_print(out, ", \"cycles\": %llu", (unsigned long long)cycles);
    if (t->search.baseline)
        json_real(out, "speedup", (double)t->search.baseline / (double)cycles);
}

static void json_stopped(const struct pw_advice_trial *t, const struct pw_try *one, struct pw_text *out)
{
    json_option(t, &one->plan, out);
    pw_text_print(out, ", \"cycles_more_than\": %llu", (unsigned long long)one->stopped);
}

/* What a try takes: "cycles_alone", or "cycles_alone_more_than" where it was stopped. */
static void json_try(const char *member, const struct pw_try *t, struct pw_text *out)
{
    if (t && t->cycles)
        pw_text_print(out, ", \"%s\": %llu", member, (unsigned long long)t->cycles);
    else if (t && t->stopped)
        pw_text_print(out, ", \"%s_more_than\": %llu", member, (unsigned long long)t->stopped);
}

static void json_call(const struct pw_advice *a, const struct pw_advice_trial *t, size_t allocation, unsigned kind,
                      struct pw_text *out)
{
    char name[PW_ADVICE_NAME_CAPACITY];
    const struct pw_advice_use use = pw_advice_use_of(a, t->allocations[allocation].name);
    struct pw_text call = {0};
    struct pw_plan without = t->search.best;
    const struct pw_try *alone = pw_search_alone(&t->search, allocation, kind);
    without.calls[allocation] &= (uint8_t)~kind;
    const struct pw_try *others = pw_search_find(&t->search, &without);
    pw_text_add(out, "{\"allocation\": ");
    pw_text_json_string(out, t->allocations[allocation].name);
    pw_text_add(out, ", \"call\": ");
    pw_advice_call(pw_advice_name(a, t->allocations[allocation].name, name), use.bytes, kind, &call);
    pw_text_json_string(out, call.bytes ? call.bytes : "");
    out->failed |= call.failed;
    pw_text_free(&call);
    json_try("cycles_alone", alone, out);
    if (alone && alone->cycles && t->search.baseline)
        json_real(out, "speedup_alone", (double)t->search.baseline / (double)alone->cycles);
    json_try("cycles_without", others, out);
    pw_text_add(out, "}");
}

static void json_memory(const struct pw_advice *a, size_t memory, struct pw_text *out)
{
    if (memory == a->memory_count)
        pw_text_add(out, "\"memory_bytes\": null");
    else
        pw_text_print(out, "\"memory_bytes\": %llu", (unsigned long long)a->memories[memory].bytes);
}

static void json_trial(const struct pw_advice *a, const struct pw_advice_trial *t, struct pw_text *out)
{
    const char *between = "";
    pw_text_add(out, "{");
    json_memory(a, t->memory, out);
    if (t->search.baseline)
        pw_text_print(out, ", \"cycles_without_calls\": %llu", (unsigned long long)t->search.baseline);
    else
        pw_text_add(out, ", \"cycles_without_calls\": null");
    pw_text_print(out, ", \"runs\": %zu, \"cut\": %s, ", t->search.try_count, t->search.cut ? "true" : "false");
    json_plan(t, &t->search.best, t->search.best_cycles, "none helps", out);
    pw_text_add(out, ", \"calls\": [");
    for (size_t i = 0; i < t->search.allocation_count; i++)
        for (size_t k = 0; k < PW_CALL_KINDS; k++)
            if (t->search.best.calls[i] & pw_call_kinds[k]) {
                pw_text_add(out, between);
                json_call(a, t, i, pw_call_kinds[k], out);
                between = ", ";
            }
    pw_text_add(out, "],\n     \"tries\": [");
    for (size_t i = 0; i < t->search.try_count; i++) {
        const struct pw_try *one = &t->search.tries[i];
        pw_text_add(out, i ? ",\n      {" : "\n      {");
        if (one->stopped)
            json_stopped(t, one, out);
        else
            json_plan(t, &one->plan, one->cycles, one->failure, out);
        pw_text_add(out, "}");
    }
    pw_text_add(out, "]}");
}

/* Every try, and what was found; then the cycles with the calls that help at each size. */
static void json_calls(const struct pw_advice *a, struct pw_text *out)
{
    const char *between = "";
    pw_text_add(out, "\n  ],\n  \"trials\": [");
    for (size_t i = 0; i < a->trial_count; i++) {
        pw_text_add(out, i ? ",\n    " : "\n    ");
        json_trial(a, &a->trials[i], out);
    }
    pw_text_add(out, "\n  ],\n  \"with_calls\": [");
    for (size_t m = 0; a->with_calls && m <= a->memory_count; m++)
        if (a->with_calls[m]) {
            pw_text_print(out, "%s{", between);
            json_memory(a, m, out);
            pw_text_print(out, ", \"cycles\": %llu}", (unsigned long long)a->with_calls[m]);
            between = ", ";
        }
    pw_text_print(out, "],\n  \"interrupted\": %s", a->interrupted ? "true" : "false");
}

/* Allocations as the program makes them, in order, one application after another. */
static void json_uses(const struct pw_advice *a, struct pw_text *out)
{
    const char *between = "\n    ";
    char name[PW_ADVICE_NAME_CAPACITY];
    pw_text_add(out, ",\n  \"allocations\": [");
    for (size_t i = 0; i < a->profile_count; i++)
        for (size_t k = 0; k < a->profiles[i]->allocation_count; k++) {
            const struct pw_profile_allocation *p = &a->profiles[i]->allocations[k];
            pw_text_print(out, "%s{\"app\": %zu, \"name\": ", between, i);
            pw_text_json_string(out, p->name);
            pw_text_add(out, ", \"called\": ");
            pw_text_json_string(out, pw_advice_name(a, p->name, name));
            pw_text_print(out, ", \"bytes\": %llu, ", (unsigned long long)p->bytes);
            pw_profile_json_uses(p, out);
            pw_text_add(out, "}");
            between = ",\n    ";
        }
    pw_text_add(out, "\n  ]");
}

void pw_advice_json(const struct pw_advice *a, struct pw_text *out)
{
    pw_text_add(out, "{\n  \"schema\": 1,\n  \"workload\": ");
    pw_text_json_string(out, a->spec.workload);
    pw_text_add(out, ",\n  \"machine\": ");
    pw_text_json_string(out, a->spec.machine);
    pw_text_print(out, ",\n  \"seed\": %llu,\n  \"allocated_bytes\": %.0f,\n  \"touched_bytes\": %.0f",
                  (unsigned long long)a->spec.seed, a->allocated, a->touched);
    pw_text_print(out, ",\n  \"footprint_bytes\": %.0f,\n  \"working_set_bytes\": %.0f", a->footprint, a->working_set);
    json_need(a, out);
    pw_text_add(out, ",\n  \"points\": [");
    for (size_t d = 0; d < a->spec.design_count; d++) {
        pw_text_add(out, d ? ",\n    " : "\n    ");
        json_point(a, d, NULL, &a->references[d], out);
    }
    for (size_t m = 0; m < a->memory_count; m++)
        for (size_t d = 0; d < a->spec.design_count; d++) {
            pw_text_add(out, ",\n    ");
            json_point(a, d, &a->memories[m], pw_advice_at(a, m, d), out);
        }
    json_calls(a, out);
    json_uses(a, out);
    pw_text_add(out, ",\n  \"advice\": [");
    struct pw_text sentences = {0};
    pw_advice_lines(a, &sentences);
    char *rest = sentences.bytes;
    size_t listed = 0;
    for (const char *line; rest && (line = strsep(&rest, "\n"));) {
        line += strspn(line, " ");
        if (!*line)
            continue;
        pw_text_add(out, listed++ ? ",\n    " : "\n    ");
        pw_text_json_string(out, line);
    }
    out->failed |= sentences.failed;
    pw_text_free(&sentences);
    pw_text_add(out, "\n  ]\n}\n");
}
