/* Operations of one warp as few bytes, in program order (docs/trace-format.md, "Operations").
 *
 * Kernels are loops. What an access does now it has done in the last round too, some accesses before, at an address
 * that has moved by what it moved then. So the coder remembers the last eight accesses, each with its step: how far it
 * was from the one that it was told from. An access is told as one of these (the cheapest for the encoder), and how far
 * its address is from that one's address and step. In a steady loop that is one number, zero, and the same two bytes in
 * every round, which zstd makes nearly nothing of.
 *
 * Addresses of an access that is not affine follow as differences from lane to lane, or, where these are longer, as
 * offsets from the lowest address in as many bits as the largest needs: that is what lanes cost that jump at random. */
#ifndef PW_TRACE_OP_CODER_H
#define PW_TRACE_OP_CODER_H

#include "trace/op.h"

#include <stddef.h>
#include <stdint.h>

enum {
    PW_TRACE_RECENT = 8,   /* accesses from which the next one's address is told */
    PW_OP_CODE_MOST = 352, /* bytes of an operation: tag, loads in flight, address, mask, width and 31 varints */
    PW_OP_CODE_SLACK = 8,  /* bytes behind the last one that can be read, whatever they are */
};

struct pw_op_recent {
    uint64_t address;     /* of the first active lane; of an access in packed form, the lowest */
    int32_t step, stride; /* 0 where they do not fit */
    uint32_t mask;
    uint8_t bytes, loads_in_flight;
};

struct pw_op_coder {
    struct pw_op_recent recent[PW_TRACE_RECENT]; /* a ring */
    uint32_t newest;
    uint32_t guess; /* of the encoder: how many accesses before its own the last one was told from */
};

/* Before a warp's first operation; `origin` is an address that its first access is close to. */
void pw_op_coder_start(struct pw_op_coder *c, uint64_t origin);

/* Whether an operation can be coded: known kind, form and width, a mask that is not 0; `form` and `bytes` 0 where there
 * are no addresses. */
static inline bool pw_op_is_sound(const struct pw_op *op)
{
    if (!pw_op_is_access(*op))
        return op->kind < PW_OP_KIND_COUNT && !op->form && !op->bytes;
    bool power_of_two = op->bytes && !(op->bytes & (op->bytes - 1));
    return op->form <= PW_FORM_LANES && op->count_or_mask && op->bytes <= 16 && power_of_two;
}

/* Codes a sound operation; its bytes, at most PW_OP_CODE_MOST. */
size_t pw_op_encode(struct pw_op_coder *c, const struct pw_op *op, const uint64_t *words, uint8_t *out);

#endif
