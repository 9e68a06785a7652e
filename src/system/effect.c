/* The conditions under which options have an effect; effect.h says what for. */
#include "system/effect.h"

#include <stdio.h>
#include <string.h>

/* Not an option, but decided before a run as they are: how many programs share the GPU. */
static const char applications[] = "applications";

static const char never_misses[] = "such a TLB never misses";

/* What matters only where a TLB misses: where one of its arrays that are there is not ideal. The arguments after the
 * TLB are conditions under which it matters anyway. */
#define WHERE_IT_MISSES(options, tlb, ...)                                                                             \
    {options,                                                                                                          \
     {{tlb ".organisation", "!ideal"}, {tlb ".large_organisation", "!same|ideal"}, __VA_ARGS__},                       \
     never_misses,                                                                                                     \
     false},                                                                                                           \
        {options,                                                                                                      \
         {{tlb ".organisation", "!ideal"}, {"page.size", "2MB"}, {"coalesce.policy", "!none"}, __VA_ARGS__},           \
         never_misses,                                                                                                 \
         false},                                                                                                       \
    {                                                                                                                  \
        options,                                                                                                       \
            {{tlb ".organisation", "ideal"},                                                                           \
             {tlb ".large_organisation", "!ideal"},                                                                    \
             {"page.size", "!2MB"},                                                                                    \
             __VA_ARGS__},                                                                                             \
            never_misses, false                                                                                        \
    }

/* The two arrays of a TLB (vm/tlb.h): one that the page sizes of the run cannot fill is not there, and the size of one
 * that is ideal does not matter. The large array may take its size from the base array. */
#define ARRAYS_OF(tlb)                                                                                                 \
    {tlb ".base_subpages", {{tlb ".organisation", "!ideal"}}, NULL, false},                                            \
        {tlb ".base_subpages", {{"page.size", "!2MB"}}, NULL, false},                                                  \
        {tlb ".base_entries " tlb ".base_ways " tlb ".large_entries " tlb ".large_ways " tlb ".large_subpages " tlb    \
             ".large_as_base",                                                                                         \
         {{tlb ".organisation", "!ideal"}, {tlb ".large_organisation", "!same|ideal"}},                                \
         NULL,                                                                                                         \
         false},                                                                                                       \
        {tlb ".base_entries " tlb ".base_ways",                                                                        \
         {{tlb ".organisation", "!ideal"}, {"page.size", "2MB"}, {"coalesce.policy", "!none"}},                        \
         NULL,                                                                                                         \
         false},                                                                                                       \
        {tlb ".base_entries " tlb ".base_ways",                                                                        \
         {{tlb ".organisation", "!ideal"}, {tlb ".large_as_base", "on"}},                                              \
         NULL,                                                                                                         \
         false},                                                                                                       \
        {tlb ".base_entries " tlb ".base_ways",                                                                        \
         {{tlb ".large_organisation", "!ideal"}, {"page.size", "!2MB"}},                                               \
         NULL,                                                                                                         \
         false},                                                                                                       \
        {tlb ".base_entries " tlb ".base_ways", {{"page.size", "!2MB"}, {tlb ".large_as_base", "on"}}, NULL, false},   \
        {tlb ".organisation " tlb ".organisation.*",                                                                   \
         {{"page.size", "!2MB"}, {tlb ".large_organisation", "same"}},                                                 \
         NULL,                                                                                                         \
         false},                                                                                                       \
        {tlb ".large_*", {{"page.size", "2MB"}, {"coalesce.policy", "!none"}}, NULL, false},                           \
        {tlb ".large_entries " tlb ".large_ways " tlb ".large_subpages " tlb ".large_as_base",                         \
         {{tlb ".large_organisation", "!ideal"}},                                                                      \
         NULL,                                                                                                         \
         false},                                                                                                       \
    {                                                                                                                  \
        tlb ".large_entries " tlb ".large_ways", {{tlb ".large_as_base", "off"}}, NULL, false                          \
    }

/* What a compressed array makes of its options; the first argument is the option that chooses it. */
#define COMPRESSION_OF(chosen)                                                                                         \
    {chosen ".virtual_bits " chosen ".physical_bits " chosen ".ratio " chosen ".counter " chosen                       \
            ".consecutive " chosen ".sets_per_base " chosen ".search " chosen ".first_base",                           \
     {{chosen ".share", "!0"}},                                                                                        \
     NULL,                                                                                                             \
     false},                                                                                                           \
        {chosen ".consecutive " chosen ".search", {{chosen ".counter", "!0"}}, NULL, false},                           \
    {                                                                                                                  \
        chosen ".search", {{chosen ".share", "!100"}}, NULL, false                                                     \
    }

