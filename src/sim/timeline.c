/* Writes a timeline in Chrome's trace event format: one JSON object with complete events ("X") and the names of tracks
 * ("M"). A group is a process there and a track a thread; a track is named when its first interval comes, so that the
 * file has no empty ones. */
#include "sim/timeline.h"

#include "sim/c_locale.h"
#include "sim/new_stream.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_CAPACITY = 320 };

struct group {
    char name[NAME_CAPACITY];
    bool named;
};

struct track {
    uint32_t group;
    uint32_t number;  /* among those added together, from 1; 0: the only one */
    const char *name; /* NULL: the file has it */
};

struct pw_lane {
    uint32_t track;
    pw_cycle free; /* from then on */
};

struct pw_timeline {
    struct pw_new_stream file;
    uint32_t clock_mhz;
    uint64_t limit, recorded, left_out;
    pw_cycle outer, last_kept;
    bool any, out_of_memory;
    const char *part; /* of the machine, or NULL */
    struct group *groups;
    struct track *tracks;
    uint32_t group_count, track_count;
};

enum pw_status pw_timeline_create(const char *path, uint64_t limit, uint32_t clock_mhz, struct pw_timeline **out,
                                  struct pw_error *err)
{
    *out = NULL;
    struct pw_timeline *t = calloc(1, sizeof *t);
    if (!t)
        return pw_fail_memory(err, "timeline");
    t->limit = limit ? limit : PW_TIMELINE_DEFAULT_LIMIT;
    t->clock_mhz = clock_mhz;
    t->outer = PW_NEVER;
    enum pw_status status = pw_new_stream_open(&t->file, path, err);
    if (status != PW_OK) {
        pw_timeline_destroy(t);
        return status;
    }
    fputs("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [", t->file.out);
    *out = t;
    return PW_OK;
}

void pw_timeline_destroy(struct pw_timeline *t)
{
    if (!t)
        return;
    pw_new_stream_drop(&t->file);
    free(t->groups);
    free(t->tracks);
    free(t);
}

void pw_timeline_part(struct pw_timeline *t, const char *name)
{
    t->part = name;
}

uint32_t pw_timeline_group(struct pw_timeline *t, const char *format, ...)
{
    struct group *groups = realloc(t->groups, (t->group_count + 1) * sizeof *groups);
    if (!groups) {
        t->out_of_memory = true;
        return 0;
    }
    t->groups = groups;
    struct group *g = &groups[t->group_count];
    g->named = false;
    va_list args;
    va_start(args, format);
    size_t used = (size_t)snprintf(g->name, sizeof g->name, "%s%s", t->part ? t->part : "", t->part ? " " : "");
    pw_c_vsnprintf(g->name + used, sizeof g->name - used, format, args);
    va_end(args);
    return t->group_count++;
}

/* Numbers begin with `number`; 0: a single track without one. */
static uint32_t add_tracks(struct pw_timeline *t, uint32_t group, const char *name, uint32_t number, uint32_t count)
{
    struct track *tracks = realloc(t->tracks, (t->track_count + (size_t)count) * sizeof *tracks);
    if (!tracks) {
        t->out_of_memory = true;
        return 0;
    }
    t->tracks = tracks;
    uint32_t first = t->track_count;
    for (uint32_t i = 0; i < count; i++)
        tracks[t->track_count++] = (struct track){group, number + i, name};
    return first;
}

uint32_t pw_timeline_tracks(struct pw_timeline *t, uint32_t group, const char *name, uint32_t count)
{
    return add_tracks(t, group, name, count > 1, count);
}

/* A JSON string. Names are ASCII; what is not, in a parameter of the user's, becomes '?'. */
static void write_string(FILE *out, const char *string)
{
    putc('"', out);
    for (; *string; string++) {
        if (*string == '"' || *string == '\\')
            putc('\\', out);
        putc(*string < ' ' || *string > '~' ? '?' : *string, out);
    }
    putc('"', out);
}

static void begin_event(struct pw_timeline *t)
{
    fputs(t->any ? ",\n" : "\n", t->file.out);
    t->any = true;
}

static void write_name(struct pw_timeline *t, const char *what, uint32_t group, uint32_t track, const char *name)
{
    begin_event(t);
    fprintf(t->file.out, "{\"ph\": \"M\", \"name\": \"%s_name\", \"pid\": %u, \"tid\": %u, \"args\": {\"name\": ", what,
            group + 1, track + 1);
    write_string(t->file.out, name);
    fputs("}},\n", t->file.out);
    bool process = strcmp(what, "process") == 0;
    fprintf(t->file.out,
            "{\"ph\": \"M\", \"name\": \"%s_sort_index\", \"pid\": %u, \"tid\": %u, \"args\": {\"sort_index\": %u}}",
            what, group + 1, track + 1, process ? group : track);
}

