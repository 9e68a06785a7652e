/* Which channel and L2 slice a physical line belongs to.
 *
 * Units of one line, or of one 4 KiB page, interleave over all channels, whatever their number. Within each group of
 * `channels` consecutive units the order is permuted by a hash of the group's number, so that strides do not pile up on
 * one channel: by XOR where the number of channels is a power of two, by rotation otherwise. Both are one-to-one, so a
 * unit's number within its channel is simply the number of its group. Slices of a channel divide its lines in the same
 * way, line by line in either case. */
#ifndef PW_MEM_MEMORY_MAP_H
#define PW_MEM_MEMORY_MAP_H

#include "sim/divisor.h"
#include "sim/types.h"

/* What interleaves over channels: lines, or 4 KiB pages. */
enum pw_interleave { PW_INTERLEAVE_LINE, PW_INTERLEAVE_PAGE };

struct pw_memory_map {
    struct pw_divisor channels;
    struct pw_divisor by_line; /* as channels, where lines interleave; its reciprocal is 0 where pages do */
    struct pw_divisor slices;  /* per channel */
    uint32_t unit_shift;       /* lines of a unit, as a power of two */
    bool channels_power_of_two, slices_power_of_two;
};

static inline struct pw_memory_map pw_memory_map_of(uint32_t channels, uint32_t slices_per_channel,
                                                    enum pw_interleave interleave)
{
    bool by_line = interleave == PW_INTERLEAVE_LINE;
    return (struct pw_memory_map){.channels = pw_divisor_of(channels),
                                  .by_line = by_line ? pw_divisor_of(channels) : (struct pw_divisor){0, channels},
                                  .slices = pw_divisor_of(slices_per_channel),
                                  .unit_shift = by_line ? 0 : PW_PAGE_SHIFT - PW_LINE_SHIFT,
                                  .channels_power_of_two = (channels & (channels - 1)) == 0,
                                  .slices_power_of_two = (slices_per_channel & (slices_per_channel - 1)) == 0};
}

static inline uint32_t pw_fold(uint32_t x)
{
    x ^= x >> 17;
    x ^= x >> 9;
    x ^= x >> 5;
    return x;
}

/* Slices take a hash of another kind than channels: two of the same kind would choose slice and channel by the same
 * bits and leave half of the pairs unused. So do pages over channels: the bits that choose a page's channel lie among
 * those that choose its sets, and folded alike they would leave one of n applications, whose frames are every n-th, a
 * fraction of the sets. They take it twice, since once is nearly periodic and some n would find the period. */
static inline uint32_t pw_scatter(uint32_t x)
{
    return x * 0x9e3779b1U >> 16;
}

static inline uint32_t pw_permute(uint32_t place, uint32_t hash, struct pw_divisor d, bool power_of_two)
{
    return power_of_two ? (place ^ hash) & (d.by - 1) : pw_remainder(place + (hash & 0xffff), d);
}

/* Where a line lies. */
struct pw_place {
    uint32_t channel;
    uint32_t slice;         /* over all channels */
    uint32_t local;         /* its number within the channel */
    uint32_t line_of_slice; /* its number within the slice */
};

/* All of it at once, since each follows from the one before. The first case is the usual one, tested together with the
 * divisor. */
static inline struct pw_place pw_place_of(const struct pw_memory_map *m, uint32_t line)
{
    uint32_t unit = line, group, hash, local;
    if (__builtin_expect(m->by_line.reciprocal != 0, 1)) {
        local = group = pw_quotient(line, m->by_line);
        hash = pw_fold(group);
    } else {
        unit = line >> m->unit_shift;
        group = pw_quotient(unit, m->channels);
        hash = pw_scatter(pw_scatter(group));
        local = (group << m->unit_shift) + (line - (unit << m->unit_shift));
    }
    struct pw_place p = {.local = local, .line_of_slice = pw_quotient(local, m->slices)};
    p.channel = pw_permute(unit - group * m->channels.by, hash, m->channels, m->channels_power_of_two);
    p.slice = p.channel * m->slices.by + pw_permute(local - p.line_of_slice * m->slices.by, pw_scatter(p.line_of_slice),
                                                    m->slices, m->slices_power_of_two);
    return p;
}

/* What chooses a line's set within its slice: its number there, hashed, since the frames of one of n applications are
 * those congruent to each other modulo n and would otherwise share a fraction of the sets. One-to-one over aligned
 * powers of two, so that what is contiguous still spreads evenly. */
static inline uint32_t pw_set_index(struct pw_place p)
{
    return pw_fold(p.line_of_slice);
}

/* The number of a line within its channel. */
static inline uint32_t pw_channel_line(const struct pw_memory_map *m, uint32_t line)
{
    return pw_place_of(m, line).local;
}

#endif
