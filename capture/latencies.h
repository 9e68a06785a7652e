/* How long the units of an SM take that have no fixed latency, global memory left out. */
#ifndef PW_CAPTURE_LATENCIES_H
#define PW_CAPTURE_LATENCIES_H

#include <stdint.h>

/* Cycles from the issue of an instruction until the scoreboard of its result is released, and that of its operands;
 * both 0 for what releases them at once. */
struct pw_latency {
    uint8_t result, operands;
};

/* `opcode` is the lowest nine bits of an instruction: the three above them say what its operands are. */
struct pw_latency pw_latency_of(uint32_t opcode);

#endif
