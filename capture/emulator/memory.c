/* Loads and stores. Of generic ones each lane accesses what its own address belongs to. */
#include "operands.h"

#include <string.h>

static int64_t signed_offset(struct instruction i)
{
    return (int32_t)(bits(i, 40, 24) << 8) >> 8;
}

/* Where in shared memory an address is. A generic one has the window's bit set. */
static uint8_t *shared_at(const struct state *s, uint64_t address, uint32_t bytes)
{
    address &= SHARED_WINDOW - 1;
    if (address + bytes > SHARED_BYTES)
        unknown(s, "address behind shared memory");
    return s->m->shared + address;
}

static void load_value(struct state *s, uint32_t lane, const void *from, uint32_t type)
{
    uint32_t words[4] = {0}, bytes = bytes_of_type(type), d = destination(s);
    memcpy(words, from, bytes);
    if (type == 1)
        words[0] = (uint32_t)(int32_t)(int8_t)words[0];
    if (type == 3)
        words[0] = (uint32_t)(int32_t)(int16_t)words[0];
    for (uint32_t i = 0; i < (bytes + 3) / 4; i++)
        set(s, d == ZERO_REGISTER ? d : d + i, lane, words[i]);
}

static void store_value(struct state *s, uint32_t lane, void *to, uint32_t type)
{
    uint32_t words[4], bytes = bytes_of_type(type), r = bits(s->i, 32, 8);
    for (uint32_t i = 0; i < (bytes + 3) / 4; i++)
        words[i] = get(s, r == ZERO_REGISTER ? r : r + i, lane);
    memcpy(to, words, bytes);
}

static uint64_t global_address(const struct state *s, uint32_t lane)
{
    uint32_t r = bits(s->i, 24, 8);
    bool wide = bit(s->i, 90) || !bit(s->i, 91);
    return (wide ? get64(s, r, lane) : get(s, r, lane)) + (uint64_t)signed_offset(s->i);
}

/* Of global memory, or through generic addresses. */
static void access(struct state *s, enum effect_kind kind, bool generic)
{
    uint32_t type = bits(s->i, 73, 3);
    struct effect *e = &s->m->effect;
    e->kind = kind;
    e->bytes = bytes_of_type(type);
    FOR_LANES(lane, s->lanes)
    {
        uint64_t address = e->addresses[lane] = global_address(s, lane);
        void *at;
        memcpy(&at, &address, sizeof at);
        if (generic && address >> 32 == SHARED_WINDOW_HIGH) {
            at = shared_at(s, address, e->bytes);
            e->in_shared |= 1U << lane;
        }
        if (kind == EFFECT_LOAD)
            load_value(s, lane, at, type);
        else
            store_value(s, lane, at, type);
    }
    e->lanes &= ~e->in_shared;
}

static uint64_t shared_address(const struct state *s, uint32_t lane, uint32_t uniform_at)
{
    uint64_t address = get(s, bits(s->i, 24, 8), lane) + (uint64_t)signed_offset(s->i);
    return address + (bit(s->i, 91) ? get_uniform(s, bits(s->i, uniform_at, 8)) : 0);
}

static void shared_load(struct state *s)
{
    uint32_t type = bits(s->i, 73, 3);
    s->m->effect.kind = EFFECT_SHARED;
    FOR_LANES(lane, s->lanes)
    load_value(s, lane, shared_at(s, shared_address(s, lane, 32), bytes_of_type(type)), type);
}

static void shared_store(struct state *s)
{
    uint32_t type = bits(s->i, 73, 3);
    s->m->effect.kind = EFFECT_SHARED;
    FOR_LANES(lane, s->lanes)
    store_value(s, lane, shared_at(s, shared_address(s, lane, 64), bytes_of_type(type)), type);
}

static void constant_load(struct state *s)
{
    uint32_t type = bits(s->i, 73, 3), bytes = bytes_of_type(type);
    FOR_LANES(lane, s->lanes)
    {
        uint32_t offset = get(s, bits(s->i, 24, 8), lane) + bits(s->i, 38, 16);
        uint64_t value = constant(s, bits(s->i, 54, 5), offset, bytes);
        load_value(s, lane, &value, type);
    }
}

static void global_load(struct state *s)
{
    access(s, EFFECT_LOAD, false);
}

static void global_store(struct state *s)
{
    access(s, EFFECT_STORE, false);
}

static void generic_load(struct state *s)
{
    access(s, EFFECT_LOAD, true);
}

static void generic_store(struct state *s)
{
    access(s, EFFECT_STORE, true);
}

const struct operation memory_operations[] = {
    {0x180, generic_load},  {0x181, global_load},  {0x182, constant_load}, {0x184, shared_load},
    {0x185, generic_store}, {0x186, global_store}, {0x188, shared_store},  {0, NULL},
};
