/* The machine code of a module, as far as a trace needs it: what an instruction waits for and how long, and where it
 * may go on.
 *
 * The accesses that are recorded come with their program counters. What lies between two of them is read from the code:
 * the shortest way from one to the other, its instructions counted, and of each the scoreboards that it waits for. A
 * load names the scoreboard that its arrival clears, so the first use of what it loads is the first instruction that
 * waits for that. On Volta to Hopper these are fields of every 16-byte instruction: opcode in bits 0 to 11, predicate
 * in 12 to 15 (7: always), of a branch its distance, cycles until the warp may issue the next one (its stall count) in
 * bits 105 to 108, scoreboard to set in 110 to 112 (7: none), another one for its operands in 113 to 115, mask of those
 * to wait for in 116 to 121. They are undocumented, but published (Jia et al., "Dissecting the NVIDIA Volta GPU
 * architecture via microbenchmarking", 2018) and the same since; the form of a branch's distance is taken from
 * the branch to itself that ends every kernel.
 *
 * Registers stand in the attributes of the image since sm_90, before that beside the section's symbol; since sm_90 the
 * section of a kernel's shared memory has the system's own 1,024 bytes at its beginning.
 *
 * Left out: indirect branches (BRX, JMX, returns) lead nowhere here and calls to the next instruction; the code of a
 * function that is called is not counted. Where there are several ways, the one that was gone may be a longer one. */
#ifndef PW_CAPTURE_CODE_H
#define PW_CAPTURE_CODE_H

#include "latencies.h"
#include "sim/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PW_CODE_INSTRUCTION_BYTES = 16, /* on sm_70 and later */
    PW_CODE_SCOREBOARDS = 6,
    PW_CODE_NO_SCOREBOARD = 7,
};

struct pw_code_instruction {
    uint8_t waits_for;          /* bits: scoreboards */
    uint8_t scoreboard;         /* that it sets until its result is there, or PW_CODE_NO_SCOREBOARD */
    uint8_t operand_scoreboard; /* likewise, until it has read its operands */
    uint8_t stall;              /* cycles until its warp may issue the next one, at least 1 */
    struct pw_latency latency;
    bool goes_on;    /* the next instruction may follow */
    bool branches;   /* `target` may follow */
    bool generic;    /* accesses memory of any kind through pointers (LD, ST, ATOM) */
    bool guarded;    /* by a predicate: not all lanes that are here need to execute it */
    bool joins;      /* lanes wait here for those that went another way (BSYNC) */
    uint32_t target; /* number of the instruction */
};

struct pw_code_function {
    char *name;
    struct pw_code_instruction *instructions;
    uint32_t count;
    uint32_t registers, shared_bytes; /* of a thread, and statically of a CTA; registers 0: not known */
    bool
        /* it may access global memory by copies that are not recorded: of tensors, or to global memory */
        unseen_copies;
};

struct pw_code {
    struct pw_code_function *functions;
    size_t count;
};

/* Decodes the kernels of an ELF image of machine code; `wanted` may be NULL: all of them. A file that is none is an
 * error. On success out is to be freed with pw_code_free. */
enum pw_status pw_code_read(const void *image, size_t bytes, bool wanted(const void *context, const char *name),
                            const void *context, struct pw_code *out, struct pw_error *err);
void pw_code_free(struct pw_code *code);

/* Whether an image has a kernel that is wanted. */
enum pw_status pw_code_scan(const void *image, size_t bytes, bool wanted(const void *context, const char *name),
                            const void *context, bool *out_found, struct pw_error *err);
const struct pw_code_function *pw_code_find(const struct pw_code *code, const char *name);

/* Fills in `count` instructions from their encoding. */
void pw_code_decode(const uint8_t *bytes, uint32_t count, struct pw_code_instruction *out);

/* A run of instructions of which at most the first waits for scoreboards. */
struct pw_code_run {
    uint32_t instructions;
    uint8_t waits_for;
    bool joins; /* one of them does */
};

/* Where a way begins that comes from nowhere: at the kernel's first instruction. */
#define PW_CODE_ENTRY UINT32_MAX

struct pw_pace_way; /* pace.h */

/* The shortest way from behind instruction `from` to `to`, which is not part of it, as runs; at most `max`, the last of
 * which then stands for all further ones. from == to is once around a loop. Returns their number, or -1 if no way is
 * found; then out_pace, which may be NULL, is not set. `scratch` has room for 2 * f->count words. */
int pw_code_way(const struct pw_code_function *f, uint32_t from, uint32_t to, uint32_t *scratch,
                struct pw_code_run *out_runs, int max, struct pw_pace_way *out_pace);

#endif
