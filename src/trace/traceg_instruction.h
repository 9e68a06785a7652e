/* One instruction of a warp in a kernel's trace by Accel-Sim, a line of text:
 *
 *     [line] PC mask results [R1 …] NAME sources [R2 …] width [mode addresses] [immediate]
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
    uint32_t result_count, source_count;
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
    uint32_t lanes; /* of the warp */
    bool line_numbers;
    bool copy_begun; /* the line before was the first of an LDGSTS */
    uint32_t copy_mask;
    uint64_t copy_pc;
    uint64_t shared_base, local_base;
    const char *problem; /* of the line that was not understood */
    struct pw_traceg_address last;
    uint64_t addresses[PW_WARP_LANES];
    struct pw_traceg_head heads[PW_TRACEG_HEADS];
};

/* Before the first of a kernel's. */
void pw_traceg_reader_init(struct pw_traceg_reader *r, const struct pw_traceg_header *h, struct pw_trace_writer *out);

/* Reads the instruction that a line begins with and gives it to the warp under way. NULL: it is not understood, and
 * `problem` says why. Returns a place in the line. */
const char *pw_traceg_read_instruction(struct pw_traceg_reader *r, const char *at);

#endif
