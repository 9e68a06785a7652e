/* The version of a run from what scripts/core-version has found in the sources (version.h). */
#include "system/version.h"

#include "pagewalk/pagewalk.h"
#include "sim/fnv.h"
#include "sim/policy.h"
#include "system/config.h"
#include "system/core_version.h"

#include <stdio.h>
#include <string.h>

struct part {
    const char *family, *name, *digest;
};

static const struct part policies[] = {
#define PART(family, name, digest) {family, name, digest},
    PW_POLICY_VERSIONS(PART)
#undef PART
};

static const struct part programs[] = {
#define PART(name, digest) {NULL, name, digest},
    PW_PROGRAM_VERSIONS(PART)
#undef PART
};

const char *pw_core_version(void)
{
    return PW_CORE_VERSION;
}

const char *pw_mechanisms_version(void)
{
    return PW_MECHANISMS_VERSION;
}

/* A piece of a text. */
struct piece {
    const char *at;
    size_t length;
};

static bool is(struct piece p, const char *text)
{
    return strncmp(p.at, text, p.length) == 0 && !text[p.length];
}

static const char *row_family(const struct pw_option *rows, struct piece name)
{
    for (; rows->name; rows++)
        if ((rows->type == PW_OPTION_POLICY || rows->type == PW_OPTION_POLICY_OR_SAME) && is(name, rows->name))
            return ((const struct pw_policy_family *)rows->choices)->name;
    return NULL;
}

/* The family that an option chooses from; NULL where it chooses no policy. */
static const char *option_family(struct piece option)
{
    for (const struct pw_option_group *g = pw_config_groups; g->prefix; g++) {
        size_t prefix = strlen(g->prefix);
        if (prefix >= option.length || strncmp(option.at, g->prefix, prefix) != 0 || option.at[prefix] != '.')
            continue;
        const char *family = row_family(g->rows, (struct piece){option.at + prefix + 1, option.length - prefix - 1});
        if (family)
            return family;
    }
    return NULL;
}

static enum pw_status add_part(const struct part *parts, size_t count, const char *family, struct piece name,
                               uint64_t *hash, struct pw_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (is(name, parts[i].name) && (!family || !strcmp(family, parts[i].family))) {
            *hash = pw_fnv_text(*hash, parts[i].digest);
            return PW_OK;
        }
    return pw_fail(err, PW_FAILED, "there is no version of the %s '%.*s'; build pagewalk anew",
                   family ? family : "workload", (int)name.length, name.at);
}

static enum pw_status add_policies(const char *options, uint64_t *hash, struct pw_error *err)
{
    enum pw_status status = PW_OK;
    for (const char *at = options; *at && status == PW_OK;) {
        struct piece option = {at, strcspn(at, "=")};
        const char *value = at + option.length + (at[option.length] == '=');
        struct piece chosen = {value, strcspn(value, "\n")};
        const char *family = option_family(option);
        if (family && !is(chosen, "same")) /* as the option it is the same as, which is among them */
            status = add_part(policies, sizeof policies / sizeof *policies, family, chosen, hash, err);
        at = value + chosen.length + (value[chosen.length] == '\n');
    }
    return status;
}

static enum pw_status add_programs(const char *workload, uint64_t *hash, struct pw_error *err)
{
    enum pw_status status = PW_OK;
    for (const char *at = workload; at && status == PW_OK;) {
        struct piece name = {at, strcspn(at, ":, ")};
        status = add_part(programs, sizeof programs / sizeof *programs, NULL, name, hash, err);
        const char *comma = strchr(at, ',');
        at = comma ? comma + 1 : NULL;
    }
    return status;
}

enum pw_status pw_run_version(const char *options, const char *workload, char out[PW_RUN_VERSION_CAPACITY],
                              struct pw_error *err)
{
    uint64_t hash = PW_FNV_START;
    out[0] = 0;
    enum pw_status status = add_policies(options, &hash, err);
    if (status == PW_OK)
        status = add_programs(workload, &hash, err);
    if (status == PW_OK)
        snprintf(out, PW_RUN_VERSION_CAPACITY, "%s/%016llx", PW_MECHANISMS_VERSION, (unsigned long long)hash);
    return status;
}
