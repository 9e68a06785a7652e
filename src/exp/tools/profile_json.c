/* A workload's profile as one JSON object. Averages per instruction are left to the reader: they follow from the
 * counts, which are exact. */
#include "exp/tools/profile.h"

#include <stdio.h>
#include <string.h>

static const char *between(size_t index)
{
    return index ? ",\n    " : "\n    ";
}

static void add_string(struct pw_text *out, const char *name, const char *value)
{
    pw_text_print(out, "\"%s\": ", name);
    pw_text_json_string(out, value);
}

void pw_profile_json_words(const char *words, struct pw_text *out)
{
    char word[128];
    const char *separator = "[";
    for (size_t length; words += strspn(words, " "), (length = strcspn(words, " ")) > 0; words += length) {
        snprintf(word, sizeof word, "%.*s", (int)length, words);
        pw_text_add(out, separator);
        pw_text_json_string(out, word);
        separator = ", ";
    }
    pw_text_add(out, separator[0] == '[' ? "[]" : "]");
}

void pw_profile_json_parameter(const struct pw_workload_parameter *parameter, struct pw_text *out)
{
    pw_text_add(out, "{");
    add_string(out, "name", parameter->name);
    pw_text_add(out, ", ");
    add_string(out, "value", parameter->value);
    pw_text_add(out, ", ");
    add_string(out, "default", parameter->fallback);
    pw_text_add(out, ", ");
    add_string(out, "range", parameter->range);
    pw_text_add(out, ", ");
    add_string(out, "unit", parameter->unit);
    pw_text_add(out, ", ");
    add_string(out, "summary", parameter->summary);
    pw_text_add(out, "}");
}

static void add_count(struct pw_text *out, const char *name, uint64_t value)
{
    pw_text_print(out, "  \"%s\": %llu,\n", name, (unsigned long long)value);
}

static void add_parameters(const struct pw_profile *p, struct pw_text *out)
{
    pw_text_add(out, "  \"parameters\": [");
    for (size_t i = 0; i < p->parameter_count; i++) {
        pw_text_print(out, "%s", between(i));
        pw_profile_json_parameter(&p->parameters[i], out);
    }
    pw_text_add(out, "\n  ],\n  \"sizes\": {");
    for (size_t i = 0; i < p->size_count; i++) {
        pw_text_add(out, between(i));
        add_string(out, p->sizes[i].name, p->sizes[i].parameters);
    }
    pw_text_add(out, p->size_count ? "\n  },\n" : "},\n");
}

void pw_profile_json_uses(const struct pw_profile_allocation *a, struct pw_text *out)
{
    add_string(out, "memory", a->memory);
    pw_text_print(out, ", \"order\": %u, \"members\": %u, \"recorded_bytes\": %llu, \"written\": %s", a->order,
                  a->members, (unsigned long long)a->recorded_bytes, a->written ? "true" : "false");
    pw_text_print(out, ", \"launches\": %llu", (unsigned long long)a->launches);
    if (a->launches)
        pw_text_print(out, ", \"first_launch\": %llu, \"last_launch\": %llu", (unsigned long long)a->first_launch,
                      (unsigned long long)a->last_launch);
    pw_text_add(out, ", \"kernels\": [");
    for (size_t k = 0; k < a->kernel_count; k++) {
        pw_text_add(out, k ? ", {" : "{");
        add_string(out, "name", a->kernels[k].kernel);
        pw_text_print(out, ", \"launches\": %llu, \"accesses\": %llu}", (unsigned long long)a->kernels[k].launches,
                      (unsigned long long)a->kernels[k].accesses);
    }
    pw_text_add(out, "]");
}

static void add_allocations(const struct pw_profile *p, struct pw_text *out)
{
    pw_text_add(out, "  \"allocations\": [");
    for (size_t i = 0; i < p->allocation_count; i++) {
        const struct pw_profile_allocation *a = &p->allocations[i];
        pw_text_print(out, "%s{", between(i));
        add_string(out, "name", a->name);
        pw_text_print(out, ", \"bytes\": %llu, \"pages_touched\": %llu, \"launches_before\": %llu, ",
                      (unsigned long long)a->bytes, (unsigned long long)a->pages_touched,
                      (unsigned long long)a->launches_before);
        if (a->launches_until_free == UINT64_MAX)
            pw_text_add(out, "\"launches_until_free\": null, ");
        else
            pw_text_print(out, "\"launches_until_free\": %llu, ", (unsigned long long)a->launches_until_free);
        pw_profile_json_uses(a, out);
        pw_text_add(out, "}");
    }
    pw_text_add(out, p->allocation_count ? "\n  ],\n" : "],\n");
}

