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
    *identity = (struct identity){.name = name, .scopes = scope_bit(s->scope), .check = check, .object = object};
}

void pw_stats_identity(struct pw_stats *s, const char *left, const char *right)
{
    char *name;
    if (asprintf(&name, "%s%s%s", left, equals, right) < 0)
        name = NULL;
    for (size_t i = 0; name && i < s->identities.count; i++)
        if (!strcmp(identity_at(s, i)->name, name)) {
            identity_at(s, i)->scopes |= scope_bit(s->scope);
            free(name);
            return;
        }
    add_identity(s, name, NULL, NULL);
}

void pw_stats_identity_check(struct pw_stats *s, const char *name, pw_identity_fn *check, void *object)
{
    add_identity(s, strdup(name), check, object);
}

/* A counter by its name, which every scope of the identity must have; -1 and a note otherwise. */
static int resolve(struct pw_stats *s, const struct identity *identity, const char *text, size_t length)
{
    char name[PW_METRIC_NAME_CAPACITY];
    int index = -1;
    if (length < sizeof(name)) {
        memcpy(name, text, length);
        name[length] = '\0';
        index = pw_stats_find_counter(s, name);
    }
    if (index < 0) {
        pw_stats_note(s, "identity '%s' speaks of the unknown counter '%.*s'", identity->name, (int)length, text);
        return -1;
    }
    for (unsigned scope = 0; scope < s->scope_count; scope++)
        if (identity->scopes & ~counter_at(s, (size_t)index)->scopes & scope_bit((int)scope)) {
            pw_stats_note(s, "identity '%s' speaks of the counter '%s', which %s has not", identity->name, name,
                          s->scopes[scope]);
            return -1;
        }
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

/* Scopes have identities of the same name that need code; where there are several, each is named after its own. */
static void name_scope(struct pw_stats *s, struct identity *identity)
{
    char *name;
    for (unsigned scope = 0; s->scope_count > 1 && scope < s->scope_count; scope++) {
        if (!(identity->scopes & scope_bit((int)scope)))
            continue;
        if (asprintf(&name, "%s: %s", s->scopes[scope], identity->name) < 0) {
            pw_stats_note(s, "out of memory for identities");
            return;
        }
        free(identity->name);
        identity->name = name;
    }
}

void pw_stats_resolve_identities(struct pw_stats *s)
{
    if (s->sealed)
        return;
    for (size_t i = 0; i < s->identities.count; i++) {
        if (identity_at(s, i)->check)
            name_scope(s, identity_at(s, i));
        else
            resolve_terms(s, identity_at(s, i));
    }
}

size_t pw_stats_identity_count(const struct pw_stats *s)
{
    return s->identities.count;
}

const char *pw_stats_identity_name(const struct pw_stats *s, size_t index)
{
    return identity_at(s, index)->name;
}

static enum pw_status check_in(const struct pw_stats *s, const struct identity *identity, int scope,
                               const struct window *w, struct pw_error *err)
{
    const struct term *terms = s->terms.items;
    uint64_t left = pw_stats_amount(s, identity->left, scope, w), right = 0;
    for (uint32_t i = identity->first_term; i < identity->outer_term; i++)
        right += terms[i].factor * pw_stats_amount(s, terms[i].counter, scope, w);
    if (left == right)
        return PW_OK;
    bool apart = scope != PW_ALL_SCOPES;
    return pw_fail(err, PW_FAILED,
                   "identity '%s' is broken: app%u%s%s has %" PRIu64 " on the left and %" PRIu64 " on the right",
                   identity->name, w->first_app, apart ? " on " : "", apart ? s->scopes[scope] : "", left, right);
}

enum pw_status pw_stats_identity_between(const struct pw_stats *s, size_t index, unsigned app, const uint64_t *from,
                                         const uint64_t *to, struct pw_error *err)
{
    const struct identity *identity = identity_at(s, index);
    const struct window w = {.first_app = app, .outer_app = app + 1, .from = from, .to = to, .growth = true};
    if (identity->check)
        return PW_OK;
    enum pw_status status = PW_OK;
    for (unsigned scope = 0; s->scope_count > 1 && status == PW_OK && scope < s->scope_count; scope++)
        if (identity->scopes & scope_bit((int)scope))
            status = check_in(s, identity, (int)scope, &w, err);
    return status == PW_OK ? check_in(s, identity, PW_ALL_SCOPES, &w, err) : status;
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
