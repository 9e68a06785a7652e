/* Reads the head of a kernel's trace (traceg_header.h).
 *
 * Versions 3 to 5 of the tracer write the same lines but for an immediate at their end and a number at their beginning
 * (Accel-Sim's tracer_tool.cu); version 6 has more in each (traceg_instruction.h). Version 2, of which every line has
 * the warp's place, is refused by name, as is whatever comes after version 6. Keys that are not known are skipped. In a
 * .tracez a zero byte ends the head. */
#include "trace/traceg_header.h"

#include "trace/text_scan.h"

#include <stddef.h>

enum { OLDEST_VERSION = 3, NEWEST_VERSION = 6 };

enum value_kind { VALUE_NAME, VALUE_WORD, VALUE_NUMBER, VALUE_BOOL, VALUE_ADDRESS, VALUE_TRIPLE };

static const struct {
    const char *key;
    enum value_kind kind;
    size_t at;
} rows[] = {
    {"kernel name", VALUE_NAME, offsetof(struct pw_traceg_header, name)},
    {"grid dim", VALUE_TRIPLE, offsetof(struct pw_traceg_header, grid)},
    {"block dim", VALUE_TRIPLE, offsetof(struct pw_traceg_header, block)},
    {"shmem", VALUE_NUMBER, offsetof(struct pw_traceg_header, shared_bytes)},
    {"nregs", VALUE_NUMBER, offsetof(struct pw_traceg_header, registers)},
    {"binary version", VALUE_NUMBER, offsetof(struct pw_traceg_header, binary_version)},
    {"shmem base_addr", VALUE_ADDRESS, offsetof(struct pw_traceg_header, shared_base)},
    {"local mem base_addr", VALUE_ADDRESS, offsetof(struct pw_traceg_header, local_base)},
    {"nvbit version", VALUE_WORD, offsetof(struct pw_traceg_header, nvbit)},
    {"accelsim tracer version", VALUE_NUMBER, offsetof(struct pw_traceg_header, version)},
    {"enable lineinfo", VALUE_BOOL, offsetof(struct pw_traceg_header, line_numbers)},
    {"pagewalk operations", VALUE_BOOL, offsetof(struct pw_traceg_header, has_operations)},
    {"pagewalk pace", VALUE_NUMBER, offsetof(struct pw_traceg_header, pace)},
    {"pagewalk sampled of", VALUE_ADDRESS, offsetof(struct pw_traceg_header, sampled_of)},
};

/* A version like 1.5.5, into 32 bytes. */
static const char *read_word(const char *at, char *to)
{
    size_t length = 0;
    while (*at > ' ' && *at <= '~' && length < 31)
        to[length++] = *at++;
    to[length] = '\0';
    return at;
}

static const char *read_triple(const char *at, struct pw_dim3 *to)
{
    uint32_t v[3];
    if (*at != '(' || !(at = pw_scan_triple(at + 1, v)) || *at != ')')
        return NULL;
    *to = (struct pw_dim3){v[0], v[1], v[2]};
    return at + 1;
}

static const char *read_value(enum value_kind kind, const char *at, char *to)
{
    uint32_t number;
    switch (kind) {
    case VALUE_NAME:
        pw_import_copy_name(at, to);
        return strchr(at, '\n');
    case VALUE_WORD:
        return read_word(at, to);
    case VALUE_NUMBER:
        return pw_scan_number(at, (uint32_t *)(void *)to);
    case VALUE_BOOL:
        at = pw_scan_number(at, &number);
        *(bool *)to = at && number;
        return at && number <= 1 ? at : NULL;
    case VALUE_ADDRESS:
        return pw_scan_hex(at, (uint64_t *)(void *)to);
    case VALUE_TRIPLE:
        return read_triple(at, (struct pw_dim3 *)(void *)to);
    }
    return NULL;
}

static enum pw_status read_row(struct pw_lines *t, const char *at, struct pw_traceg_header *h, struct pw_error *err)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *value = pw_scan_text(at, rows[i].key);
        if (value)
            value = pw_scan_text(value, " =");
        if (!value)
            continue;
        value = read_value(rows[i].kind, pw_scan_blanks(value), (char *)h + rows[i].at);
        if (value && *pw_scan_blanks(value) == '\n')
            return PW_OK;
        return pw_lines_fail(t, err, "the value of `%s` is not understood", rows[i].key);
    }
    return PW_OK;
}

static enum pw_status check(struct pw_lines *t, struct pw_traceg_header *h, struct pw_error *err)
{
    if (!h->version)
        return pw_lines_fail(t, err, "the lines before this one do not say `-accelsim tracer version = %d`",
                             NEWEST_VERSION);
    if (h->version < OLDEST_VERSION || h->version > NEWEST_VERSION)
        return pw_lines_fail(t, err,
                             "was written by version %u of Accel-Sim's tracer; versions %d to %d are understood",
                             h->version, OLDEST_VERSION, NEWEST_VERSION);
    h->ctas = pw_import_ctas(&h->grid);
    if (!h->ctas)
        return pw_lines_fail(t, err, "the lines before this one have no `-grid dim` of 1 to %d thread blocks",
                             PW_IMPORT_CTAS);
    h->threads = pw_import_threads(&h->block);
    if (!h->threads)
        return pw_lines_fail(t, err, "the lines before this one have no `-block dim` of 1 to %d threads",
                             PW_CTA_THREADS);
    if (h->pace > PW_TRACE_MOST_PACE)
        return pw_lines_fail(t, err, "the lines before this one have a pace of more than %d", PW_TRACE_MOST_PACE);
    return PW_OK;
}

enum pw_status pw_traceg_read_header(struct pw_lines *t, struct pw_traceg_header *out, struct pw_error *err)
{
    *out = (struct pw_traceg_header){0};
    for (;;) {
        const char *at;
        enum pw_status status = pw_lines_next(t, &at, err);
        if (status != PW_OK)
            return status;
        if (!at)
            return check(t, out, err);
        const char *text = pw_scan_blanks(at), *newline = memchr(at, '\n', (size_t)(t->end - at));
        if (*text == '#' ||
            !*text) { /* whatever it says: in versions 3 and 4 the raw trace's format, in the sorted one too */
            status = check(t, out, err);
            t->line--; /* it is read again */
            return status;
        }
        if (*text == '-')
            status = read_row(t, text + 1, out, err);
        else if (*text != '\n')
            status = pw_lines_fail(t, err, "this is neither `-key = value` nor the beginning of a thread block");
        if (status != PW_OK)
            return status;
        t->next = newline + 1;
    }
}
