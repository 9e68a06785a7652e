/* The host link: transfer times from measured points or from a line, and one queue per direction.
 *
 * Both models are the same curve: points of (bytes, time) with straight lines between them, the first and the last line
 * going on outside. Where bandwidth does not fall from point to point (which is checked), each line meets zero bytes at
 * or above zero time, so that along the whole curve time grows with the size and bandwidth does not fall. The line
 * meeting zero bytes is the constant start cost of a transfer (UVM, Sec. 4.1). The table's default is Table 1 of the
 * same paper, measured for reads by the GPU and used for both directions.
 *
 * Numbers with a point are turned into bytes per second and femtoseconds once, when the link is made; from there on
 * everything is integers, so that no compiler can move an event. */
#include "mem/link.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const model_names[] = {"table", "linear", NULL};

const struct pw_option pw_link_options[] = {
    {"model", PW_OPTION_CHOICE, offsetof(struct pw_link_config, model), 0, 0, "table", "", model_names,
     "How long a transfer takes: bandwidth by size through measured points, or a start cost and a rate.", false},
    {"points", PW_OPTION_TEXT, offsetof(struct pw_link_config, points), 0, 0,
     "4KB:3.2219+16KB:6.4437+64KB:8.4771+256KB:10.508+1MB:11.223", "", NULL,
     "Measured bandwidth by transfer size, SIZE:GB/s in rising order (UVM, Table 1); table model.", false},
    {"h2d_start_us", PW_OPTION_NUMBER, offsetof(struct pw_link_config, start_us[PW_LINK_H2D]), 0, 1e6, "0", "us", NULL,
     "Start cost of a transfer to the GPU; linear model.", false},
    {"d2h_start_us", PW_OPTION_NUMBER, offsetof(struct pw_link_config, start_us[PW_LINK_D2H]), 0, 1e6, "0", "us", NULL,
     "Start cost of a transfer to the host; linear model.", false},
    {"h2d_rate", PW_OPTION_NUMBER, offsetof(struct pw_link_config, gbytes_per_second[PW_LINK_H2D]), 0.001, 10000,
     "7.95", "GB/s", NULL, "Rate of a transfer to the GPU after its start, in 10^9 bytes per second; linear model.",
     false},
    {"d2h_rate", PW_OPTION_NUMBER, offsetof(struct pw_link_config, gbytes_per_second[PW_LINK_D2H]), 0.001, 10000,
     "7.95", "GB/s", NULL, "Rate of a transfer to the host after its start, in 10^9 bytes per second; linear model.",
     false},
    {"remote_rate", PW_OPTION_NUMBER, offsetof(struct pw_link_config, small_gbytes_per_second), 0, 10000, "0", "GB/s",
     NULL, "Bandwidth of accesses to host memory, each way; 0: that which long transfers approach.", false},
    {"remote_transfers", PW_OPTION_NUMBER, offsetof(struct pw_link_config, small_millions_a_second), 0, 1e6, "0", "M/s",
     NULL, "Most accesses to host memory that the link carries in a second, each way, however short; 0: no limit.",
     false},
    {0}};

enum { MOST_POINTS = 32 };

#define FEMTOSECONDS 1000000000000000LL /* in a second */

struct curve {
    uint32_t count;
    struct {
        uint64_t bytes, femtoseconds;
    } points[MOST_POINTS + 1];
};

struct pw_link {
    struct pw_events *events;
    uint32_t clock_mhz;
    struct curve curves[PW_LINK_DIRECTIONS];
    pw_cycle free[PW_LINK_DIRECTIONS]; /* when the last transfer queued so far ends */
    struct {
        pw_cycle free;      /* when the last small transfer ends, */
        uint64_t remainder; /* and so many `rate`-ths of a cycle later */
        uint64_t rate;      /* bytes per second */
        uint64_t least;     /* of these, that a small transfer takes */
    } small[PW_LINK_DIRECTIONS];
    struct pw_link_counters counters[PW_LINK_DIRECTIONS];
};

static uint64_t bytes_per_second(double gbytes_per_second)
{
    return (uint64_t)llround(gbytes_per_second * 1e9);
}

static void add_point(struct curve *c, uint64_t bytes, uint64_t femtoseconds)
{
    c->points[c->count].bytes = bytes;
    c->points[c->count++].femtoseconds = femtoseconds;
}

