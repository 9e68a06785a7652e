/* Latencies of units that tell by a scoreboard when they have finished, on Hopper as far as somebody has measured them.
 *
 * Sources: MT4G, the topology tool of the Technical University of Munich, on an H100 of 1,980 MHz (medians of its
 * pointer chases); Jia et al., "Dissecting the NVidia Turing T4 GPU via microbenchmarking" (2019), as Mesa's compiler
 * has it. Rows marked (assumed) are from neither.
 *
 * What is in no row releases its scoreboards at once: accesses to global and local memory, whose time is the
 * simulator's, and units that nobody here has met. Bank conflicts are left out. */
#include "latencies.h"

#include <stddef.h>

static const struct {
    uint16_t first, last; /* opcodes */
    uint8_t cycles;
} units[] = {
    {0x184, 0x184, 30}, /* LDS: MT4G */
    {0x03b, 0x03b, 30}, /* LDSM (assumed) as LDS */
    {0x188, 0x188, 30}, /* STS (assumed); it has operands alone */
    {0x18c, 0x18d, 30}, /* ATOMS (assumed) as LDS */
    {0x189, 0x189, 30}, /* SHFL (assumed): it goes through shared memory's crossbar */
    {0x1a1, 0x1a1, 30}, /* MATCH (assumed) as SHFL */
    {0x1c4, 0x1c4, 30}, /* REDUX (assumed) as SHFL */
    {0x182, 0x182, 17}, /* LDC: MT4G, constants in the first-level cache */
    {0x100, 0x113, 15}, /* MUFU, FLO, BREV, POPC: Jia et al., Turing; FCHK, FRND and conversions (assumed) as these */
    {0x119, 0x119, 20}, /* S2R (assumed) */
    {0x1c3, 0x1c3, 20}, /* S2UR (assumed) as S2R */
};

/* (assumed) Until a unit has read its operands. */
enum { OPERANDS = 10 };

struct pw_latency pw_latency_of(uint32_t opcode)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (opcode >= units[i].first && opcode <= units[i].last)
            return (struct pw_latency){units[i].cycles, OPERANDS};
    return (struct pw_latency){0};
}
