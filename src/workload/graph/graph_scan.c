/* The scanner over a graph file: blanks, lines, numbers and words, byte by byte out of a buffer.
 *
 * Nothing is assumed about the bytes: lines and numbers may have any length, lines may end in CR LF, the last one may
 * not end at all. */
#include "workload/graph/graph_read.h"

#include "sim/c_locale.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SAFE_DIGITS = 15 }; /* a number that a double holds exactly */

bool pw_graph_refill(struct pw_graph_reader *r)
{
    r->next = r->end = r->buffer;
    while (r->end < r->buffer + r->capacity) {
        ssize_t got = read(r->file, r->end, (size_t)(r->buffer + r->capacity - r->end));
        if (got > 0)
            r->end += got;
        else if (got < 0 && errno != EINTR)
            r->read_error = errno;
        if (!got || r->read_error)
            break;
    }
    return r->next < r->end;
}

enum pw_status pw_graph_place(struct pw_graph_reader *r)
{
    pw_error_prefix(r->err, "%s:%llu", r->path, (unsigned long long)r->line);
    return PW_USER_ERROR;
}

static inline bool is_blank(const struct pw_graph_reader *r, int c)
{
    return c == ' ' || c == '\t' || c == '\r' || (c == ',' && r->commas);
}

static inline bool ends_token(const struct pw_graph_reader *r, int c)
{
    return c < 0 || c == '\n' || is_blank(r, c);
}

static inline int skip_blanks(struct pw_graph_reader *r)
{
    int c;
    while (is_blank(r, c = pw_graph_peek(r)))
        r->next++;
    return c;
}

bool pw_graph_line_ends(struct pw_graph_reader *r)
{
    int c = skip_blanks(r);
    return c < 0 || c == '\n';
}

void pw_graph_skip_line(struct pw_graph_reader *r)
{
    while (pw_graph_peek(r) >= 0) {
        unsigned char *newline = memchr(r->next, '\n', (size_t)(r->end - r->next));
        r->next = newline ? newline + 1 : r->end;
        if (newline) {
            r->line++;
            return;
        }
    }
}

bool pw_graph_find_line(struct pw_graph_reader *r, int comment)
{
    for (int c; (c = skip_blanks(r)) == '\n' || c == comment;)
        pw_graph_skip_line(r);
    return pw_graph_peek(r) >= 0;
}

void pw_graph_skip_space(struct pw_graph_reader *r)
{
    while (skip_blanks(r) == '\n') {
        r->next++;
        r->line++;
    }
}

/* Takes a token, any zero byte as '?'; returns its length. What does not fit is left out. */
static size_t take_token(struct pw_graph_reader *r, char *out, size_t capacity)
{
    size_t length = 0;
    skip_blanks(r);
    for (int c; !ends_token(r, c = pw_graph_peek(r)); r->next++) {
        if (length < capacity - 1)
            out[length] = c ? (char)c : '?';
        length++;
    }
    out[length < capacity ? length : capacity - 1] = 0;
    return length;
}

/* "expected WHAT, found …": what was taken already, then the rest of the token. */
static enum pw_status unexpected(struct pw_graph_reader *r, const char *what, const char *taken)
{
    char token[24];
    int c = pw_graph_peek(r);
    if (!*taken && (c < 0 || c == '\n'))
        return pw_graph_fail(r, "expected %s, found the end of the %s", what, c < 0 ? "file" : "line");
    int length = snprintf(token, sizeof token, "%s", taken);
    size_t rest = ends_token(r, c) ? 0 : take_token(r, token + length, sizeof token - (size_t)length);
    bool cut = (size_t)length + rest >= sizeof token;
    return pw_graph_fail(r, "expected %s, found '%s%s'", what, token, cut ? "…" : "");
}

enum pw_status pw_graph_next_line(struct pw_graph_reader *r)
{
    if (!pw_graph_line_ends(r))
        return unexpected(r, "the end of the line", "");
    pw_graph_skip_line(r);
    return PW_OK;
}

