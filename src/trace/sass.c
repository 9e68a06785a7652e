/* Tells instructions by their names (sass.h). */
#include "trace/sass.h"

#include "trace/text_scan.h"

struct name {
    const char *text;
    size_t length;
};

static bool is(struct name part, const char *text)
{
    return part.length == strlen(text) && !memcmp(part.text, text, part.length);
}

/* The part up to the next dot, which is taken off. */
static struct name next_part(struct name *name)
{
    const char *dot = memchr(name->text, '.', name->length);
    struct name part = {name->text, dot ? (size_t)(dot - name->text) : name->length};
    size_t taken = part.length + (dot != NULL);
    name->text += taken;
    name->length -= taken;
    return part;
}

static const struct {
    const char *name;
    uint8_t kind;
    bool generic;
} known_names[] = {
    {"LDG", PW_SASS_LOAD, false},          {"LD", PW_SASS_LOAD, true},
    {"STG", PW_SASS_STORE, false},         {"ST", PW_SASS_STORE, true},
    {"ATOMG", PW_SASS_ATOMIC, false},      {"ATOM", PW_SASS_ATOMIC, true},
    {"RED", PW_SASS_ATOMIC, true},         {"REDG", PW_SASS_ATOMIC, false},
    {"LDGSTS", PW_SASS_COPY, false},       {"EXIT", PW_SASS_EXIT, false},
    {"LDGDEPBAR", PW_SASS_COMMIT, false},  {"DEPBAR", PW_SASS_WAIT, false},
    {"BAR", PW_SASS_BARRIER, false},       {"REPLAY_START", PW_SASS_MARKER, false},
    {"REPLAY_END", PW_SASS_MARKER, false},
};

/* Tensor and bulk copies. A prefetch into the L2 reads what a load reads. */
static const struct {
    const char *name;
    uint8_t moves;
} copies[] = {
    {"UTMALDG", PW_OP_LOAD},    {"UTMAPF", PW_OP_LOAD},    {"UBLKPF", PW_OP_LOAD},    {"UTMASTG", PW_OP_STORE},
    {"UTMAREDG", PW_OP_ATOMIC}, {"UBLKRED", PW_OP_ATOMIC}, {"UBLKCP", PW_OP_COMPUTE},
};

static const struct {
    const char *part;
    uint8_t bytes; /* 0: more than a lane can access here */
} widths[] = {
    {"64", 8},  {"128", 16}, {"256", 0}, {"U8", 1},  {"S8", 1},
    {"U16", 2}, {"S16", 2},  {"U64", 8}, {"S64", 8}, {"F64", 8},
};

/* Registers of the operands A, B and C of matrix instructions, by the shape in the name (PTX ISA, fragments of mma).
 * Of shapes that are not here, such as 884, A and B have two. */
static const struct {
    const char *shape;
    uint8_t sources[PW_SASS_SOURCES];
} fragments[] = {{"16816", {4, 2, 4}}, {"16832", {4, 2, 4}}, {"1688", {2, 1, 4}}, {"8816", {1, 1, 2}}};

static void take_modifier(struct pw_sass *s, struct name part, bool matrix)
{
    for (size_t i = 0; pw_sass_is_access(s) && i < sizeof widths / sizeof *widths; i++)
        if (is(part, widths[i].part))
            s->bytes = widths[i].bytes;
    for (size_t i = 0; matrix && i < sizeof fragments / sizeof *fragments; i++)
        if (is(part, fragments[i].shape))
            memcpy(s->sources, fragments[i].sources, sizeof s->sources);
    s->wide |= is(part, "WIDE");
    /* BAR.ARV arrives and does not wait. */
    if (s->kind == PW_SASS_BARRIER && is(part, "ARV"))
        s->kind = PW_SASS_OTHER;
}

