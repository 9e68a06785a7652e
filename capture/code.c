/* Machine code of GPUs: see the header. The image comes from the program that is recorded, and is not trusted. */
#include "code.h"

#include "elf_image.h"
#include "pace.h"

#include <stdlib.h>
#include <string.h>

enum { OPCODE_BRANCH = 0x947, OPCODE_EXIT = 0x94d, OPCODE_KILL = 0x95b, OPCODE_RETURN = 0x950, ALWAYS = 7 };
enum { OPCODE_BRX = 0x949, OPCODE_JMX = 0x94c, OPCODE_JUMP = 0x94a, OPCODE_JOIN = 0x941 };

/* Copies of the unit for tensors (TMA): UTMALDG, UTMASTG and UTMAREDG move tensors, UBLKCP and UBLKRED ranges of bytes; the
 * lower nine bits tell, in all forms of operands. Found in what ptxas 13 makes of their PTX for sm_90. */
enum { TENSOR_LOAD = 0x1b4, TENSOR_STORE = 0x1b5, TENSOR_REDUCTION = 0x1b6, BULK_COPY = 0x1ba, BULK_REDUCTION = 0x1bb };

/* LD, ST, ATOM, its compare-and-swap, and its sums of floating point, as ptxas 13 makes them for sm_90; lower nine bits. */
enum { GENERIC_LOAD = 0x180, GENERIC_STORE = 0x185, GENERIC_ATOMIC = 0x18a, GENERIC_SWAP = 0x18b, GENERIC_SUM = 0x1a2 };

static uint64_t word(const uint8_t *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static uint32_t opcode(uint64_t low)
{
    return low & 0xfff;
}

static bool is_generic(uint64_t low)
{
    uint32_t op = low & 0x1ff;
    return op == GENERIC_LOAD || op == GENERIC_STORE || op == GENERIC_ATOMIC || op == GENERIC_SWAP || op == GENERIC_SUM;
}

static uint8_t stall_count(uint64_t high)
{
    uint8_t count = high >> 41 & 15;
    return count ? count : 1;
}

/* Distance in bytes from the instruction behind the branch. Until sm_89 bits 34 and up count words of 4 bytes; since
 * sm_90 the lowest eight bits of the distance stand in bits 16 to 23. */
static int64_t branch_distance(uint64_t low, bool split)
{
    int64_t high = (int32_t)(low >> 32) >> 2;
    return split ? (high * 256 + (int64_t)(low >> 16 & 0xff)) * 4 : high * 4;
}

/* By the last branch to itself: one of another distance may look like one of the other form. */
static bool has_split_distance(const uint8_t *bytes, uint32_t count)
{
    for (uint32_t i = count; i-- > 0;) {
        uint64_t low = word(bytes + (size_t)i * PW_CODE_INSTRUCTION_BYTES);
        if (opcode(low) == OPCODE_BRANCH && branch_distance(low, true) == -PW_CODE_INSTRUCTION_BYTES)
            return true;
        if (opcode(low) == OPCODE_BRANCH && branch_distance(low, false) == -PW_CODE_INSTRUCTION_BYTES)
            return false;
    }
    return true;
}

void pw_code_decode(const uint8_t *bytes, uint32_t count, struct pw_code_instruction *out)
{
    bool split = has_split_distance(bytes, count);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t low = word(bytes + (size_t)i * PW_CODE_INSTRUCTION_BYTES);
        uint64_t high = word(bytes + (size_t)i * PW_CODE_INSTRUCTION_BYTES + 8);
        bool always = (low >> 12 & 15) == ALWAYS;
        struct pw_code_instruction *o = &out[i];
        *o = (struct pw_code_instruction){.waits_for = high >> 52 & 0x3f,
                                          .scoreboard = high >> 46 & 7,
                                          .operand_scoreboard = high >> 49 & 7,
                                          .stall = stall_count(high),
                                          .latency = pw_latency_of(low & 0x1ff)};
        uint32_t op = opcode(low);
        bool leaves = op == OPCODE_BRANCH || op == OPCODE_EXIT || op == OPCODE_KILL || op == OPCODE_RETURN ||
                      op == OPCODE_BRX || op == OPCODE_JMX || op == OPCODE_JUMP;
        bool if_apart = op == OPCODE_BRANCH && high >> (91 - 64) & 1; /* BRA.DIV */
        o->goes_on = !(leaves && always) || if_apart;
        o->generic = is_generic(low);
        o->guarded = !always;
        o->joins = op == OPCODE_JOIN;
        int64_t target = (int64_t)i + 1 + branch_distance(low, split) / PW_CODE_INSTRUCTION_BYTES;
        o->branches = op == OPCODE_BRANCH && target >= 0 && target < count && target != i;
        if (o->branches)
            o->target = (uint32_t)target;
    }
}