/* As many of the next digits as lie in the buffer and cannot overflow; returns where they end. */
static inline unsigned char *near_digits(const struct pw_graph_reader *r, uint64_t *out)
{
    unsigned char *s = r->next, *end = r->end - s > SAFE_DIGITS ? s + SAFE_DIGITS : r->end;
    uint64_t value = 0;
    for (; s < end && *s >= '0' && *s <= '9'; s++)
        value = 10 * value + (uint64_t)(*s - '0');
    *out = value;
    return s;
}

/* Digits into a number; false where it does not fit into 64 bits, and then all digits are taken. */
static bool take_digits(struct pw_graph_reader *r, uint64_t *out)
{
    uint64_t value;
    bool fits = true;
    r->next = near_digits(r, &value);
    for (int c; (c = pw_graph_peek(r)) >= '0' && c <= '9'; r->next++)
        fits = fits && !__builtin_mul_overflow(value, 10, &value) &&
               !__builtin_add_overflow(value, (uint64_t)(c - '0'), &value);
    *out = value;
    return fits;
}

enum pw_status pw_graph_number(struct pw_graph_reader *r, const char *what, uint64_t *out)
{
    int c = skip_blanks(r);
    if (c < '0' || c > '9')
        return unexpected(r, what, "");
    if (!take_digits(r, out))
        return pw_graph_fail(r, "expected %s, found a number beyond 64 bits", what);
    if (!ends_token(r, pw_graph_peek(r))) {
        char digits[24];
        snprintf(digits, sizeof digits, "%llu", (unsigned long long)*out);
        return unexpected(r, what, digits);
    }
    return PW_OK;
}

enum pw_status pw_graph_number_below(struct pw_graph_reader *r, const char *what, uint64_t outer, uint64_t *out)
{
    enum pw_status status = pw_graph_number(r, what, out);
    if (status == PW_OK && *out >= outer)
        return pw_graph_fail(r, "%llu is too large for %s: at most %llu", (unsigned long long)*out, what,
                             (unsigned long long)outer - 1);
    return status;
}

enum pw_status pw_graph_nodes(struct pw_graph_reader *r)
{
    r->nodes_line = r->line;
    return pw_graph_number_below(r, "the number of nodes", UINT64_C(1) << 32, &r->nodes);
}

enum pw_status pw_graph_node(struct pw_graph_reader *r, uint32_t base, uint32_t *out)
{
    uint64_t value = 0;
    enum pw_status status = pw_graph_number(r, "a node's number", &value);
    if (status)
        return status;
    if (value - base >= r->nodes) /* also when it wraps */
        return pw_graph_fail(r, "node %llu is not one of %u to %llu", (unsigned long long)value, base,
                             (unsigned long long)(r->nodes + base - 1));
    *out = (uint32_t)(value - base);
    return PW_OK;
}

/* Decimal numbers only: strtod would also take hexadecimal ones, infinities and words. Fortran writes exponents
 * with D. */
static bool parse_decimal(char *token, double *out)
{
    if (token[strspn(token, "+-.0123456789eEdD")])
        return false;
    for (char *s = token; *s; s++)
        if (*s == 'd' || *s == 'D')
            *s = 'e';
    char *end;
    *out = pw_c_strtod(token, &end);
    return end != token && !*end;
}

enum pw_status pw_graph_weight(struct pw_graph_reader *r, const char *what, double *out)
{
    char token[64];
    int c = skip_blanks(r);
    if (c < 0 || c == '\n')
        return unexpected(r, what, "");
    uint64_t whole;
    unsigned char *end = near_digits(r, &whole);
    if (end > r->next && end < r->end && ends_token(r, *end)) {
        r->next = end;
        *out = (double)whole;
        return PW_OK;
    }
    size_t length = take_token(r, token, sizeof token);
    if (length >= sizeof token || !parse_decimal(token, out)) {
        token[20] = 0;
        return unexpected(r, what, token);
    }
    if (!(fabs(*out) <= (double)FLT_MAX))
        return pw_graph_fail(r, "%.20s is too large for %s", token, what);
    return PW_OK;
}

void pw_graph_word(struct pw_graph_reader *r, char *out, size_t capacity)
{
    take_token(r, out, capacity);
    for (char *s = out; *s; s++)
        if (*s >= 'A' && *s <= 'Z')
            *s = (char)(*s - 'A' + 'a');
}
