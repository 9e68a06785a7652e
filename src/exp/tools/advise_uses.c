/* The allocations of a program, and the kernels that access them, found by running each application without time
 * (pw_workload_profile). Advice goes by name, so allocations of one name are one here too: the size is that of the
 * largest, launches are those that access any of them. An allocation whose name is only an address of the recorded run,
 * or a place in its source, gets one for the calls from its kind and its place among those of that kind. */
#include "exp/format/kernel_name.h"
#include "exp/tools/advise_internal.h"

#include "system/inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum pw_status pw_advice_find_uses(struct pw_advice *a, const volatile bool *interrupted, struct pw_error *err)
{
    struct pw_program programs[PW_MAX_APPS] = {0};
    unsigned count = 0;
    enum pw_status status = pw_run_programs(a->spec.workload, programs, &count, err);
    a->profiles = calloc(PW_MAX_APPS, sizeof(struct pw_profile *));
    if (status == PW_OK && !a->profiles)
        status = pw_fail_memory(err, "advice");
    for (unsigned i = 0; i < count && status == PW_OK; i++) {
        const struct pw_profile_spec spec = {
            .workload = programs[i].text, .seed = a->spec.seed, .interrupted = interrupted};
        status = pw_workload_profile(&spec, &a->profiles[i], err);
        a->profile_count += status == PW_OK;
    }
    for (unsigned i = 0; i < PW_MAX_APPS; i++)
        pw_program_release(&programs[i]);
    return status;
}

void pw_advice_release_uses(struct pw_advice *a)
{
    for (size_t i = 0; i < a->profile_count; i++)
        pw_profile_free(a->profiles[i]);
    free(a->profiles);
}

/* Adds the kernels of one more allocation, those with the most accesses first. */
static void add_kernels(struct pw_advice_use *u, const struct pw_profile_allocation *p)
{
    for (size_t k = 0; k < p->kernel_count; k++) {
        size_t i = 0, listed = u->kernel_count < PW_ADVICE_KERNELS ? u->kernel_count : PW_ADVICE_KERNELS;
        while (i < listed && strcmp(u->kernels[i], p->kernels[k].kernel) != 0)
            i++;
        if (i < listed)
            continue;
        if (i < PW_ADVICE_KERNELS)
            u->kernels[i] = p->kernels[k].kernel;
        u->kernel_count++;
    }
}

static void add_use(struct pw_advice_use *u, const struct pw_profile_allocation *p)
{
    bool same = !u->memory || !strcmp(u->memory, p->memory);
    if (!u->memory) {
        u->name = p->name;
        u->has_name = p->has_name;
        u->order = p->order;
        u->members = p->members;
    }
    u->memory = same ? p->memory : "several";
    u->written |= p->written;
    u->bytes = p->recorded_bytes > u->bytes ? p->recorded_bytes : u->bytes;
    if (p->launches && (!u->first_launch || p->first_launch < u->first_launch))
        u->first_launch = p->first_launch;
    u->last_launch = p->last_launch > u->last_launch ? p->last_launch : u->last_launch;
    u->launches += p->launches;
    add_kernels(u, p);
}

struct pw_advice_use pw_advice_use_of(const struct pw_advice *a, const char *name)
{
    struct pw_advice_use u = {0};
    for (size_t i = 0; i < a->profile_count; i++)
        for (size_t k = 0; k < a->profiles[i]->allocation_count; k++)
            if (!strncmp(a->profiles[i]->allocations[k].name, name, PW_ADVISED_NAME_CAPACITY - 1))
                add_use(&u, &a->profiles[i]->allocations[k]);
    return u;
}

bool pw_advice_is_from_malloc(const struct pw_advice_use *u)
{
    return u->memory && (!strcmp(u->memory, "device") || !strcmp(u->memory, "several"));
}

/* Whether a name can stand in a call: that of a variable, of a member or an element of an array. */
static bool is_variable(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_", others[] = "0123456789.->[]";
    if (!*name || !strchr(letters, *name))
        return false;
    for (; *name; name++)
        if (!strchr(letters, *name) && !strchr(others, *name))
            return false;
    return true;
}

static bool goes_by_name(const struct pw_advice_use *u)
{
    return !u->memory || (u->has_name && is_variable(u->name));
}

const char *pw_advice_name(const struct pw_advice *a, const char *name, char out[PW_ADVICE_NAME_CAPACITY])
{
    struct pw_advice_use u = pw_advice_use_of(a, name);
    if (!goes_by_name(&u))
        snprintf(out, PW_ADVICE_NAME_CAPACITY, "%s_%u", u.memory, u.order);
    else
        snprintf(out, PW_ADVICE_NAME_CAPACITY, "%s", name);
    return out;
}

static const char *ordinal(uint32_t n)
{
    static const char *const endings[] = {"th", "st", "nd", "rd"};
    return n % 100 / 10 != 1 && n % 10 < 4 ? endings[n % 10] : endings[0];
}

/* "the 3rd cudaMalloc", "managed" */
static void say_kind(const struct pw_advice_use *u, struct pw_text *out)
{
    static const struct {
        const char *memory, *call, *words;
    } kinds[] = {{"managed", "cudaMallocManaged", "managed"},
                 {"device", "cudaMalloc", "device memory"},
                 {"host", "pinned allocation of the host", "pinned memory of the host"},
                 {"inferred", "allocation that was not recorded", "how it was allocated was not recorded"},
                 {"several", "allocation", "of several kinds"}};
    size_t k = 0;
    while (strcmp(kinds[k].memory, u->memory) != 0)
        k++;
    if (goes_by_name(u))
        pw_text_add(out, kinds[k].words);
    else
        pw_text_print(out, "the %u%s %s", u->order, ordinal(u->order), kinds[k].call);
    if (!goes_by_name(u) && u->has_name) {
        pw_text_add(out, ", \"");
        pw_text_printable(out, u->name);
        pw_text_add(out, "\"");
    }
    if (u->members > 1)
        pw_text_print(out, " and %u more that share its pages", u->members - 1);
}

void pw_advice_say_use(const struct pw_advice_use *u, struct pw_text *out)
{
    char size[PW_NUMBER_CAPACITY], kernel[PW_KERNEL_NAME_SHORT];
    if (!u->memory)
        return;
    say_kind(u, out);
    pw_format_bytes(size, (double)u->bytes);
    pw_text_print(out, ", %s, ", size);
    if (!u->launches) {
        pw_text_add(out, "no kernel accesses it");
        return;
    }
    unsigned long long launches = u->launches, first = u->first_launch, last = u->last_launch;
    pw_text_add(out, u->written ? "written by " : "read by ");
    if (first == last)
        pw_text_print(out, "launch %llu", first);
    else if (launches == last - first + 1)
        pw_text_print(out, "launches %llu to %llu", first, last);
    else
        pw_text_print(out, "%llu launches from %llu to %llu", launches, first, last);
    for (size_t k = 0; k < u->kernel_count && k < PW_ADVICE_KERNELS; k++) {
        pw_kernel_name_short(u->kernels[k], kernel, sizeof kernel);
        pw_text_print(out, "%s%s", k ? ", " : " (", kernel);
    }
    if (u->kernel_count > PW_ADVICE_KERNELS)
        pw_text_print(out, " and %zu more", u->kernel_count - PW_ADVICE_KERNELS);
    pw_text_add(out, ")");
}
