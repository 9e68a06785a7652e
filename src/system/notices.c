/* What a user is told about options that were set in vain, before anything runs.
 *
 * Everything that --set and the user's own design files set is looked at. A machine's own file describes hardware, used
 * or not: of it only what contradicts the machine's own choices is reported, such as the latency of a fixed walk where
 * walks read memory. Shipped files set much that most designs leave idle, and are not looked at. A value counts as set
 * even if it is the one that the option has anyway. */
#include "system/catalog.h"
#include "system/effect.h"
#include "system/inputs.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Who is told what of a run's options. */
struct report {
    const struct pw_run_spec *spec;
    const struct pw_options *options;
    unsigned apps;
    pw_notice_visit *visit;
    void *context;
};

static void tell(const struct report *r, const struct pw_effect_rule *broken, const char *who, const char *what)
{
    char reason[1024], message[2048];
    pw_effect_reason(broken, r->options, r->apps, reason, sizeof reason);
    snprintf(message, sizeof message, "%s %.300s has no effect because %s", who, what, reason);
    r->visit(r->context, message);
}

/* An option that is set again later counts there. */
static bool is_set_again(const struct pw_run_spec *spec, size_t index, size_t key_length)
{
    for (size_t i = index + 1; i < spec->set_count; i++)
        if (!strncmp(spec->sets[i], spec->sets[index], key_length + 1))
            return true;
    return false;
}

static void report_sets(const struct report *r)
{
    for (size_t i = 0; i < r->spec->set_count; i++) {
        const char *pair = r->spec->sets[i];
        size_t length = strcspn(pair, "=");
        char name[sizeof(((struct pw_option_view *)0)->name)];
        snprintf(name, sizeof name, "%.*s", (int)length, pair);
        const struct pw_effect_rule *broken = pw_effect_broken_rule(r->options, r->apps, name, false);
        if (broken && !is_set_again(r->spec, i, length))
            tell(r, broken, "--set", pair);
    }
}

/* Whether `origin`, "FILE:LINE", is in one of the files named in "NAME+FILE+…". Embedded files have other paths than
 * names. */
static bool is_in_file(const char *names, const char *origin)
{
    for (const char *at = names ? names : ""; *at; at += *at == '+') {
        size_t length = strcspn(at, "+");
        if (length && !strncmp(at, origin, length) && origin[length] == ':')
            return true;
        at += length;
    }
    return false;
}

static void report_files(const struct report *r)
{
    for (size_t i = 0; i < pw_options_count(r->options); i++) {
        struct pw_option_view view;
        char who[512], what[sizeof view.name + sizeof view.value + 1];
        pw_options_view(r->options, i, &view);
        bool in_machine = is_in_file(r->spec->machine, view.origin);
        if (!in_machine && !is_in_file(r->spec->design, view.origin))
            continue;
        const struct pw_effect_rule *broken = pw_effect_broken_rule(r->options, r->apps, view.name, in_machine);
        if (!broken)
            continue;
        snprintf(who, sizeof who, "%s:", view.origin);
        snprintf(what, sizeof what, "%s=%s", view.name, view.value);
        tell(r, broken, who, what);
    }
}

/* Whether one of the files named in "NAME+FILE+…" is the user's own. */
static bool names_a_file(const char *names)
{
    for (const char *at = names ? names : ""; *at; at += *at == '+') {
        char name[PATH_MAX];
        size_t length = strcspn(at, "+");
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        if (length >= sizeof name || pw_catalog_is_path(name))
            return true;
        at += length;
    }
    return false;
}

enum pw_status pw_run_notices(const struct pw_run_spec *spec, pw_notice_visit *visit, void *context,
                              struct pw_error *err)
{
    struct pw_config config;
    struct pw_options *options;
    struct pw_program programs[PW_MAX_APPS] = {0};
    char design[256];
    unsigned count = 1;
    if (!spec->set_count && !names_a_file(spec->machine) && !names_a_file(spec->design))
        return PW_OK; /* nothing is the user's own, and reading it all would be half of the way to a run */
    enum pw_status status = pw_run_configure(spec, &config, &options, design, sizeof design, err);
    if (status != PW_OK)
        return status;
    if (spec->workload)
        status = pw_run_programs(spec->workload, programs, &count, err);
    for (unsigned i = 0; i < PW_MAX_APPS; i++)
        pw_program_release(&programs[i]);
    const struct report r = {spec, options, count, visit, context};
    if (status == PW_OK) {
        report_sets(&r);
        report_files(&r);
    }
    pw_options_destroy(options);
    return status;
}
