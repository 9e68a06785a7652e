/* Identities: what must hold between counters at any moment, and so over every window of a run, whatever the design.
 *
 * Names are resolved when the registry is sealed, since an identity may speak of counters of a unit that registers
 * later. What is checked is a snapshot, or the difference of two: the very numbers that are reported. */
#include "sim/stats_private.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char plus[] = " + ";
static const char equals[] = " = ";
static const char times[] = " * ";

static void add_identity(struct pw_stats *s, char *name, pw_identity_fn *check, void *object)
{
    struct identity *identity = name ? pw_stats_append(s, &s->identities, sizeof(*identity)) : NULL;
    if (!identity) {
        pw_stats_note(s, "out of memory for identities");
        free(name);
        return;
    }
    *identity = (struct identity){.name = name, .check = check, .object = object};
}

void pw_stats_identity(struct pw_stats *s, const char *left, const char *right)
{
    char *name;
    if (asprintf(&name, "%s%s%s", left, equals, right) < 0)
        name = NULL;
    for (size_t i = 0; name && i < s->identities.count; i++)
        if (!strcmp(identity_at(s, i)->name, name)) {
            free(name);
            return;
        }
    add_identity(s, name, NULL, NULL);
}

void pw_stats_identity_check(struct pw_stats *s, const char *name, pw_identity_fn *check, void *object)
{
    add_identity(s, strdup(name), check, object);
}

static int resolve(struct pw_stats *s, const struct identity *identity, const char *text, size_t length)
{
    char name[PW_METRIC_NAME_CAPACITY];
    int index = -1;
    if (length < sizeof(name)) {
        memcpy(name, text, length);
        name[length] = '\0';
        index = pw_stats_find_counter(s, name);
    }
    if (index < 0)
        pw_stats_note(s, "identity '%s' speaks of the unknown counter '%.*s'", identity->name, (int)length, text);
    return index;
}

static void resolve_terms(struct pw_stats *s, struct identity *identity)
{
    const char *sign = strstr(identity->name, equals);
    int left = resolve(s, identity, identity->name, (size_t)(sign - identity->name));
    if (left < 0)
        return;
    identity->left = (uint32_t)left;
    identity->first_term = (uint32_t)s->terms.count;
    for (const char *text = sign + strlen(equals); text;) {
        const char *next = strstr(text, plus), *outer = next ? next : text + strlen(text);
        char *digits_end;
        uint64_t factor = strtoull(text, &digits_end, 10);
        bool is_multiple = digits_end != text && !strncmp(digits_end, times, strlen(times));
        const char *name = is_multiple ? digits_end + strlen(times) : text;
        int index = resolve(s, identity, name, (size_t)(outer - name));
        struct term *term = index < 0 ? NULL : pw_stats_append(s, &s->terms, sizeof(*term));
        if (!term)
            return;
        *term = (struct term){is_multiple ? factor : 1, (uint32_t)index};
        text = next ? next + strlen(plus) : NULL;
    }
    identity->outer_term = (uint32_t)s->terms.count;
}

void pw_stats_resolve_identities(struct pw_stats *s)
{
    if (s->sealed)
        return;
    for (size_t i = 0; i < s->identities.count; i++)
        if (!identity_at(s, i)->check)
            resolve_terms(s, identity_at(s, i));
}

size_t pw_stats_identity_count(const struct pw_stats *s)
{
    return s->identities.count;
}

const char *pw_stats_identity_name(const struct pw_stats *s, size_t index)
{
    return identity_at(s, index)->name;
}

static uint64_t growth(const struct pw_stats *s, uint32_t counter, unsigned app, const uint64_t *from,
                       const uint64_t *to)
{
    size_t at = (size_t)counter * s->apps + app;
    return to[at] - (from ? from[at] : 0);
}

enum pw_status pw_stats_identity_between(const struct pw_stats *s, size_t index, unsigned app, const uint64_t *from,
                                         const uint64_t *to, struct pw_error *err)
{
    const struct identity *identity = identity_at(s, index);
    if (identity->check)
        return PW_OK;
    const struct term *terms = s->terms.items;
    uint64_t left = growth(s, identity->left, app, from, to), right = 0;
    for (uint32_t i = identity->first_term; i < identity->outer_term; i++)
        right += terms[i].factor * growth(s, terms[i].counter, app, from, to);
    if (left == right)
        return PW_OK;
    return pw_fail(err, PW_FAILED,
                   "identity '%s' is broken: app%u has %" PRIu64 " on the left and %" PRIu64 " on the right",
                   identity->name, app, left, right);
}

enum pw_status pw_stats_identity_run(struct pw_stats *s, size_t index, struct pw_error *err)
{
    assert(s->sealed);
    const struct identity *identity = identity_at(s, index);
    enum pw_status status = PW_OK;
    if (identity->check) {
        status = identity->check(identity->object, err);
        if (status != PW_OK)
            pw_error_prefix(err, "identity '%s' is broken", identity->name);
        return status;
    }
    uint64_t *now = malloc(pw_stats_raw_count(s) * sizeof *now);
    if (!now)
        return pw_fail_memory(err, "statistics");
    pw_stats_snapshot(s, now);
    for (unsigned app = 0; status == PW_OK && app < s->apps; app++)
        status = pw_stats_identity_between(s, index, app, NULL, now, err);
    free(now);
    return status;
}