/* An option must satisfy every row that is about it; the first that fails is the reason given. */
const struct pw_effect_rule pw_effect_rules[] = {
    {"uvm.* link.*", {{"paging.mode", "!free"}}, "designs uvm-* page on demand", false},
    {"uvm.fault_latency", {{"uvm.service", "serial|parallel"}}, NULL, true},
    {"uvm.batch_* uvm.block_latency", {{"uvm.service", "batch"}}, NULL, true},
    {"uvm.oversubscription_of", {{"uvm.oversubscription", "!0"}}, NULL, false},
    {"uvm.reserve_from", {{"uvm.reserve", "!0"}}, NULL, false},
    {"link.points", {{"link.model", "table"}}, NULL, true},
    {"link.h2d_* link.d2h_*", {{"link.model", "linear"}}, NULL, true},
    {"link.remote_*", {{"uvm.advice", "!"}}, "only advice maps host memory", false},
    WHERE_IT_MISSES("l1_tlb.mshrs l1_tlb.on_miss l2_tlb.* fill.* walk.* pwc.* l2.walks l2.walks.* sim.snapshots",
                    "l1_tlb", {"paging.mode", "!free"}),
    {"l1_tlb.mshrs l1_tlb.on_miss sm.lsu_queue", {{"sm.serial", "off"}}, NULL, true},
    {"l2_tlb.organisation l2_tlb.organisation.* l2_tlb.base_* l2_tlb.large_* l2_tlb.latency l2_tlb.ports l2_tlb.flush "
     "fill.* sim.snapshots",
     {{"l2_tlb.enabled", "on"}},
     NULL,
     false},
    ARRAYS_OF("l1_tlb"),
    {"l1_tlb.organisation.ranges l1_tlb.organisation.walk l1_tlb.large_organisation.ranges "
     "l1_tlb.large_organisation.walk",
     {{0}},
     "only page walks find ranges, and they fill the L2 TLB",
     false},
    ARRAYS_OF("l2_tlb"),
    COMPRESSION_OF("l1_tlb.organisation"),
    COMPRESSION_OF("l1_tlb.large_organisation"),
    COMPRESSION_OF("l2_tlb.organisation"),
    COMPRESSION_OF("l2_tlb.large_organisation"),
    WHERE_IT_MISSES("sim.snapshots", "l2_tlb", {0}),
    WHERE_IT_MISSES("walk.* pwc.* l2.walks l2.walks.*", "l2_tlb", {"l2_tlb.enabled", "off"}, {"paging.mode", "!free"}),
    {"walk.latency", {{"walk.model", "fixed"}}, NULL, true},
    {"walk.distance pwc.* l2.walks l2.walks.*", {{"walk.model", "memory"}}, NULL, true},
    {"pwc.bytes pwc.ways pwc.latency pwc.ports pwc.line_bytes", {{"pwc.enabled", "on"}}, NULL, false},
    {"coalesce.interval", {{"coalesce.policy", "migrating"}}, NULL, false},
    {"compact.*", {{"page.frames", "contiguity"}}, NULL, false},
    {"compact.threshold compact.copy compact.bulk_latency", {{"compact.policy", "!none"}}, NULL, false},
    {"compact.threshold", {{0}}, "no program there is frees part of an allocation", false},
    {"compact.bulk_latency", {{"compact.copy", "bulk"}}, NULL, false},
    {"l2.occupied", {{"l2.copies", "on"}}, "only copies leave alone what is in the L2", false},
    {"place.* fabric.gpus_per_switch fabric.queues fabric.header_bytes", {{"gpu.count", "!1"}}, NULL, false},
    {"iommu.latency fabric.*",
     {{"gpu.count", "!1"}, {"route.policy", "centralized|bypass"}},
     "a single GPU's own walkers find all pages",
     false},
    {"fabric.topology", {{"gpu.count", "!1"}, {"fabric.host_gb_per_s", "!0"}}, NULL, false},
    {"route.t1 route.t2", {{"route.mode", "!off|on|both"}}, NULL, false},
    {"page.occupancy", {{"page.fragmentation", "!0"}}, NULL, false},
    {"l2.fetch_bytes", {{"l2.sectored", "on"}}, NULL, false},
    {"l2.halves", {{"l2.partition", "shared"}}, NULL, false},
    {"l2.far_latency", {{"l2.halves", "on"}}, NULL, true},
    {"apps.backing apps.restart l2.partition", {{applications, "!1"}}, NULL, false},
    {"apps.backing", {{"paging.mode", "free"}}, NULL, false},
    {"dram.epoch dram.within", {{applications, "!1"}}, NULL, false},
    {0}};