static void name_track(struct pw_timeline *t, uint32_t number)
{
    struct track *track = &t->tracks[number];
    struct group *group = &t->groups[track->group];
    char name[NAME_CAPACITY];
    if (!group->named)
        write_name(t, "process", track->group, number, group->name);
    group->named = true;
    if (track->number)
        snprintf(name, sizeof name, "%s %u", track->name, track->number);
    else
        snprintf(name, sizeof name, "%s", track->name);
    write_name(t, "thread", track->group, number, name);
    track->name = NULL;
}

static uint64_t nanoseconds(const struct pw_timeline *t, pw_cycle cycle)
{
    return (cycle * 1000 + t->clock_mhz / 2) / t->clock_mhz;
}

/* Microseconds, to the nanosecond. */
static void write_time(FILE *out, const char *member, uint64_t ns)
{
    fprintf(out, ", \"%s\": %llu.%03u", member, (unsigned long long)(ns / 1000), (unsigned)(ns % 1000));
}

void pw_timeline_record(struct pw_timeline *t, const struct pw_interval *interval)
{
    if (t->out_of_memory || interval->from > t->outer || (interval->from == t->outer && interval->to > t->outer))
        return;
    if (t->recorded == t->limit) {
        t->left_out++;
        return;
    }
    t->recorded++;
    if (t->tracks[interval->track].name)
        name_track(t, interval->track);
    pw_cycle to = interval->to < t->outer ? interval->to : t->outer;
    uint64_t first = nanoseconds(t, interval->from), outer = nanoseconds(t, to);
    t->last_kept = to > t->last_kept ? to : t->last_kept;
    begin_event(t);
    fputs("{\"ph\": \"X\", \"name\": ", t->file.out);
    write_string(t->file.out, interval->name);
    fprintf(t->file.out, ", \"pid\": %u, \"tid\": %u", t->tracks[interval->track].group + 1, interval->track + 1);
    write_time(t->file.out, "ts", first);
    write_time(t->file.out, "dur", outer - first);
    fprintf(t->file.out, ", \"args\": {\"app\": %u", interval->app);
    if (interval->has_page)
        fprintf(t->file.out, ", \"page\": \"0x%llx\"", (unsigned long long)(interval->page.v << PW_PAGE_SHIFT));
    fputs("}}", t->file.out);
}

void pw_timeline_end(struct pw_timeline *t, pw_cycle outer)
{
    t->outer = outer;
}

/* Says in the file, and at its place on the timeline, that there would have been more. */
static void write_note(struct pw_timeline *t)
{
    begin_event(t);
    fprintf(t->file.out,
            "{\"ph\": \"i\", \"s\": \"g\", \"name\": \"the limit of %llu events is reached\", \"pid\": 1, \"tid\": 1",
            (unsigned long long)t->limit);
    write_time(t->file.out, "ts", nanoseconds(t, t->last_kept));
    fputs("}", t->file.out);
}

enum pw_status pw_timeline_finish(struct pw_timeline *t, struct pw_error *err)
{
    if (t->out_of_memory)
        return pw_fail_memory(err, "timeline");
    if (t->left_out)
        write_note(t);
    fprintf(t->file.out, "\n], \"otherData\": {\"clock_mhz\": %u, \"events\": %llu, \"events_left_out\": %llu",
            t->clock_mhz, (unsigned long long)t->recorded, (unsigned long long)t->left_out);
    if (t->left_out)
        fputs(", \"note\": \"events are left out; --timeline-limit sets how many are kept\"", t->file.out);
    fputs("}}\n", t->file.out);
    return pw_new_stream_finish(&t->file, err);
}

void pw_lanes_release(struct pw_lanes *l)
{
    free(l->lanes);
    *l = (struct pw_lanes){0};
}

static bool add_lane(struct pw_lanes *l)
{
    struct pw_lane *lanes = realloc(l->lanes, (l->count + 1) * sizeof *lanes);
    if (!lanes) {
        l->timeline->out_of_memory = true;
        return false;
    }
    l->lanes = lanes;
    lanes[l->count] = (struct pw_lane){add_tracks(l->timeline, l->group, l->name, l->count + 1, 1), 0};
    l->count++;
    return true;
}

uint32_t pw_lanes_take(struct pw_lanes *l, pw_cycle from)
{
    uint32_t i = 0;
    while (i < l->count && l->lanes[i].free > from)
        i++;
    if (i == l->count && !add_lane(l))
        return 0;
    l->lanes[i].free = PW_NEVER;
    return l->lanes[i].track;
}

void pw_lanes_give(struct pw_lanes *l, uint32_t track, pw_cycle at)
{
    for (uint32_t i = 0; i < l->count; i++)
        if (l->lanes[i].track == track)
            l->lanes[i].free = at;
}
