/* Devices and machines: patterns of names, the recordings among the programs of a run, and what is said of them.
 *
 * The design is the one whose pages have the size that, to our understanding, cudaMalloc maps on NVIDIA's GPUs
 * (docs/machines.md). The emulator of capture/ is no device: its recordings run as those of built-in programs do. */
#include "system/recorded_machine.h"

#include "system/catalog_layers.h"
#include "system/inputs.h"
#include "trace/trace.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char recorded_design[] = "gpu-mmu-2m", emulated[] = "emulated";

static const char *next_word(const char *at, size_t *out_length)
{
    while (*at && !isalnum((unsigned char)*at))
        at++;
    *out_length = 0;
    while (isalnum((unsigned char)at[*out_length]))
        ++*out_length;
    return at;
}

/* Whether the words of `pattern` follow one another in `name`, the first of them being its first word. */
static bool begins_with(const char *name, const char *pattern, size_t pattern_length)
{
    const char *end = pattern + pattern_length;
    for (;;) {
        size_t wanted, there;
        pattern = next_word(pattern, &wanted);
        if (pattern >= end)
            return true;
        name = next_word(name, &there);
        bool may_go_on = pattern + wanted < end && pattern[wanted] == '*';
        if ((may_go_on ? there < wanted : there != wanted) || strncasecmp(name, pattern, wanted) != 0)
            return false;
        pattern += wanted;
        name += there;
    }
}

static bool matches(const char *name, const char *pattern, size_t pattern_length)
{
    size_t length;
    if (pattern_length == 1 && *pattern == '*')
        return true;
    for (name = next_word(name, &length); length; name = next_word(name + length, &length))
        if (begins_with(name, pattern, pattern_length))
            return true;
    return false;
}

/* The length of the longest pattern of a list that matches; 0: none does. */
static size_t longest_match(const char *device, const char *patterns)
{
    size_t longest = 0;
    for (const char *at = patterns; *at; at += *at == ',') {
        at += strspn(at, " ");
        size_t length = strcspn(at, ",");
        if (length > longest && matches(device, at, length))
            longest = length;
        at += length;
    }
    return longest;
}

enum pw_status pw_recorded_find(const char *device, const struct pw_catalog_file **out, bool *out_nearest,
                                struct pw_error *err)
{
    const struct pw_catalog_file *nearest = NULL;
    size_t longest = 0, longest_near = 0;
    *out = NULL;
    for (const struct pw_catalog_file *file = pw_machine_files; file->name; file++) {
        struct pw_catalog_description d;
        enum pw_status status = pw_catalog_describe(file, &d, err);
        if (status != PW_OK)
            return status;
        size_t exact = longest_match(device, d.devices), near = longest_match(device, d.nearest_to);
        if (exact > longest) {
            longest = exact;
            *out = file;
        }
        if (near > longest_near) {
            longest_near = near;
            nearest = file;
        }
    }
    *out_nearest = !*out;
    *out = *out ? *out : nearest;
    return PW_OK;
}

/* A recording among the programs, and the machine of its device. */
struct recording {
    char file[PW_OPTION_TEXT_CAPACITY], device[PW_DESCRIPTION_CAPACITY];
    const struct pw_catalog_file *machine; /* NULL: the program was not recorded on a device */
    bool nearest;
};

/* The file that a program replays; false: it replays none. */
static bool file_of(const struct pw_program *p, char *out, size_t capacity)
{
    struct pw_option_view view;
    for (size_t i = 0; strcmp(p->workload->name, "trace") == 0 && pw_program_parameter(p, i, &view); i++)
        if (strcmp(view.row->unit, "file") == 0) {
            snprintf(out, capacity, "%s", view.value);
            return true;
        }
    return false;
}

