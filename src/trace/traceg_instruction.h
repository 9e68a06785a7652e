/* One instruction of a warp in a kernel's trace by Accel-Sim, a line of text:
 *
 *     [line] PC mask results [R1 …] NAME sources [R2 …] width [mode addresses] [immediate]
 *     [line] PC mask results [R1 …] NAME sources [UR2 …] [group] width [mode addresses] immediate [second] values
 *
 * The second form is that of version 6: registers may be uniform ones (UR) or predicates (P, UP), which nothing here
 * waits for; names with GMMA have a flag more; and the line ends with `NoVal`, or with `Val` and for each register one
 * value or 32. A tensor copy has fields of its own in place of the addresses (traceg_tensor.c).
 *
 * PC and mask are hexadecimal. An address field follows a width above 0, in one of three modes: an address for each
 * active lane; base and stride of one run of active lanes; base and the difference of each active lane's address from
 * that of the active lane before it. What follows the registers of an instruction that is no access to global memory,
 * no barrier and no wait is not looked at.
 *
 * The tracer writes LDGSTS twice, with the address in shared memory and with that in global memory. Both lines
 * together are one instruction. */
#ifndef PW_TRACE_TRACEG_INSTRUCTION_H
#define PW_TRACE_TRACEG_INSTRUCTION_H

#include "trace/text_scan.h"
#include "trace/traceg_header.h"
#include "trace/warp_ops.h"

enum {
    PW_TRACEG_REGISTERS = 16, /* in a list; the tracer writes at most 1 and 5 */
    PW_TRACEG_HEADS = 512,
    PW_TRACEG_HEAD_WORDS = 8,
};

/* What comes before the addresses. */
struct pw_traceg_instruction {
    uint64_t pc;
    uint32_t mask;
    uint32_t result_count, source_count; /* vector registers */
    uint32_t listed, listed_results;     /* registers of all kinds, which a line with values has values of */
    uint8_t results[PW_TRACEG_REGISTERS], sources[PW_TRACEG_REGISTERS];
    struct pw_sass sass;
};

/* A line's beginning that was read before, since a program runs few instructions again and again: up to the addresses,
 * or the whole line where nothing of interest follows. Longer ones are read anew every time. */
struct pw_traceg_head {
    uint64_t text[PW_TRACEG_HEAD_WORDS]; /* filled up with zeroes */
    uint32_t length;                     /* 0: none */
    struct pw_traceg_instruction in;
};

/* An address of 16 digits: eight of them, the other eight, and what they say. */
struct pw_traceg_address {
    uint64_t upper, lower, value;
};

struct pw_traceg_reader {
    struct pw_warp_ops ops;
    struct pw_sass_cache names;
    uint32_t lanes;       /* of the warp */
    uint32_t block_lanes; /* of a CTA's warps, as far as they are whole */
    bool line_numbers;
    bool has_operations; /* as in the head */
    bool six;            /* version 6 of the tracer, or later */
    bool copy_begun;     /* the line before was the first of an LDGSTS */
    uint32_t copy_mask;
    uint64_t copy_pc;
    uint64_t shared_base, local_base;
    uint64_t copied;     /* bytes by tensor copies, for the watch; the caller sets it to 0 */
    const char *problem; /* of the line that was not understood */
    struct pw_traceg_address last;
    uint64_t addresses[PW_WARP_LANES];
    struct pw_traceg_head heads[PW_TRACEG_HEADS];
};

/* Before the first of a kernel's. */
void pw_traceg_reader_init(struct pw_traceg_reader *r, const struct pw_traceg_header *h, struct pw_trace_writer *out);

/* What follows the addresses of an instruction; fields that the line does not have are 0. */
struct pw_traceg_tail {
    uint64_t first, second; /* immediates */
    uint64_t value;         /* of the first lane in the first destination register */
    bool has_values;
};

/* Up to the end of the line. NULL: `problem` says why. */
const char *pw_traceg_read_tail(struct pw_traceg_reader *r, const char *at, const struct pw_traceg_instruction *in,
                                struct pw_traceg_tail *out);

/* A tensor copy behind its registers, given to the warp under way as accesses. NULL: `problem` says why. */
const char *pw_traceg_read_tensor(struct pw_traceg_reader *r, const char *at, const struct pw_traceg_instruction *in);

/* The next field, where a field ends here; NULL where `at` is. */
static inline const char *pw_traceg_next_field(const char *at)
{
    if (__builtin_expect(at && at[0] == ' ' && at[1] > ' ', 1))
        return at + 1;
    return at && pw_scan_ends(*at) ? pw_scan_blanks(at) : NULL;
}

static inline const char *pw_traceg_refuse(struct pw_traceg_reader *r, const char *problem)
{
    r->problem = problem;
    return NULL;
}

/* Reads the instruction that a line begins with and gives it to the warp under way. NULL: it is not understood, and
 * `problem` says why. Returns a place in the line. */
const char *pw_traceg_read_instruction(struct pw_traceg_reader *r, const char *at);

#endif
