/* Reads the sizes and costs of programs and the lists of workloads. Every name has to be a program and every parameter
 * one of its own: a slip in this file would otherwise be found only by the figure that happens to use it. */
#include "exp/figure/sizes.h"

#include "sim/c_locale.h"
#include "sim/option.h"
#include "sim/yaml.h"
#include "workload/runtime/host.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECTION_COST = 2, SECTION_LENGTH, SECTION_AGAIN, SECTION_LISTS, SECTION_COUNT };
static const char *const sections[SECTION_COUNT + 1] = {"quick", "full", "cost", "length", "again", "lists"};

enum { PROGRAM_LIMIT = 256 };

static struct pw_program_size *find(const struct pw_sizes *s, const char *program)
{
    for (size_t i = 0; i < s->count; i++)
        if (!strcmp(s->programs[i].name, program))
            return &s->programs[i];
    return NULL;
}

static struct pw_program_size *find_or_add(struct pw_sizes *s, const char *program)
{
    struct pw_program_size *known = find(s, program);
    if (known)
        return known;
    struct pw_program_size *grown =
        s->count < PROGRAM_LIMIT ? realloc(s->programs, (s->count + 1) * sizeof *grown) : NULL;
    if (!grown)
        return NULL;
    s->programs = grown;
    char *name = strdup(program);
    if (!name)
        return NULL;
    grown[s->count] = (struct pw_program_size){.name = name};
    return &grown[s->count++];
}

/* Two times, quick and full. */
static enum pw_status read_times(const char *what, const char *program, const char *value, double out[2],
                                 struct pw_error *err)
{
    char *first_end, *end;
    out[PW_QUICK] = pw_c_strtod(value, &first_end);
    out[PW_FULL] = pw_c_strtod(first_end, &end);
    if (end == first_end || end[strspn(end, " ")] || !(out[PW_QUICK] > 0) || !(out[PW_FULL] > 0) ||
        !isfinite(out[PW_QUICK]) || !isfinite(out[PW_FULL]))
        return pw_fail(err, PW_USER_ERROR, "the %s of '%s' has to be two numbers above 0, quick and full", what,
                       program);
    return PW_OK;
}

static enum pw_status check_program(const char *name, const char *parameters, struct pw_error *err)
{
    char text[512];
    snprintf(text, sizeof text, "%s%s%s", name, *parameters ? ":" : "", parameters);
    struct pw_program program;
    enum pw_status status = pw_program_parse(text, &program, err);
    if (status == PW_OK)
        pw_program_release(&program);
    return status;
}

static enum pw_status replace(char **target, const char *value, struct pw_error *err)
{
    *target = strdup(value);
    return *target ? PW_OK : pw_fail_memory(err, "sizes of programs");
}

static enum pw_status add_list(struct pw_sizes *s, const char *name, const char *value, struct pw_error *err)
{
    struct pw_workload_list *grown = realloc(s->lists, (s->list_count + 1) * sizeof *grown);
    if (!grown)
        return pw_fail_memory(err, "lists of workloads");
    s->lists = grown;
    struct pw_workload_list *list = &grown[s->list_count++];
    *list = (struct pw_workload_list){strdup(name), strdup(value)};
    return list->name && list->workloads ? PW_OK : pw_fail_memory(err, "lists of workloads");
}

static enum pw_status visit(void *context, const char *key, const char *value, int line, struct pw_error *err)
{
    (void)line;
    struct pw_sizes *s = context;
    char section[256];
    snprintf(section, sizeof section, "%s", key);
    char *name = strchr(section, '.');
    unsigned which = 0;
    if (name)
        *name++ = '\0';
    while (which < SECTION_COUNT && strcmp(sections[which], section) != 0)
        which++;
    if (which == SECTION_COUNT || !name) {
        const char *near = pw_suggest(section, sections);
        return pw_fail(err, PW_USER_ERROR,
                       "'%s' is not one of quick.PROGRAM, full.PROGRAM, cost.PROGRAM, length.PROGRAM, again.PROGRAM, "
                       "lists.NAME%s%s",
                       key, near ? "; did you mean " : "", near ? near : "");
    }
    if (which == SECTION_LISTS)
        return add_list(s, name, value, err);
    bool is_size = which < SECTION_COST;
    if (is_size && !strcmp(name, "default"))
        return replace(&s->fallback[which], value, err);
    enum pw_status status = check_program(name, is_size ? value : "", err);
    struct pw_program_size *program = status == PW_OK ? find_or_add(s, name) : NULL;
    if (status != PW_OK || !program)
        return status != PW_OK ? status : pw_fail_memory(err, "sizes of programs");
    if (is_size)
        return replace(&program->parameters[which], value, err);
    double *const times[] = {[SECTION_COST] = program->seconds,
                             [SECTION_LENGTH] = program->milliseconds,
                             [SECTION_AGAIN] = program->again_milliseconds};
    return read_times(section, name, value, times[which], err);
}

enum pw_status pw_sizes_read(const char *text, size_t length, const char *file_name, struct pw_sizes *out,
                             struct pw_error *err)
{
    *out = (struct pw_sizes){0};
    enum pw_status status = pw_yaml_read_text(text, length, file_name, visit, out, err);
    if (status != PW_OK)
        pw_sizes_release(out);
    return status;
}

enum pw_status pw_sizes_load(struct pw_sizes *out, struct pw_error *err)
{
    return pw_sizes_read(pw_sizes_file.text, pw_sizes_file.length, pw_sizes_file.path, out, err);
}

void pw_sizes_release(struct pw_sizes *s)
{
    for (size_t i = 0; i < s->count; i++) {
        free(s->programs[i].name);
        free(s->programs[i].parameters[PW_QUICK]);
        free(s->programs[i].parameters[PW_FULL]);
    }
    free(s->programs);
    for (size_t i = 0; i < s->list_count; i++) {
        free(s->lists[i].name);
        free(s->lists[i].workloads);
    }
    free(s->lists);
    free(s->fallback[PW_QUICK]);
    free(s->fallback[PW_FULL]);
    *s = (struct pw_sizes){0};
}

const char *pw_sizes_list(const struct pw_sizes *s, const char *name)
{
    for (size_t i = 0; i < s->list_count; i++)
        if (strcmp(s->lists[i].name, name) == 0)
            return s->lists[i].workloads;
    return NULL;
}

const char *pw_sizes_parameters(const struct pw_sizes *s, const char *program, enum pw_scope scope)
{
    const struct pw_program_size *known = find(s, program);
    if (known && known->parameters[scope])
        return known->parameters[scope];
    return s->fallback[scope] ? s->fallback[scope] : "";
}

double pw_sizes_seconds(const struct pw_sizes *s, const char *program, enum pw_scope scope)
{
    const struct pw_program_size *known = find(s, program);
    return known && known->seconds[scope] > 0 ? known->seconds[scope] : 1;
}

double pw_sizes_milliseconds(const struct pw_sizes *s, const char *program, enum pw_scope scope)
{
    const struct pw_program_size *known = find(s, program);
    return known ? known->milliseconds[scope] : 0;
}

double pw_sizes_again_milliseconds(const struct pw_sizes *s, const char *program, enum pw_scope scope)
{
    const struct pw_program_size *known = find(s, program);
    return known && known->again_milliseconds[scope] > 0 ? known->again_milliseconds[scope]
                                                         : pw_sizes_milliseconds(s, program, scope);
}
