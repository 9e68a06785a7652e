/* Names of allocations: see the header. Finding a function's name may take milliseconds in a large library, and
 * programs allocate in few places: those that were looked up are kept. */
#include "names.h"

#include "ranges.h"
#include "sim/utf8.h"
#include "symbols.h"

#include <execinfo.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FRAMES = 64, BUCKETS = 1024, BASE = PW_CAPTURE_NAME - 16 /* room for the number */ };

struct place {
    const void *code;
    enum pw_capture_telling telling;
    char *name; /* NULL: not to be named */
    struct place *next;
};

struct counter {
    char *name;
    uint64_t count;
    struct counter *next;
};

static struct {
    pthread_mutex_t lock;
    struct place *places[BUCKETS];
    struct counter *counters[BUCKETS];
} g = {.lock = PTHREAD_MUTEX_INITIALIZER};

void pw_capture_names_start(void)
{
    void *frames[2];
    backtrace(frames, 2); /* the first call loads a library */
}

static const struct place *look_up(const void *code)
{
    struct place **bucket = &g.places[(uintptr_t)code % BUCKETS], *p = *bucket;
    while (p && p->code != code)
        p = p->next;
    if (p || !(p = calloc(1, sizeof *p)))
        return p;
    char name[BASE];
    enum pw_capture_telling telling = pw_capture_symbol(code, name, sizeof name);
    *p = (struct place){code, telling, telling ? strdup(name) : NULL, *bucket};
    *bucket = p;
    return p;
}

/* The most informative function on the stack, of several the innermost. Addresses on the stack are those behind a
 * call. */
static void name_place(char out[BASE])
{
    void *frames[MOST_FRAMES];
    int count = backtrace(frames, MOST_FRAMES);
    enum pw_capture_telling most = PW_TELLS_NOTHING;
    *out = 0;
    for (int i = 1; i < count && most < PW_TELLS_PLACE; i++) {
        const struct place *p = look_up((const char *)frames[i] - 1);
        if (p && p->name && p->telling > most) {
            snprintf(out, BASE, "%s", p->name);
            most = p->telling;
        }
    }
}

/* A range's name may have anything in it. */
static void copy_printable(char out[BASE], const char *name)
{
    size_t used = 0;
    while (*name) {
        size_t shown = pw_utf8_printable_length(name), taken = pw_utf8_length(name);
        if (used + (shown ? shown : 1) >= BASE)
            break;
        if (shown)
            memcpy(out + used, name, shown);
        else
            out[used] = '?';
        used += shown ? shown : 1;
        name += taken ? taken : 1;
    }
    out[used] = 0;
}

static uint64_t next_number(const char *name)
{
    uint32_t hash = 0;
    for (const char *at = name; *at; at++)
        hash = hash * 31 + (uint8_t)*at;
    struct counter **bucket = &g.counters[hash % BUCKETS], *c = *bucket;
    while (c && strcmp(c->name, name) != 0)
        c = c->next;
    if (!c && (c = calloc(1, sizeof *c))) {
        *c = (struct counter){strdup(name), 0, *bucket};
        if (!c->name) {
            free(c);
            return 0;
        }
        *bucket = c;
    }
    return c ? ++c->count : 0;
}

void pw_capture_name_allocation(char out[PW_CAPTURE_NAME])
{
    char base[BASE];
    const char *range = pw_capture_range();
    pthread_mutex_lock(&g.lock);
    if (*range)
        copy_printable(base, range);
    else
        name_place(base);
    uint64_t number = *base ? next_number(base) : 0;
    pthread_mutex_unlock(&g.lock);
    *out = 0;
    if (number)
        snprintf(out, PW_CAPTURE_NAME, "%s #%llu", base, (unsigned long long)number);
}