static void set_access_registers(struct pw_sass *s)
{
    uint8_t data = s->bytes > 4 ? s->bytes / 4 : 1;
    s->results = s->kind == PW_SASS_STORE || s->kind == PW_SASS_COPY ? 0 : data;
    /* An address of global memory, then data. LDGSTS lists one of shared memory first. */
    s->sources[0] = s->kind == PW_SASS_COPY ? 1 : 2;
    s->sources[1] = s->kind == PW_SASS_COPY ? 2 : data;
    s->sources[2] = data;
}

/* UBLKCP names its two sides, the destination first; between CTAs' shared memories no global memory is moved. */
static void find_copy(struct pw_sass *s, struct name base, struct name sides)
{
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) {
        if (!is(base, copies[i].name))
            continue;
        s->kind = PW_SASS_TENSOR;
        s->moves = copies[i].moves;
        if (s->moves == PW_OP_COMPUTE && memmem(sides.text, sides.length, "S.G", 3))
            s->moves = PW_OP_LOAD;
        else if (s->moves == PW_OP_COMPUTE && memmem(sides.text, sides.length, "G.S", 3))
            s->moves = PW_OP_STORE;
    }
}

struct pw_sass pw_sass_of(const char *name, size_t length)
{
    struct name rest = {name, length}, base = next_part(&rest);
    struct pw_sass s = {.kind = PW_SASS_OTHER, .bytes = 4, .results = 1, .sources = {1, 1, 1}};
    for (size_t i = 0; i < sizeof known_names / sizeof *known_names; i++)
        if (is(base, known_names[i].name)) {
            s.kind = known_names[i].kind;
            s.generic = known_names[i].generic;
            s.returns = base.text[0] == 'A';
        }
    s.begins = is(base, "IADD3");
    find_copy(&s, base, rest);
    bool matrix = base.length == 4 && !memcmp(base.text + 1, "MMA", 3);
    bool doubles = base.length > 3 && base.text[0] == 'D' && !matrix && s.kind == PW_SASS_OTHER;
    if (matrix || doubles) {
        s.results = matrix ? 4 : 2;
        memcpy(s.sources, (uint8_t[]){2, 2, matrix ? 4 : 2}, sizeof s.sources);
    }
    while (rest.length)
        take_modifier(&s, next_part(&rest), matrix);
    if (s.wide)
        s.results = 2;
    if (pw_sass_is_access(&s))
        set_access_registers(&s);
    return s;
}

/* Words of the name, up to four; how long it is. */
static size_t read_name(const char *at, uint64_t words[PW_SASS_NAME_WORDS])
{
    for (size_t i = 0; i < PW_SASS_NAME_WORDS; i++) {
        uint64_t word = pw_scan_word(at + 8 * i);
        unsigned count = pw_scan_run(pw_scan_between(word, '!', '~'));
        if (count < 8) {
            words[i] = word & ((UINT64_C(1) << 8 * count) - 1);
            return 8 * i + count;
        }
        words[i] = word;
    }
    size_t length = sizeof(uint64_t) * PW_SASS_NAME_WORDS;
    while (at[length] >= '!' && at[length] <= '~')
        length++;
    return length;
}

const struct pw_sass *pw_sass_find(struct pw_sass_cache *c, const char *at, const char **out_end)
{
    uint64_t words[PW_SASS_NAME_WORDS] = {0};
    size_t length = read_name(at, words);
    *out_end = at + length;
    if (!length)
        return NULL;
    if (length > sizeof words) {
        c->other = pw_sass_of(at, length);
        return &c->other;
    }
    uint64_t hash = (words[0] ^ words[1] * 3 ^ words[2] * 5 ^ words[3] * 7) * UINT64_C(0x9e3779b97f4a7c15);
    struct pw_sass_known *known = &c->known[(hash ^ hash >> 32) % PW_SASS_CACHED];
    if (memcmp(known->name, words, sizeof words) != 0) {
        memcpy(known->name, words, sizeof words);
        known->sass = pw_sass_of(at, length);
    }
    return &known->sass;
}
