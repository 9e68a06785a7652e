/* The insides of the shared memory system, common to memory.c (wiring) and l2.c (slices). */
#ifndef PW_MEM_MEMORY_INTERNAL_H
#define PW_MEM_MEMORY_INTERNAL_H

#include "mem/cache.h"
#include "mem/memory.h"
#include "mem/mshr.h"

/* Where the lines of an application lie: in its own channels, or in all of them. */
struct pw_app_channels {
    struct pw_memory_map map;
    uint32_t first_slice;
};

struct pw_slice {
    struct pw_memory *memory;
    const struct pw_memory_map *map; /* of the application whose lines it holds */
    bool asks;                       /* the policy on page-table reads; false where there is nothing to ask */
    struct pw_cache cache;
    struct pw_mshr mshr;            /* mask: sectors asked for (low 4 bits) and arrived (next 4) */
    struct pw_request_list blocked; /* accepted, but no miss register was free; served in order */
    struct pw_port up, down;        /* the slice's ends of the two crossbar networks */
    struct pw_port ports[8];
    uint32_t channel;
    uint16_t index; /* over all channels */
    /* With halves: */
    bool far;                           /* in the second one */
    struct pw_mshr copies;              /* lines of the other half, under way */
    struct pw_request_list copies_wait; /* reads for which it had no free register; served in order */
};

struct pw_channel {
    struct pw_memory *memory;
    struct pw_dram_channel *dram;
};

struct pw_memory {
    struct pw_memory_config config;
    struct pw_events *events;
    struct pw_request_pool *pool;
    struct pw_memory_clients clients;
    struct pw_app_channels *apps;
    uint32_t flits[PW_SECTORS_PER_LINE + 1]; /* by number of sectors carried */
    uint8_t fetched[PW_ALL_SECTORS + 1];     /* by sectors wanted: those that a miss fetches */
    uint8_t lookup[PW_ALL_SECTORS + 1];      /* by sectors: cycles that a lookup keeps its port */
    uint32_t slice_count;
    uint32_t half_slices; /* those of one half; 0: the L2 is undivided */
    bool *sm_far;         /* by SM: it is near to the second one */
    struct pw_slice *slices;
    struct pw_channel *channels;
    struct pw_port *sm_up, *sm_down; /* the SMs' ends */
    struct pw_l2_counters *counters;
    struct pw_dram_counters *dram_counters;
    struct pw_policy_use schedule_use, walks_use;
    const struct pw_l2_walks_policy *walks;
    void *walks_state;
    uint64_t pending;
    uint32_t first_line, line_count; /* of its own memory */
    pw_event_fn *outside;            /* what becomes of requests for other lines */
    struct pw_remote remote;
    struct pw_peer_counters *peer_counters;
};

/* Says in a request which slice and set are its line's; nobody has to find out again. */
static inline struct pw_slice *pw_memory_find_slice(struct pw_memory *m, struct pw_request *r)
{
    const struct pw_app_channels *app = &m->apps[r->app];
    struct pw_place place = pw_place_of(&app->map, r->line - m->first_line);
    r->slice = (uint16_t)(app->first_slice + place.slice);
    struct pw_slice *s = &m->slices[r->slice];
    r->set = pw_cache_set(&s->cache, pw_set_index(place));
    return s;
}

/* Events, whose object is the slice or the memory and whose argument is the request: its last flit is at its slice; it
 * has passed the input port; a reply's last flit is at its SM. */
void pw_slice_arrive(void *object, uint64_t argument, pw_cycle now);
void pw_slice_accept(void *object, uint64_t argument, pw_cycle now);
void pw_memory_arrive_at_sm(void *object, uint64_t argument, pw_cycle now);

/* DRAM has brought the sectors of a request. */
void pw_slice_fill(struct pw_slice *s, struct pw_request *r, pw_cycle now);

/* The parts of a lookup that both kinds have in common (l2.c): takes the port that is free first and returns when the
 * lookup starts; counts it; finds the way of a line, allocated if need be; answers. */
pw_cycle pw_slice_take_port(struct pw_slice *s, const struct pw_request *r, pw_cycle now);
void pw_slice_count(struct pw_slice *s, const struct pw_request *r, bool hit, uint8_t present);
struct pw_way pw_slice_way_for(struct pw_slice *s, const struct pw_request *r, struct pw_way w, pw_cycle now);
void pw_slice_answer(void *object, uint64_t argument, pw_cycle now);

void pw_slice_write_back(struct pw_slice *s, const struct pw_victim *victim, pw_asid app, pw_cycle now);

/* l2_contents.c. Before a run: something else lies in a share of the L2. */
void pw_memory_occupy(struct pw_memory *m);

/* l2_halves.c. Whether the SM of a request is nearer to the other half than that of this slice. */
static inline bool pw_slice_is_far(const struct pw_slice *s, const struct pw_request *r)
{
    return s->memory->sm_far[r->source] != s->far;
}

/* The slice of the other half that keeps copies of this one's lines. */
static inline struct pw_slice *pw_slice_mirror(const struct pw_slice *s)
{
    struct pw_memory *m = s->memory;
    return &m->slices[s->far ? s->index - m->half_slices : s->index + m->half_slices];
}

enum pw_status pw_halves_init(struct pw_memory *m, struct pw_error *err);
/* Takes a load or a store that is at the slice near its SM, whose line has its home in the other half. */
void pw_copy_accept(struct pw_slice *s, struct pw_request *r, pw_cycle now);
/* A line is written at its home, or leaves: the other half has no copy of it afterwards. */
void pw_copy_drop(struct pw_slice *home, const struct pw_request *r);
/* The home of a line sends what was asked for a copy. */
void pw_copy_send(struct pw_slice *home, struct pw_request *r, pw_cycle now);

/* Sends a request on its way to the DRAM queue of the slice's channel at time `at`. */
void pw_memory_to_dram(struct pw_slice *s, struct pw_request *r, pw_cycle at);

#endif
