/* What happened when, for people to look at: intervals on tracks, as a file that Perfetto and chrome://tracing open.
 *
 * A unit that is given a timeline adds its tracks when it is created and records an interval when it ends; a unit that
 * is given none (NULL) records nothing. Recording has no influence on the simulation. Intervals go to a buffered file
 * as they come, so memory stays as it is however long the run; what lies beyond the limit is counted and left out, and
 * the file says so. Times are nanoseconds of simulated time, rounded, so that what does not overlap in cycles does not
 * overlap in the file. Failures to write are remembered and reported by pw_timeline_finish. */
#ifndef PW_SIM_TIMELINE_H
#define PW_SIM_TIMELINE_H

#include "sim/status.h"
#include "sim/types.h"

struct pw_timeline;

enum { PW_TIMELINE_DEFAULT_LIMIT = 1000000 };

/* limit: intervals that are kept; 0: the default. */
enum pw_status pw_timeline_create(const char *path, uint64_t limit, uint32_t clock_mhz, struct pw_timeline **out,
                                  struct pw_error *err);

/* Completes the file and gives it its name. */
enum pw_status pw_timeline_finish(struct pw_timeline *t, struct pw_error *err);

/* Leaves no file, unless it was finished. */
void pw_timeline_destroy(struct pw_timeline *t);

/* Groups that are added from now on belong to this part of the machine, whose name, which must outlive that, stands
 * before theirs; NULL: to none. */
void pw_timeline_part(struct pw_timeline *t, const char *name);

/* Adds a group of tracks; returns its number. */
uint32_t pw_timeline_group(struct pw_timeline *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds tracks to a group; several are numbered behind their name, which must outlive the recording. Returns the number
 * of the first. */
uint32_t pw_timeline_tracks(struct pw_timeline *t, uint32_t group, const char *name, uint32_t count);

/* [from, to) on a track. Intervals of one track do not overlap. */
struct pw_interval {
    uint32_t track;
    const char *name;
    pw_cycle from, to;
    unsigned app;
    bool has_page;
    pw_vpn page;
};
void pw_timeline_record(struct pw_timeline *t, const struct pw_interval *interval);

/* Simulated time ends here: later intervals are left out, those that reach beyond are cut. */
void pw_timeline_end(struct pw_timeline *t, pw_cycle outer);

/* Tracks for intervals that may overlap: each takes the first that is free, and there are as many as have been needed
 * at a time. Intervals are to be taken in the order in which they begin. */
struct pw_lanes {
    struct pw_timeline *timeline;
    uint32_t group, count;
    const char *name;
    struct pw_lane *lanes; /* owned */
};
void pw_lanes_release(struct pw_lanes *l);
/* A track that is free at `from`, until it is given back. */
uint32_t pw_lanes_take(struct pw_lanes *l, pw_cycle from);
void pw_lanes_give(struct pw_lanes *l, uint32_t track, pw_cycle at);

#endif
