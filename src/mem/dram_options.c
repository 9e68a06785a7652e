/* What can be set of the memory, which of it fits together, and what is measured.
 *
 * The defaults are Mosaic's Table 1: 3 GB of GDDR5 at 1674 MHz on 6 channels with 8 banks and bursts of 8 beats. The
 * paper gives no timings. They are those of the Hynix H5GQ1H24AFR data sheet at 1 GHz, where a clock is a nanosecond
 * (RCD 12, RAS 28, RP 12, RC 40, RRD 6, CL 12, WL 3, WR 12, WTR 5; CCD and RTP are 2 clocks at any speed), as
 * GPGPU-Sim and Ramulator list them too, times 1.674 and rounded up. A channel of 64 bits moves 4 beats, 32 bytes, in
 * a clock. */
#include "mem/dram.h"

#define OFFSET(field) offsetof(struct pw_dram_config, field)
#define TIMING(field, clocks, text)                                                                                    \
    {                                                                                                                  \
        .name = #field, .type = PW_OPTION_COUNT, .offset = OFFSET(field), .min = 1, .max = 10000, .fallback = clocks,  \
        .unit = "DRAM clocks", .help = text                                                                            \
    }
#define COUNT(field, least, most, value, what, text, two)                                                              \
    {                                                                                                                  \
        .name = #field, .type = PW_OPTION_COUNT, .offset = OFFSET(field), .min = least, .max = most,                   \
        .fallback = value, .unit = what, .help = text, .power_of_two = two                                             \
    }

enum { MAX_QUEUE = 4096, MAX_CHANNELS = 1024, MAX_MHZ = 10000 };

static const char *const interleave_names[] = {"line", "page", NULL}; /* enum pw_interleave */
static const char *const rows_names[] = {"open", "closed", NULL};     /* enum pw_dram_rows */

const struct pw_option pw_dram_options[] = {
    {.name = "bytes",
     .type = PW_OPTION_BYTES,
     .offset = OFFSET(bytes),
     .min = 1 << 20,
     .max = 511.0 * (1 << 30), /* 2^32 lines of 128 bytes, less some: the last line number means none */
     .fallback = "3GB",
     .unit = "bytes",
     .help = "Capacity of the whole memory."},
    COUNT(channels, 1, MAX_CHANNELS, "6", "channels", "Channels; lines are spread over them.", false),
    COUNT(banks, 1, PW_DRAM_MAX_BANKS, "8", "banks", "Banks of a channel.", true),
    {.name = "row_bytes",
     .type = PW_OPTION_BYTES,
     .offset = OFFSET(row_bytes),
     .min = PW_LINE_BYTES,
     .max = 1 << 20,
     .fallback = "2KB",
     .unit = "bytes",
     .help = "Bytes of a bank's row.",
     .power_of_two = true},
    COUNT(clock_mhz, 1, MAX_MHZ, "1674", "MHz", "Command clock.", false),
    COUNT(bytes_per_clock, 1, PW_LINE_BYTES, "32", "bytes",
          "Data bus of a channel: its width times the beats in a command clock.", true),
    COUNT(burst_bytes, 1, PW_LINE_BYTES, "64", "bytes", "Smallest transfer: width times burst length.", true),
    TIMING(rcd, "21", "Activation to column access (12 ns)."),
    TIMING(ras, "47", "Activation to precharge of the same bank (28 ns)."),
    TIMING(rp, "21", "Precharge to activation of the same bank (12 ns)."),
    TIMING(rc, "67", "Activation to activation of the same bank (40 ns)."),
    TIMING(rrd, "11", "Activation to activation of another bank (6 ns)."),
    TIMING(ccd, "2", "Column access to column access."),
    TIMING(cl, "21", "Read command to its first data (12 ns)."),
    TIMING(wl, "6", "Write command to its first data (3 ns)."),
    TIMING(wr, "21", "Last written data to precharge (12 ns)."),
    TIMING(wtr, "9", "Last written data to a read command (5 ns)."),
    TIMING(rtp, "2", "Read command to precharge."),
    COUNT(read_queue, 1, MAX_QUEUE, "64", "entries", "Reads that can wait in a channel.", false),
    COUNT(write_queue, 1, MAX_QUEUE, "64", "entries", "Writes that can wait in a channel.", false),
    COUNT(write_high, 1, MAX_QUEUE, "48", "entries", "Waiting writes at which a channel turns to writing.", false),
    {.name = "write_low",
     .type = PW_OPTION_COUNT,
     .offset = OFFSET(write_low),
     .max = MAX_QUEUE,
     .fallback = "16",
     .unit = "entries",
     .help = "Waiting writes at which a channel turns back to waiting reads."},
    {.name = "path",
     .type = PW_OPTION_CYCLES,
     .offset = OFFSET(path),
     .max = 100000,
     .fallback = "0",
     .unit = "cycles",
     .help = "Cycles a request takes from the L2 slice to the channel's queue."},
    {.name = "schedule",
     .type = PW_OPTION_POLICY,
     .offset = OFFSET(schedule),
     .fallback = "fr-fcfs",
     .unit = "",
     .choices = &pw_dram_family,
     .help = "Which waiting request a channel serves next."},
    {.name = "rows",
     .type = PW_OPTION_CHOICE,
     .offset = OFFSET(rows),
     .fallback = "open",
     .unit = "",
     .choices = rows_names,
     .help = "Whether a row stays open until another one is wanted, or is closed when no request for it waits."},
    {.name = "interleave",
     .type = PW_OPTION_CHOICE,
     .offset = OFFSET(interleave),
     .fallback = "line",
     .unit = "",
     .choices = interleave_names,
     .help = "What goes round the channels: lines of 128 bytes, or pages of 4 KB, whose lines then share a channel."},
    {.name = NULL},
};