/* The attribute `.nv.info` is a list of words: size << 16 | attribute << 8 | format, and for this one two more: symbol
 * and registers. */
static uint32_t registers_of(const struct pw_elf_image *m, const Elf64_Shdr *text)
{
    enum { SYMBOL_MASK = 0xffffff, HEADER = 8 << 16 | 0x2f << 8 | 4 };
    for (uint32_t i = 0; i < m->count; i++) {
        Elf64_Shdr s = pw_elf_section(m, i);
        const char *rest = pw_elf_name_behind(m, &s, ".nv.info");
        const uint8_t *at = rest && !*rest ? pw_elf_part(m, s.sh_offset, s.sh_size) : NULL;
        for (uint64_t byte = 0; at && byte + 12 <= s.sh_size; byte += 4) {
            uint32_t words[3];
            memcpy(words, at + byte, sizeof words);
            if (words[0] == HEADER && words[1] == (text->sh_info & SYMBOL_MASK))
                return words[2] & 0xff;
        }
    }
    return text->sh_info >> 24;
}

static uint32_t shared_bytes_of(const struct pw_elf_image *m, const char *kernel)
{
    enum { SYSTEM = 1024 };
    uint64_t bytes = 0;
    bool reserved = false;
    for (uint32_t i = 0; i < m->count; i++) {
        Elf64_Shdr s = pw_elf_section(m, i);
        const char *name = pw_elf_name_behind(m, &s, ".nv.shared.");
        if (name && strcmp(name, kernel) == 0)
            bytes = s.sh_size;
        if (name && strcmp(name, "reserved.0") == 0)
            reserved = true;
    }
    bytes -= reserved && bytes >= SYSTEM ? SYSTEM : 0;
    return bytes < UINT32_MAX ? (uint32_t)bytes : 0;
}

/* Of bulk copies those from global memory are recorded; bit 10 is set in those to it. */
static bool is_unseen_copy(uint64_t low, uint64_t high)
{
    uint32_t op = low & 0x1ff;
    return op == TENSOR_LOAD || op == TENSOR_STORE || op == TENSOR_REDUCTION || op == BULK_REDUCTION ||
           (op == BULK_COPY && high >> 10 & 1);
}

static bool has_unseen_copies(const uint8_t *bytes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (is_unseen_copy(word(bytes + (size_t)i * PW_CODE_INSTRUCTION_BYTES),
                           word(bytes + (size_t)i * PW_CODE_INSTRUCTION_BYTES + 8)))
            return true;
    return false;
}

static enum pw_status add_function(struct pw_code *code, const char *name, const uint8_t *bytes, uint32_t count,
                                   struct pw_error *err)
{
    struct pw_code_function *functions = realloc(code->functions, (code->count + 1) * sizeof *functions);
    if (!functions)
        return pw_fail_memory(err, "the code of a kernel");
    code->functions = functions;
    struct pw_code_function f = {
        strdup(name), malloc((size_t)count * sizeof *f.instructions), count, 0, 0, has_unseen_copies(bytes, count)};
    if (!f.name || !f.instructions) {
        free(f.name);
        free(f.instructions);
        return pw_fail_memory(err, "the code of a kernel");
    }
    pw_code_decode(bytes, count, f.instructions);
    functions[code->count++] = f;
    return PW_OK;
}

/* The name of the kernel whose code a section has; NULL: it has none. */
static const char *kernel_in(const struct pw_elf_image *m, const Elf64_Shdr *s)
{
    return s->sh_type == SHT_PROGBITS ? pw_elf_name_behind(m, s, ".text.") : NULL;
}

