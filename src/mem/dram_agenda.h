/* Banks in the order of a time each of them waits for: what lets a DRAM channel look only at those whose time has come.
 *
 * A bank joins nearly always at the end, since it waits for a distance that is nearly always the same (dram.c), and the
 * one that leaves is always the first. */
#ifndef PW_MEM_DRAM_AGENDA_H
#define PW_MEM_DRAM_AGENDA_H

#include "policy/dram/dram_policy.h"

#include <assert.h>

enum { PW_AGENDA_END = PW_DRAM_MAX_BANKS };

/* A ring of banks that begins and ends at PW_AGENDA_END, whose time is PW_NEVER. */
struct pw_agenda {
    uint64_t time[PW_DRAM_MAX_BANKS + 1];
    uint8_t after[PW_DRAM_MAX_BANKS + 1];
    uint8_t last;
};

static inline void pw_agenda_init(struct pw_agenda *a)
{
    a->time[PW_AGENDA_END] = PW_NEVER;
    a->after[PW_AGENDA_END] = a->last = PW_AGENDA_END;
}

static inline uint64_t pw_agenda_next(const struct pw_agenda *a)
{
    return a->time[a->after[PW_AGENDA_END]];
}

static inline void pw_agenda_add(struct pw_agenda *a, uint64_t at, uint32_t bank)
{
    uint32_t before = a->last;
    if (a->time[before] > at)
        for (before = PW_AGENDA_END; a->time[a->after[before]] <= at;)
            before = a->after[before];
    a->time[bank] = at;
    a->after[bank] = a->after[before];
    a->after[before] = (uint8_t)bank;
    if (a->after[bank] == PW_AGENDA_END)
        a->last = (uint8_t)bank;
}

static inline uint32_t pw_agenda_take(struct pw_agenda *a)
{
    uint32_t bank = a->after[PW_AGENDA_END];
    assert(bank < PW_AGENDA_END);
    a->after[PW_AGENDA_END] = a->after[bank];
    if (bank == a->last)
        a->last = PW_AGENDA_END;
    return bank;
}

#endif
