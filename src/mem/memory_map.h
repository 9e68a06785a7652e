/* Which channel and L2 slice a physical line belongs to.
 *
 * Lines interleave over all channels, whatever their number. Within each group of `channels` consecutive lines the
 * order is permuted by a hash of the group's number, so that strides do not pile up on one channel: by XOR where the
 * number of channels is a power of two, by rotation otherwise. Both are one-to-one, so a line's number within its
 * channel is simply the number of its group. Slices of a channel divide its lines in the same way. */
#ifndef PW_MEM_MEMORY_MAP_H
#define PW_MEM_MEMORY_MAP_H

#include "sim/divisor.h"
#include "sim/types.h"

struct pw_memory_map {
    struct pw_divisor channels;
    struct pw_divisor slices; /* per channel */
    bool channels_power_of_two, slices_power_of_two;
};

static inline struct pw_memory_map pw_memory_map_of(uint32_t channels, uint32_t slices_per_channel)
{
    return (struct pw_memory_map){pw_divisor_of(channels), pw_divisor_of(slices_per_channel),
                                  (channels & (channels - 1)) == 0,
                                  (slices_per_channel & (slices_per_channel - 1)) == 0};
}

static inline uint32_t pw_fold(uint32_t x)
{
    x ^= x >> 17;
    x ^= x >> 9;
    x ^= x >> 5;
    return x;
}

/* Slices take a hash of another kind than channels: two of the same kind would choose slice and channel by the same bits
 * and leave half of the pairs unused. */
static inline uint32_t pw_scatter(uint32_t x)
{
    return x * 0x9e3779b1U >> 16;
}

static inline uint32_t pw_permute(uint32_t place, uint32_t hash, struct pw_divisor d, bool power_of_two)
{
    return power_of_two ? (place ^ hash) & (d.by - 1) : pw_remainder(place + (hash & 0xffff), d);
}

/* The number of a line within its channel. */
static inline uint32_t pw_channel_line(const struct pw_memory_map *m, uint32_t line)
{
    return pw_quotient(line, m->channels);
}

/* The number of a line within its slice. */
static inline uint32_t pw_slice_line(const struct pw_memory_map *m, uint32_t line)
{
    return pw_quotient(pw_channel_line(m, line), m->slices);
}

/* What chooses a line's set within its slice: its number there, hashed, since the frames of one of n applications are
 * those congruent to each other modulo n and would else share a fraction of the sets. One-to-one over aligned powers of
 * two, so that what is contiguous still spreads evenly. */
static inline uint32_t pw_set_index(const struct pw_memory_map *m, uint32_t line)
{
    return pw_fold(pw_slice_line(m, line));
}

static inline uint32_t pw_channel_of(const struct pw_memory_map *m, uint32_t line)
{
    uint32_t group = pw_channel_line(m, line);
    return pw_permute(line - group * m->channels.by, pw_fold(group), m->channels, m->channels_power_of_two);
}

/* The slice of a line, numbered over all channels. */
static inline uint32_t pw_slice_of(const struct pw_memory_map *m, uint32_t line)
{
    uint32_t local = pw_channel_line(m, line), group = pw_quotient(local, m->slices);
    return pw_channel_of(m, line) * m->slices.by +
           pw_permute(local - group * m->slices.by, pw_scatter(group), m->slices, m->slices_power_of_two);
}

#endif