enum pw_status pw_code_scan(const void *image, size_t bytes, bool wanted(const void *context, const char *name),
                            const void *context, bool *out_found, struct pw_error *err)
{
    struct pw_elf_image m;
    enum pw_status status = pw_elf_open(image, bytes, "a module's code", &m, err);
    if (status)
        return status;
    *out_found = false;
    for (uint32_t i = 0; i < m.count && !*out_found; i++) {
        Elf64_Shdr s = pw_elf_section(&m, i);
        const char *name = kernel_in(&m, &s);
        *out_found = name && wanted(context, name);
    }
    return PW_OK;
}

enum pw_status pw_code_read(const void *image, size_t bytes, bool wanted(const void *context, const char *name),
                            const void *context, struct pw_code *out, struct pw_error *err)
{
    *out = (struct pw_code){0};
    struct pw_elf_image m;
    enum pw_status status = pw_elf_open(image, bytes, "a module's code", &m, err);
    for (uint32_t i = 0; !status && i < m.count; i++) {
        Elf64_Shdr s = pw_elf_section(&m, i);
        const char *name = kernel_in(&m, &s);
        const uint8_t *text = name ? pw_elf_part(&m, s.sh_offset, s.sh_size) : NULL;
        uint64_t count = s.sh_size / PW_CODE_INSTRUCTION_BYTES;
        if (!text || !count || count >= UINT32_MAX / 4 || (wanted && !wanted(context, name)))
            continue;
        status = add_function(out, name, text, (uint32_t)count, err);
        if (!status) {
            out->functions[out->count - 1].registers = registers_of(&m, &s);
            out->functions[out->count - 1].shared_bytes = shared_bytes_of(&m, name);
        }
    }
    if (status)
        pw_code_free(out);
    return status;
}

void pw_code_free(struct pw_code *code)
{
    for (size_t i = 0; i < code->count; i++) {
        free(code->functions[i].name);
        free(code->functions[i].instructions);
    }
    free(code->functions);
    *code = (struct pw_code){0};
}

const struct pw_code_function *pw_code_find(const struct pw_code *code, const char *name)
{
    for (size_t i = 0; i < code->count; i++)
        if (strcmp(code->functions[i].name, name) == 0)
            return &code->functions[i];
    return NULL;
}

/* What a search remembers of an instruction instead of the one before it. */
enum { UNSEEN = UINT32_MAX, FIRST = UINT32_MAX - 1 };

struct search {
    const struct pw_code_function *f;
    uint32_t *before, *queue;
    uint32_t head, tail;
};

static void reach(struct search *s, uint32_t instruction, uint32_t from)
{
    if (instruction >= s->f->count || s->before[instruction] != UNSEEN)
        return;
    s->before[instruction] = from;
    s->queue[s->tail++] = instruction;
}

static void reach_next(struct search *s, uint32_t from, uint32_t mark)
{
    const struct pw_code_instruction *i = &s->f->instructions[from];
    if (i->goes_on)
        reach(s, from + 1, mark);
    if (i->branches)
        reach(s, i->target, mark);
}

static bool find(struct search *s, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < s->f->count; i++)
        s->before[i] = UNSEEN;
    if (from == PW_CODE_ENTRY)
        reach(s, 0, FIRST);
    else
        reach_next(s, from, FIRST);
    for (; s->before[to] == UNSEEN && s->head < s->tail; s->head++)
        reach_next(s, s->queue[s->head], s->queue[s->head]);
    return s->before[to] != UNSEEN;
}

int pw_code_way(const struct pw_code_function *f, uint32_t from, uint32_t to, uint32_t *scratch,
                struct pw_code_run *out_runs, int max, struct pw_pace_way *out_pace)
{
    struct search s = {.f = f, .before = scratch, .queue = scratch + f->count};
    if (to >= f->count || (from >= f->count && from != PW_CODE_ENTRY) || !find(&s, from, to))
        return -1;
    uint32_t length = 0;
    for (uint32_t at = s.before[to]; at != FIRST; at = s.before[at])
        s.queue[length++] = at; /* last to first; the search needs its queue no more */
    int runs = 0;
    if (out_pace)
        pw_pace_way_begin(out_pace);
    while (length-- > 0) {
        const struct pw_code_instruction *i = &f->instructions[s.queue[length]];
        if (runs == 0 || (i->waits_for && runs < max))
            out_runs[runs++] = (struct pw_code_run){0, i->waits_for, false};
        out_runs[runs - 1].instructions++;
        out_runs[runs - 1].joins |= i->joins;
        if (out_pace)
            pw_pace_way_add(out_pace, i);
    }
    return runs;
}