static bool is_power_of_two(uint64_t n)
{
    return n && !(n & (n - 1));
}

/* The parser has checked ranges already, but a configuration may also be filled in by a program. */
static enum pw_status check_ranges(const struct pw_dram_config *c, struct pw_error *err)
{
    for (const struct pw_option *o = pw_dram_options; o->name; o++) {
        if (o->type == PW_OPTION_CHOICE || o->type == PW_OPTION_POLICY)
            continue;
        const char *field = (const char *)c + o->offset;
        uint64_t value = o->type == PW_OPTION_BYTES ? *(const uint64_t *)field : *(const uint32_t *)field;
        if ((double)value < o->min || (double)value > o->max)
            return pw_fail(err, PW_USER_ERROR, "dram.%s is %llu; it must lie between %.0f and %.0f", o->name,
                           (unsigned long long)value, o->min, o->max);
        if (o->power_of_two && !is_power_of_two(value))
            return pw_fail(err, PW_USER_ERROR, "dram.%s is %llu; it must be a power of two", o->name,
                           (unsigned long long)value);
    }
    return PW_OK;
}

enum pw_status pw_dram_config_check(const struct pw_dram_config *c, struct pw_error *err)
{
    enum pw_status status = check_ranges(c, err);
    if (status)
        return status;
    if (c->burst_bytes < c->bytes_per_clock)
        return pw_fail(err, PW_USER_ERROR, "dram.burst_bytes (%u) must not be less than dram.bytes_per_clock (%u)",
                       c->burst_bytes, c->bytes_per_clock);
    if (c->write_low >= c->write_high)
        return pw_fail(err, PW_USER_ERROR, "dram.write_low (%u) must be less than dram.write_high (%u)", c->write_low,
                       c->write_high);
    if (c->write_high > c->write_queue)
        return pw_fail(err, PW_USER_ERROR, "dram.write_high (%u) must not exceed dram.write_queue (%u)", c->write_high,
                       c->write_queue);
    if (c->ras < c->rcd)
        return pw_fail(err, PW_USER_ERROR, "dram.ras (%u) must not be less than dram.rcd (%u)", c->ras, c->rcd);
    if (c->rc < c->ras)
        return pw_fail(err, PW_USER_ERROR, "dram.rc (%u) must not be less than dram.ras (%u)", c->rc, c->ras);
    char least[PW_SIZE_CAPACITY];
    if (c->bytes / c->channels < c->row_bytes * c->banks)
        return pw_fail(err, PW_USER_ERROR,
                       "dram.bytes is too small: dram.channels = %u of dram.banks = %u need %s at least", c->channels,
                       c->banks, pw_size_text(least, c->row_bytes * c->banks * c->channels, true));
    uint32_t schedules = 0;
    while (pw_dram_family.policies[schedules])
        schedules++;
    if (c->schedule.index >= schedules)
        return pw_fail(err, PW_USER_ERROR, "dram.schedule is %u; there are %u schedules", c->schedule.index, schedules);
    return PW_OK;
}