bool pw_effect_rule_is_about(const struct pw_effect_rule *rule, const char *option)
{
    for (const char *at = rule->options; *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        bool beginning = at[length - 1] == '*';
        if (beginning ? !strncmp(at, option, length - 1) : strlen(option) == length && !strncmp(at, option, length))
            return true;
        at += length;
    }
    return false;
}

static void value_of(const struct pw_options *o, unsigned apps, const char *key, char *out, size_t capacity)
{
    struct pw_option_view view;
    if (key == applications) {
        snprintf(out, capacity, "%u", apps);
        return;
    }
    pw_options_view(o, (size_t)pw_options_find(o, key), &view);
    snprintf(out, capacity, "%s", view.value);
}

static bool is_listed(const char *values, const char *value)
{
    size_t length = strlen(value);
    for (;; values++) {
        size_t next = strcspn(values, "|");
        if (next == length && !strncmp(values, value, length))
            return true;
        values += next;
        if (!*values)
            return false;
    }
}

static bool condition_holds(const struct pw_effect_condition *c, const struct pw_options *o, unsigned apps)
{
    char value[PW_OPTION_TEXT_CAPACITY];
    bool negated = *c->values == '!';
    value_of(o, apps, c->key, value, sizeof value);
    return is_listed(c->values + negated, value) != negated;
}

bool pw_effect_rule_holds(const struct pw_effect_rule *rule, const struct pw_options *o, unsigned apps)
{
    for (const struct pw_effect_condition *c = rule->any; c->key; c++)
        if (condition_holds(c, o, apps))
            return true;
    return false;
}

void pw_effect_reason(const struct pw_effect_rule *rule, const struct pw_options *o, unsigned apps, char *out,
                      size_t capacity)
{
    size_t used = 0;
    if (!rule->any->key) {
        snprintf(out, capacity, "%s", rule->hint);
        return;
    }
    for (const struct pw_effect_condition *c = rule->any; c->key && used < capacity; c++) {
        char value[PW_OPTION_TEXT_CAPACITY];
        value_of(o, apps, c->key, value, sizeof value);
        const char *and = c == rule->any ? "" : " and ";
        if (c->key == applications)
            used += (size_t)snprintf(out + used, capacity - used, "%sthere is one application", and);
        else
            used += (size_t)snprintf(out + used, capacity - used, "%s%s is %s", and, c->key, *value ? value : "empty");
    }
    if (rule->hint && used < capacity)
        snprintf(out + used, capacity - used, " (%s)", rule->hint);
}

const struct pw_effect_rule *pw_effect_broken_rule(const struct pw_options *o, unsigned apps, const char *name,
                                                   bool of_machine_only)
{
    for (const struct pw_effect_rule *rule = pw_effect_rules; rule->options; rule++)
        if ((rule->of_machine || !of_machine_only) && pw_effect_rule_is_about(rule, name) &&
            !pw_effect_rule_holds(rule, o, apps))
            return rule;
    return NULL;
}

static size_t describe(const struct pw_effect_condition *c, const char *before, char *out, size_t capacity)
{
    bool negated = *c->values == '!';
    int length;
    if (c->key == applications)
        length = snprintf(out, capacity, "%sseveral applications", before);
    else if (negated && !c->values[1])
        length = snprintf(out, capacity, "%s%s not empty", before, c->key);
    else
        length = snprintf(out, capacity, "%s%s %s %s", before, c->key, negated ? "not" : "=", c->values + negated);
    char *bar = length < 0 || (size_t)length >= capacity ? NULL : strchr(out, '|');
    if (bar)
        *bar = '/';
    return length < 0 ? 0 : (size_t)length;
}

/* That an ideal TLB makes idle what is in and behind it goes without saying. */
static bool needs_misses(const struct pw_effect_rule *rule)
{
    return rule->any->key && strstr(rule->any->key, "organisation");
}

void pw_effect_describe(const char *name, char *out, size_t capacity)
{
    size_t used = 0;
    *out = '\0';
    for (const struct pw_effect_rule *rule = pw_effect_rules; rule->options; rule++) {
        if (!pw_effect_rule_is_about(rule, name) || needs_misses(rule))
            continue;
        for (const struct pw_effect_condition *c = rule->any; c->key && used < capacity; c++)
            used += describe(c, c > rule->any ? " or " : used ? "; " : "", out + used, capacity - used);
        if (!rule->any->key && used < capacity)
            used += (size_t)snprintf(out + used, capacity - used, "%snothing so far: %s", used ? "; " : "", rule->hint);
    }
}
