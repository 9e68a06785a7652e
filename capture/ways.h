/* Ways between recorded instructions of a launch. Each is searched in the machine code once and remembered, as two places
 * are joined by one way. Where the code does not tell, the distance of the program counters counts, and a jump back is one
 * instruction. */
#ifndef PW_CAPTURE_WAYS_H
#define PW_CAPTURE_WAYS_H

#include "pace.h"

enum { PW_CAPTURE_RUNS = 12 };

struct pw_capture_way {
    uint64_t key; /* of the last and the next program counter; 0: none */
    bool known;   /* from the code */
    uint8_t count;
    struct pw_code_run runs[PW_CAPTURE_RUNS];
    struct pw_pace_way pace; /* if it is known */
};

struct pw_capture_ways;

/* `code`, which lies at `address` and may be NULL, must outlast the object. NULL: out of memory. */
struct pw_capture_ways *pw_capture_ways_new(const struct pw_code_function *code, uint64_t address);
void pw_capture_ways_free(struct pw_capture_ways *w); /* NULL is fine */

/* From behind the instruction at `last`, or from the entry if that is 0, to the one at `pc`. Valid until the next call. */
const struct pw_capture_way *pw_capture_ways_find(struct pw_capture_ways *w, uint64_t last, uint64_t pc);

/* The instruction at a program counter; NULL if the code is not known. */
const struct pw_code_instruction *pw_capture_ways_instruction(const struct pw_capture_ways *w, uint64_t pc);

#endif