static enum pw_status look_at(const struct pw_program *p, struct recording *out, struct pw_error *err)
{
    struct pw_trace *t;
    struct pw_error ignored;
    *out = (struct recording){0};
    /* Opening reads a trace's index alone; what other tools have written is no such file, and names no device. */
    if (!file_of(p, out->file, sizeof out->file) || pw_trace_open(out->file, &t, &ignored) != PW_OK)
        return PW_OK;
    snprintf(out->device, sizeof out->device, "%s", pw_trace_get_origin(t)->device);
    pw_trace_close(t);
    if (!*out->device || strncmp(out->device, emulated, sizeof emulated - 1) == 0)
        return PW_OK;
    return pw_recorded_find(out->device, &out->machine, &out->nearest, err);
}

/* The embedded machine that a named one is, or that the user's own file is built on; NULL: neither. */
static const struct pw_catalog_file *embedded_behind(const struct pw_layers *l, unsigned index)
{
    while (index != PW_NO_BASE && !l->rows[index].embedded)
        index = l->rows[index].base;
    return index != PW_NO_BASE ? l->rows[index].embedded : NULL;
}

/* Whether one of the machines asked for is this one, or a change to it. */
static bool is_asked_for(const char *const *machines, size_t count, const struct pw_catalog_file *machine)
{
    bool found = false;
    for (size_t i = 0; i < count && !found; i++) {
        struct pw_layers *l;
        struct pw_error ignored;
        if (pw_layers_open(PW_CATALOG_MACHINES, machines[i], &l, &ignored) != PW_OK)
            return true; /* the run will say what is wrong with it */
        for (unsigned k = 0; k < l->named_count; k++)
            found |= embedded_behind(l, l->named[k]) == machine;
        pw_layers_release(l);
    }
    return found;
}

/* The receiver of messages, and what is known so far. */
struct search {
    const char *const *machines;
    size_t machine_count;
    pw_notice_visit *visit;
    void *context;
    struct recording first;
    bool disagree;
};

static void tell_of_first(const struct search *s)
{
    const struct recording *r = &s->first;
    char line[2048];
    if (!s->machine_count && r->nearest)
        snprintf(line, sizeof line, "%s was recorded on %s, which no machine models; it runs on %s, the nearest",
                 r->file, r->device, r->machine->name);
    else if (s->machine_count && !r->nearest && !is_asked_for(s->machines, s->machine_count, r->machine))
        snprintf(line, sizeof line, "%s was recorded on %s, which is machine %s; it runs on %s", r->file, r->device,
                 r->machine->name, s->machines[0]);
    else
        return;
    s->visit(s->context, line);
}

static void consider(struct search *s, const struct recording *r)
{
    char line[2048];
    if (!r->machine)
        return;
    if (!s->first.machine) {
        s->first = *r;
        tell_of_first(s);
    } else if (r->machine != s->first.machine && !s->machine_count && !s->disagree) {
        s->disagree = true;
        snprintf(line, sizeof line, "%s was recorded on %s; all run on %s, the machine of %s", r->file, r->device,
                 s->first.machine->name, s->first.file);
        s->visit(s->context, line);
    }
}

enum pw_status pw_recorded_choose(const char *const *workloads, size_t workload_count, const char *const *machines,
                                  size_t machine_count, pw_notice_visit *visit, void *context,
                                  struct pw_recorded_choice *out, struct pw_error *err)
{
    struct search search = {.machines = machines, .machine_count = machine_count, .visit = visit, .context = context};
    enum pw_status status = PW_OK;
    for (size_t i = 0; i < workload_count && status == PW_OK; i++) {
        struct pw_program programs[PW_MAX_APPS] = {0};
        struct pw_error ignored;
        unsigned count;
        bool parsed = pw_run_programs(workloads[i], programs, &count, &ignored) == PW_OK;
        for (unsigned k = 0; parsed && k < count && status == PW_OK; k++) {
            struct recording r;
            status = look_at(&programs[k], &r, err);
            consider(&search, &r);
        }
        for (unsigned k = 0; k < PW_MAX_APPS; k++)
            pw_program_release(&programs[k]);
    }
    const struct pw_catalog_file *machine = search.first.machine;
    *out = (struct pw_recorded_choice){machine ? machine->name : NULL, machine ? recorded_design : NULL};
    return status;
}