void pw_dram_register(struct pw_stats *stats, struct pw_dram_counters *counters)
{
    static const struct {
        const char *name, *unit, *help;
        size_t offset;
    } rows[] = {
#define ROW(name, unit, field, help) {"dram." name, unit, help, offsetof(struct pw_dram_counters, field)}
        ROW("reads", "requests", reads, "Reads that DRAM served."),
        ROW("writes", "requests", writes, "Lines written to DRAM."),
        ROW("row_hits", "requests", row_hits, "Requests that found their row open."),
        ROW("row_misses", "requests", row_misses, "Requests whose bank had no open row."),
        ROW("row_conflicts", "requests", row_conflicts, "Requests for which another row had to be closed."),
        ROW("bytes", "bytes", read_bytes, "Bytes moved over the data buses."),
        ROW("read_bytes", "bytes", read_bytes, "Bytes read."),
        ROW("write_bytes", "bytes", write_bytes, "Bytes written."),
        ROW("translation.bytes", "bytes", translation_bytes, "Bytes moved for page-table reads."),
        ROW("translation.reads", "requests", translation_reads, "Page-table reads that DRAM served."),
        ROW("translation.row_hits", "requests", translation_row_hits, "Those that found their row open."),
        ROW("data.bytes", "bytes", data_bytes, "Bytes moved for everything but page-table reads."),
        ROW("busy_clocks", "DRAM clocks", busy_clocks, "Clocks in which a data bus carried data, over all channels."),
        ROW("accesses", "requests", reads, NULL),
        ROW("data.reads", "requests", data_reads, NULL),
        ROW("translation.latency", "cycles", translation_latency, NULL),
        ROW("data.latency", "cycles", data_latency, NULL),
#undef ROW
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        pw_stats_counter(stats, rows[i].name, rows[i].unit, rows[i].help, counters, sizeof(*counters), rows[i].offset);
    pw_stats_further_place(stats, "dram.accesses", counters, sizeof(*counters),
                           offsetof(struct pw_dram_counters, writes));
    pw_stats_further_place(stats, "dram.bytes", counters, sizeof(*counters),
                           offsetof(struct pw_dram_counters, write_bytes));
    pw_stats_ratio(stats, "dram.translation.latency_mean", "cycles",
                   "Mean time of a page-table read from the DRAM queue to its last data.", "dram.translation.latency",
                   "dram.translation.reads", 1);
    pw_stats_ratio(stats, "dram.data.latency_mean", "cycles",
                   "Mean time of a data read from the DRAM queue to its last data.", "dram.data.latency",
                   "dram.data.reads", 1);
    pw_stats_identity(stats, "dram.accesses", "dram.row_hits + dram.row_misses + dram.row_conflicts");
    pw_stats_identity(stats, "dram.reads", "dram.translation.reads + dram.data.reads");
    pw_stats_identity(stats, "dram.bytes", "dram.translation.bytes + dram.data.bytes");
}