static void make_line(const struct pw_link_config *config, enum pw_link_direction direction, struct curve *out)
{
    uint64_t start = (uint64_t)llround(config->start_us[direction] * 1e9);
    add_point(out, 0, start);
    add_point(out, bytes_per_second(config->gbytes_per_second[direction]), start + FEMTOSECONDS);
}

/* One "SIZE:GB/s" of the points. */
static enum pw_status parse_point(char *text, uint64_t *out_bytes, uint64_t *out_rate, struct pw_error *err)
{
    static const struct pw_option size = {"link.points", PW_OPTION_BYTES, 0,    1,    1 << 30,
                                          NULL,          "bytes",         NULL, NULL, false};
    static const struct pw_option rate = {"link.points", PW_OPTION_NUMBER, 0,    0.001, 10000,
                                          NULL,          "GB/s",           NULL, NULL,  false};
    char *colon = strchr(text, ':');
    if (!colon)
        return pw_fail(err, PW_USER_ERROR, "link.points: %s is not SIZE:GB/s, for example 64KB:8.4771", text);
    *colon = '\0';
    double gbytes_per_second;
    enum pw_status status = pw_option_parse(&size, text, 0, out_bytes, err);
    if (status == PW_OK)
        status = pw_option_parse(&rate, colon + 1, 0, &gbytes_per_second, err);
    if (status == PW_OK)
        *out_rate = bytes_per_second(gbytes_per_second);
    return status;
}

static enum pw_status make_table(const struct pw_link_config *config, struct curve *out, struct pw_error *err)
{
    char text[PW_OPTION_TEXT_CAPACITY], *rest = NULL;
    memcpy(text, config->points, sizeof text);
    text[sizeof text - 1] = '\0';
    uint64_t last_bytes = 0, last_rate = 0, last_time = 0;
    for (char *word = strtok_r(text, "+", &rest); word; word = strtok_r(NULL, "+", &rest)) {
        uint64_t bytes, rate;
        enum pw_status status = parse_point(word, &bytes, &rate, err);
        if (status != PW_OK)
            return status;
        if (out->count == MOST_POINTS)
            return pw_fail(err, PW_USER_ERROR, "link.points: more than %d points", MOST_POINTS);
        uint64_t time = (uint64_t)((unsigned __int128)bytes * FEMTOSECONDS / rate);
        if (bytes <= last_bytes || rate < last_rate || time <= last_time)
            return pw_fail(err, PW_USER_ERROR,
                           "link.points: sizes and times must rise and bandwidths must not fall from point to point "
                           "(point %u)",
                           out->count + 1);
        add_point(out, bytes, time);
        last_bytes = bytes;
        last_rate = rate;
        last_time = time;
    }
    if (!out->count)
        return pw_fail(err, PW_USER_ERROR, "link.points has no points; give at least one SIZE:GB/s");
    if (out->count == 1)
        add_point(out, 2 * last_bytes, 2 * last_time);
    return PW_OK;
}

/* Bytes per second along the last line of a curve. */
static uint64_t final_rate(const struct curve *c)
{
    uint64_t bytes = c->points[c->count - 1].bytes - c->points[c->count - 2].bytes;
    uint64_t time = c->points[c->count - 1].femtoseconds - c->points[c->count - 2].femtoseconds;
    return (uint64_t)((unsigned __int128)bytes * FEMTOSECONDS / time);
}

static void set_small(struct pw_link *l, const struct pw_link_config *config, enum pw_link_direction direction)
{
    uint64_t rate = bytes_per_second(config->small_gbytes_per_second);
    l->small[direction].rate = rate ? rate : final_rate(&l->curves[direction]);
    if (config->small_millions_a_second > 0)
        l->small[direction].least =
            (uint64_t)llround((double)l->small[direction].rate * l->clock_mhz / config->small_millions_a_second);
}

enum pw_status pw_link_create(const struct pw_link_config *config, uint32_t clock_mhz, struct pw_events *events,
                              struct pw_link **out, struct pw_error *err)
{
    *out = NULL;
    struct pw_link *l = calloc(1, sizeof *l);
    if (!l)
        return pw_fail_memory(err, "the host link");
    l->events = events;
    l->clock_mhz = clock_mhz;
    for (int d = 0; d < PW_LINK_DIRECTIONS; d++) {
        enum pw_status status = PW_OK;
        if (config->model == PW_LINK_LINEAR)
            make_line(config, (enum pw_link_direction)d, &l->curves[d]);
        else
            status = make_table(config, &l->curves[d], err);
        if (status != PW_OK) {
            free(l);
            return status;
        }
        set_small(l, config, (enum pw_link_direction)d);
    }
    *out = l;
    return PW_OK;
}

