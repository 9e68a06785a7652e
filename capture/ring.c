/* The host's end of the ring: see the header. */
#include "ring.h"

#include <string.h>

/* Of the ring that is read before cells are given back: a message to the GPU for each would be dear, one too rare would
 * make it wait. */
enum { GIVE_BACK_SHARE = 16 };

bool pw_capture_ring_next(struct pw_capture_ring *r, struct pw_capture_cell *out_head, uint64_t out_addresses[32])
{
    struct pw_capture_cell *head = &r->cells[r->at & (r->count - 1)];
    uint64_t first = __atomic_load_n((const uint64_t *)(const void *)head, __ATOMIC_ACQUIRE);
    if (!(first & 0xff))
        return false;
    memcpy(out_head, head, sizeof *head);
    memset(head, 0, sizeof *head);
    uint64_t used = 1;
    if (out_head->form == PW_CAPTURE_LANES) {
        uint32_t lanes = (uint32_t)__builtin_popcount(out_head->mask);
        for (uint32_t i = 0; i < lanes; i += PW_CAPTURE_ADDRESSES_PER_CELL) {
            uint32_t left = lanes - i < PW_CAPTURE_ADDRESSES_PER_CELL ? lanes - i : PW_CAPTURE_ADDRESSES_PER_CELL;
            struct pw_capture_cell *cell = &r->cells[(r->at + used++) & (r->count - 1)];
            memcpy(&out_addresses[i], cell, left * sizeof *out_addresses);
            memset(cell, 0, sizeof *cell);
        }
    }
    r->at += used;
    if (r->at - *r->given >= r->count / GIVE_BACK_SHARE)
        __atomic_store_n(r->given, r->at, __ATOMIC_RELEASE);
    return true;
}
