/* An instruction on its way: its fields, and the registers of the group of lanes that executes it.
 *
 * An instruction has 128 bits: the opcode in bits 0 to 8, the form of its operands in 9 to 11, its guard in 12 to 15, the
 * destination in 16 to 23, operands at 24, 32 and 64, modifiers from 72 on. */
#ifndef PW_EMULATOR_STATE_H
#define PW_EMULATOR_STATE_H

#include "execute.h"

#include <stdbool.h>

#define FOR_LANES(lane, lanes)                                                                                         \
    for (uint32_t m_ = (lanes), lane; m_ && (lane = (uint32_t)__builtin_ctz(m_), 1); m_ &= m_ - 1)

struct state {
    struct machine *m;
    struct warp *w;
    struct instruction i;
    uint32_t lanes; /* whose guard is true */
};

/* What an opcode does. Tables end with a row without a function. */
struct operation {
    uint32_t opcode;
    void (*execute)(struct state *s);
};

extern const struct operation integer_operations[], float_operations[], memory_operations[], uniform_operations[];

__attribute__((noreturn)) void unknown(const struct state *s, const char *what);

static inline uint32_t bits(struct instruction i, uint32_t at, uint32_t count)
{
    uint64_t value = at >= 64 ? i.high >> (at - 64) : i.low >> at;
    if (at < 64 && at + count > 64)
        value |= i.high << (64 - at);
    return (uint32_t)(value & ((1ULL << count) - 1));
}

static inline bool bit(struct instruction i, uint32_t at)
{
    return bits(i, at, 1);
}

static inline uint32_t opcode_of(struct instruction i)
{
    return bits(i, 0, 9);
}

static inline uint32_t form_of(struct instruction i)
{
    return bits(i, 9, 3);
}

/* Registers and predicates. */

static inline uint32_t get(const struct state *s, uint32_t reg, uint32_t lane)
{
    return reg == ZERO_REGISTER ? 0 : s->w->registers[reg][lane];
}

static inline void set(struct state *s, uint32_t reg, uint32_t lane, uint32_t value)
{
    if (reg != ZERO_REGISTER)
        s->w->registers[reg][lane] = value;
}

static inline uint64_t get64(const struct state *s, uint32_t reg, uint32_t lane)
{
    return reg == ZERO_REGISTER ? 0 : (uint64_t)s->w->registers[reg + 1][lane] << 32 | s->w->registers[reg][lane];
}

static inline void set64(struct state *s, uint32_t reg, uint32_t lane, uint64_t value)
{
    set(s, reg, lane, (uint32_t)value);
    if (reg != ZERO_REGISTER)
        set(s, reg + 1, lane, (uint32_t)(value >> 32));
}

static inline uint32_t get_uniform(const struct state *s, uint32_t reg)
{
    return reg == ZERO_UNIFORM ? 0 : s->w->uniform[reg];
}

static inline uint64_t get_uniform64(const struct state *s, uint32_t reg)
{
    return get_uniform(s, reg) | (reg == ZERO_UNIFORM ? 0 : (uint64_t)get_uniform(s, reg + 1) << 32);
}

static inline void set_uniform(struct state *s, uint32_t reg, uint32_t value)
{
    if (reg != ZERO_UNIFORM)
        s->w->uniform[reg] = value;
}

static inline uint32_t predicate_mask(const struct warp *w, uint32_t predicate, bool negated)
{
    uint32_t mask = predicate == TRUE_PREDICATE ? UINT32_MAX : w->predicates[predicate];
    return negated ? ~mask : mask;
}

static inline bool predicate(const struct state *s, uint32_t at, uint32_t not_at, uint32_t lane)
{
    return predicate_mask(s->w, bits(s->i, at, 3), bit(s->i, not_at)) >> lane & 1;
}

static inline bool uniform_predicate(const struct state *s, uint32_t at, uint32_t not_at)
{
    uint32_t p = bits(s->i, at, 3);
    return (p == TRUE_PREDICATE || (s->w->uniform_predicates >> p & 1)) != bit(s->i, not_at);
}

static inline void set_predicate(struct state *s, uint32_t at, uint32_t lane, bool value)
{
    uint32_t p = bits(s->i, at, 3);
    if (p != TRUE_PREDICATE)
        s->w->predicates[p] = (s->w->predicates[p] & ~(1U << lane)) | (uint32_t)value << lane;
}

static inline void set_uniform_predicate(struct state *s, uint32_t at, bool value)
{
    uint32_t p = bits(s->i, at, 3);
    if (p != TRUE_PREDICATE)
        s->w->uniform_predicates = (s->w->uniform_predicates & ~(1U << p)) | (uint32_t)value << p;
}

static inline uint32_t destination(const struct state *s)
{
    return bits(s->i, 16, 8);
}

#endif