static void add_launches(const struct pw_profile *p, struct pw_text *out)
{
    pw_text_add(out, "  \"launches\": [");
    for (size_t i = 0; i < p->launch_count; i++) {
        const struct pw_profile_launch *l = &p->launches[i];
        pw_text_print(out, "%s{", between(i));
        add_string(out, "name", l->name);
        pw_text_print(out,
                      ", \"count\": %llu, \"grid\": [%u, %u, %u], \"block\": [%u, %u, %u], \"shared_bytes\": %u, "
                      "\"warp_instructions\": %llu, \"memory_instructions\": %llu}",
                      (unsigned long long)l->count, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1],
                      l->block[2], l->shared_bytes, (unsigned long long)l->warp_instructions,
                      (unsigned long long)l->memory_instructions);
    }
    pw_text_add(out, p->launch_count ? "\n  ],\n" : "],\n");
}

/* Each bucket with its half-open range of distances; those behind the last that is not empty are left out. */
static void add_reuse(const struct pw_profile *p, struct pw_text *out)
{
    size_t count = PW_REUSE_BUCKETS;
    while (count && !p->reuse[count - 1])
        count--;
    pw_text_add(out, "  \"reuse_distance\": [");
    for (size_t i = 0; i < count; i++)
        pw_text_print(out, "%s{\"first\": %llu, \"outer\": %llu, \"touches\": %llu}", between(i),
                      i ? 1ULL << (i - 1) : 0ULL, 1ULL << i, (unsigned long long)p->reuse[i]);
    pw_text_add(out, count ? "\n  ],\n" : "],\n");
}

static void add_slices(const struct pw_profile *p, struct pw_text *out)
{
    add_count(out, "slice_instructions", p->slice_instructions);
    pw_text_add(out, "  \"slices\": [");
    for (size_t i = 0; i < p->slice_count; i++)
        pw_text_print(out, "%s{\"pages\": %llu, \"new_pages\": %llu}", between(i),
                      (unsigned long long)p->slices[i].pages, (unsigned long long)p->slices[i].new_pages);
    pw_text_add(out, p->slice_count ? "\n  ]\n}\n" : "]\n}\n");
}

void pw_profile_json(const struct pw_profile *p, struct pw_text *out)
{
    static const char *const names[] = {"version", "workload", "name", "suite", "summary"};
    const char *const texts[] = {pw_version(), p->workload, p->name, p->suite, p->summary};
    pw_text_print(out, "{\n  \"schema\": %d,\n", PW_PROFILE_SCHEMA);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        pw_text_add(out, "  ");
        add_string(out, names[i], texts[i]);
        pw_text_add(out, ",\n");
    }
    pw_text_add(out, "  \"papers\": ");
    pw_profile_json_words(p->papers, out);
    pw_text_add(out, ",\n");
    add_count(out, "seed", p->seed);
    add_parameters(p, out);
    add_allocations(p, out);
    add_count(out, "allocated_bytes", p->allocated_bytes);
    add_count(out, "peak_bytes", p->peak_bytes);
    add_launches(p, out);
    add_count(out, "passes", p->passes);
    pw_text_add(out, "  ");
    add_string(out, "passes_parameter", p->passes_parameter);
    pw_text_add(out, ",\n");
    add_count(out, "kernel_launches", p->kernel_launches);
    add_count(out, "ctas", p->ctas);
    add_count(out, "warps", p->warps);
    add_count(out, "warp_instructions", p->warp_instructions);
    add_count(out, "memory_instructions", p->memory_instructions);
    add_count(out, "loads", p->loads);
    add_count(out, "stores", p->stores);
    add_count(out, "atomics", p->atomics);
    add_count(out, "lanes", p->lanes);
    add_count(out, "lines", p->lines);
    add_count(out, "pages", p->pages);
    add_count(out, "distinct_pages", p->distinct_pages);
    add_reuse(p, out);
    add_slices(p, out);
}
