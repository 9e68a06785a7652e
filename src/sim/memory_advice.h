/* What a program can say about its managed memory (cudaMemAdvise); docs/decisions.md, "Memory advice". */
#ifndef PW_SIM_MEMORY_ADVICE_H
#define PW_SIM_MEMORY_ADVICE_H

/* Flags; what is said together holds together, and 0 is no advice. */
enum pw_memory_advice {
    PW_ADVICE_READ_MOSTLY = 1,   /* read by all: copied, not moved */
    PW_ADVICE_PREFER_HOST = 2,   /* the preferred location is host memory */
    PW_ADVICE_PREFER_DEVICE = 4, /* the preferred location is the GPU */
    PW_ADVICE_ACCESSED_BY = 8,   /* the GPU has it mapped wherever it is */
};

#endif