void pw_link_destroy(struct pw_link *l)
{
    free(l);
}

pw_cycle pw_link_cycles(const struct pw_link *l, enum pw_link_direction direction, uint64_t bytes)
{
    const struct curve *c = &l->curves[direction];
    uint32_t i = 0;
    while (i + 2 < c->count && bytes > c->points[i + 1].bytes)
        i++;
    int64_t from = (int64_t)c->points[i].bytes, width = (int64_t)c->points[i + 1].bytes - from;
    int64_t from_time = (int64_t)c->points[i].femtoseconds, rise = (int64_t)c->points[i + 1].femtoseconds - from_time;
    __int128 time = (__int128)from_time * width + (__int128)((int64_t)bytes - from) * rise; /* times width */
    __int128 per_cycle = (__int128)width * (FEMTOSECONDS / 1000000);
    return (pw_cycle)((time * l->clock_mhz + per_cycle - 1) / per_cycle);
}

static pw_cycle small_end(const struct pw_link *l, enum pw_link_direction direction)
{
    return l->small[direction].free + (l->small[direction].remainder != 0);
}

pw_cycle pw_link_send_small(struct pw_link *l, enum pw_link_direction direction, uint64_t bytes, pw_cycle now)
{
    if (small_end(l, direction) <= now) {
        l->small[direction].free = now;
        l->small[direction].remainder = 0;
    }
    pw_cycle before = small_end(l, direction);
    uint64_t rate = l->small[direction].rate;
    uint64_t parts = bytes * l->clock_mhz * 1000000;
    parts = (parts > l->small[direction].least ? parts : l->small[direction].least) + l->small[direction].remainder;
    l->small[direction].free += parts / rate;
    l->small[direction].remainder = parts % rate;
    if (l->free[direction] > before)
        l->free[direction] += small_end(l, direction) - before;
    l->counters[direction].small_bytes += bytes;
    return small_end(l, direction);
}

pw_cycle pw_link_send(struct pw_link *l, enum pw_link_direction direction, uint64_t bytes, pw_cycle ready,
                      pw_event_fn *done, void *object, uint64_t argument)
{
    struct pw_link_counters *c = &l->counters[direction];
    pw_cycle cycles = pw_link_cycles(l, direction, bytes);
    pw_cycle start = ready > l->free[direction] ? ready : l->free[direction];
    if (start < small_end(l, direction))
        start = small_end(l, direction);
    l->free[direction] = start + cycles;
    c->transfers++;
    c->transfers_4k += bytes == PW_PAGE_BYTES;
    c->bytes += bytes;
    c->busy_cycles += cycles;
    if (done)
        pw_events_post(l->events, start + cycles, done, object, argument);
    return start + cycles;
}

const struct pw_link_counters *pw_link_counters(const struct pw_link *l, enum pw_link_direction direction)
{
    return &l->counters[direction];
}

void pw_link_register(struct pw_link *l, struct pw_stats *stats)
{
#define COUNTERS(direction, prefix, way)                                                                               \
    do {                                                                                                               \
        const struct pw_link_counters *c = &l->counters[direction];                                                    \
        pw_stats_counter(stats, prefix ".transfers", "transfers", "Transfers " way ", of all applications.",           \
                         &c->transfers, 0, 0);                                                                         \
        pw_stats_counter(stats, prefix ".transfers_4k", "transfers", "Those of exactly one 4 KiB page.",               \
                         &c->transfers_4k, 0, 0);                                                                      \
        pw_stats_counter(stats, prefix ".bytes", "bytes", "Bytes moved " way ".", &c->bytes, 0, 0);                    \
        pw_stats_counter(stats, prefix ".small_bytes", "bytes",                                                        \
                         "Bytes of single accesses " way ", which are no transfers.", &c->small_bytes, 0, 0);          \
        pw_stats_counter(stats, prefix ".busy_cycles", "cycles", "Cycles of all transfers " way ", queued ones too.",  \
                         &c->busy_cycles, 0, 0);                                                                       \
    } while (0)
    COUNTERS(PW_LINK_H2D, "link.h2d", "from the host to the GPU");
    COUNTERS(PW_LINK_D2H, "link.d2h", "from the GPU to the host");
#undef COUNTERS
}
