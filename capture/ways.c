/* Ways through machine code: see the header. */
#include "ways.h"

#include <stdlib.h>

enum {
    FIRST_WAYS = 1024, /* a power of two */
    FAR = 4096,        /* instructions: further apart are two functions */
};

struct pw_capture_ways {
    const struct pw_code_function *code;
    uint64_t address;
    struct pw_capture_way *ways; /* by hash */
    uint32_t slots, count;
    uint32_t *scratch;
};

struct pw_capture_ways *pw_capture_ways_new(const struct pw_code_function *code, uint64_t address)
{
    struct pw_capture_ways *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    *w = (struct pw_capture_ways){
        .code = code, .address = address, .ways = calloc(FIRST_WAYS, sizeof *w->ways), .slots = FIRST_WAYS};
    if (code)
        w->scratch = malloc(2 * (size_t)code->count * sizeof *w->scratch);
    if (w->ways && (!code || w->scratch))
        return w;
    pw_capture_ways_free(w);
    return NULL;
}

void pw_capture_ways_free(struct pw_capture_ways *w)
{
    if (!w)
        return;
    free(w->ways);
    free(w->scratch);
    free(w);
}

/* The number of the instruction at `pc`, PW_CODE_ENTRY if the code is not known. Some versions give addresses, others
 * distances from the kernel's first instruction. */
static uint32_t number_at(const struct pw_capture_ways *w, uint64_t pc)
{
    const struct pw_code_function *f = w->code;
    if (!f)
        return PW_CODE_ENTRY;
    uint64_t bytes = (uint64_t)f->count * PW_CODE_INSTRUCTION_BYTES;
    if (pc - w->address < bytes)
        return (uint32_t)((pc - w->address) / PW_CODE_INSTRUCTION_BYTES);
    return pc < bytes ? (uint32_t)(pc / PW_CODE_INSTRUCTION_BYTES) : PW_CODE_ENTRY;
}

const struct pw_code_instruction *pw_capture_ways_instruction(const struct pw_capture_ways *w, uint64_t pc)
{
    uint32_t number = number_at(w, pc);
    return number == PW_CODE_ENTRY ? NULL : &w->code->instructions[number];
}

/* Where lanes come from that go on when the record before was the end of others: from the branch behind which those
 * stayed, if there is one. */
static uint32_t leave_ended(const struct pw_code_function *f, uint32_t from)
{
    if (from == PW_CODE_ENTRY || !from || f->instructions[from].goes_on || f->instructions[from].branches)
        return from;
    const struct pw_code_instruction *before = &f->instructions[from - 1];
    return before->branches && before->goes_on ? from - 1 : from;
}

/* `last` is 0 at the entry. */
static void find_way(struct pw_capture_ways *w, uint64_t last, uint64_t pc, struct pw_capture_way *way)
{
    uint32_t to = number_at(w, pc), from = last ? number_at(w, last) : PW_CODE_ENTRY;
    int runs = -1;
    if (to != PW_CODE_ENTRY && (!last || from != PW_CODE_ENTRY))
        runs = pw_code_way(w->code, leave_ended(w->code, from), to, w->scratch, way->runs, PW_CAPTURE_RUNS, &way->pace);
    way->known = runs >= 0;
    if (runs >= 0) {
        way->count = (uint8_t)runs;
        return;
    }
    uint64_t between = 1;
    if (!last)
        between = 0;
    else if (pc > last && pc - last < FAR * PW_CODE_INSTRUCTION_BYTES)
        between = (pc - last) / PW_CODE_INSTRUCTION_BYTES - 1;
    way->count = between > 0;
    way->runs[0] = (struct pw_code_run){(uint32_t)between, 0, false};
}

static uint32_t hash_way(uint64_t key, uint32_t slots)
{
    return (uint32_t)(key * 0x9e3779b97f4a7c15ULL >> 32) & (slots - 1);
}

static void grow(struct pw_capture_ways *w)
{
    uint32_t slots = 2 * w->slots;
    struct pw_capture_way *ways = calloc(slots, sizeof *ways);
    if (!ways)
        return; /* the full table forgets one instead */
    for (uint32_t i = 0; i < w->slots; i++) {
        uint32_t at = hash_way(w->ways[i].key, slots);
        while (w->ways[i].key && ways[at].key)
            at = (at + 1) & (slots - 1);
        if (w->ways[i].key)
            ways[at] = w->ways[i];
    }
    free(w->ways);
    w->ways = ways;
    w->slots = slots;
}

/* Code of one launch lies within 2^36 bytes of its program counters' top, and instructions are 16 bytes. */
const struct pw_capture_way *pw_capture_ways_find(struct pw_capture_ways *w, uint64_t last, uint64_t pc)
{
    uint64_t key = (last >> 4) << 32 | (pc >> 4 & UINT32_MAX) | 1ULL << 63;
    if (2 * w->count >= w->slots)
        grow(w);
    uint32_t at = hash_way(key, w->slots), tried = 0;
    while (w->ways[at].key && w->ways[at].key != key && ++tried < w->slots / 2)
        at = (at + 1) & (w->slots - 1);
    struct pw_capture_way *way = &w->ways[at];
    if (way->key == key)
        return way;
    w->count += !way->key;
    way->key = key;
    find_way(w, last, pc, way);
    return way;
}
