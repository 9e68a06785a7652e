/* Numbers and words out of a line of text, eight bytes at a time.
 *
 * A line ends with its newline, and PW_LINES_SLACK bytes behind it may be read (trace/line_input.h), so that nothing
 * here looks for an end. A carriage return counts as a blank. Every function returns the place behind what it read, or
 * NULL where that is not what the line has there. */
#ifndef PW_TRACE_TEXT_SCAN_H
#define PW_TRACE_TEXT_SCAN_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define PW_SCAN_BYTES(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Eight characters, the first in the lowest byte. */
static inline uint64_t pw_scan_word(const char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return le64toh(word);
}

/* Bit 7 of every byte that is at least `least`, both below 128; other bytes' bits are not asked for. */
static inline uint64_t pw_scan_from(uint64_t word, unsigned least)
{
    return ((word | PW_SCAN_BYTES(0x80)) - PW_SCAN_BYTES(least)) & PW_SCAN_BYTES(0x80);
}

/* Bit 7 of every byte from `first` to `last`; a byte from 128 has it never. */
static inline uint64_t pw_scan_between(uint64_t word, unsigned first, unsigned last)
{
    return pw_scan_from(word, first) & ~pw_scan_from(word, last + 1) & ~word;
}

/* Of eight bytes, how many from the first one have their bit 7. */
static inline unsigned pw_scan_run(uint64_t bits)
{
    uint64_t others = ~bits & PW_SCAN_BYTES(0x80);
    return others ? (unsigned)__builtin_ctzll(others) / 8 : 8;
}

static inline bool pw_scan_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static inline const char *pw_scan_blanks(const char *at)
{
    while (pw_scan_is_blank(*at))
        at++;
    return at;
}

/* Behind a number or word comes a blank, or the line ends. */
static inline bool pw_scan_ends(char c)
{
    return pw_scan_is_blank(c) || c == '\n';
}

/* Up to eight hexadecimal digits, `count` of them from the first byte. */
static inline uint64_t pw_scan_hex_value(uint64_t word, unsigned count)
{
    uint64_t digits = (word & PW_SCAN_BYTES(0x0f)) + 9 * (word >> 6 & PW_SCAN_BYTES(1));
    digits = __builtin_bswap64(digits << (64 - 8 * count));
    digits = (digits | digits >> 4) & UINT64_C(0x00ff00ff00ff00ff);
    digits = (digits | digits >> 8) & UINT64_C(0x0000ffff0000ffff);
    return (digits | digits >> 16) & UINT32_MAX;
}

static inline unsigned pw_scan_hex_digits(uint64_t word)
{
    return pw_scan_run(pw_scan_between(word, '0', '9') | pw_scan_between(word | PW_SCAN_BYTES(0x20), 'a', 'f'));
}

/* 1 to 16 digits, without the 0x. */
static inline const char *pw_scan_hex_plain(const char *at, uint64_t *out)
{
    uint64_t word = pw_scan_word(at);
    unsigned count = pw_scan_hex_digits(word);
    if (!count)
        return NULL;
    uint64_t value = pw_scan_hex_value(word, count);
    at += count;
    if (count == 8) {
        word = pw_scan_word(at);
        count = pw_scan_hex_digits(word);
        if (count) {
            value = value << 4 * count | pw_scan_hex_value(word, count);
            at += count;
        }
    }
    *out = value;
    return at;
}

static inline const char *pw_scan_hex(const char *at, uint64_t *out)
{
    if (at[0] == '0' && (at[1] | 0x20) == 'x')
        at += 2;
    return pw_scan_hex_plain(at, out);
}

static inline uint64_t pw_scan_decimal_value(uint64_t word, unsigned count)
{
    word = (word & PW_SCAN_BYTES(0x0f)) << (64 - 8 * count);
    word = word * 2561 >> 8;
    word = (word & UINT64_C(0x00ff00ff00ff00ff)) * 6553601 >> 16;
    return (word & UINT64_C(0x0000ffff0000ffff)) * UINT64_C(42949672960001) >> 32;
}

/* 1 to 19 digits, which is below 2^64 whatever they are. */
static inline const char *pw_scan_decimal(const char *at, uint64_t *out)
{
    static const uint64_t power[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    uint64_t value = 0;
    unsigned in_all = 0, count;
    do {
        uint64_t word = pw_scan_word(at);
        count = pw_scan_run(pw_scan_between(word, '0', '9'));
        if (!count)
            break;
        if ((in_all += count) > 19)
            return NULL;
        value = value * power[count] + pw_scan_decimal_value(word, count);
        at += count;
    } while (count == 8);
    *out = value;
    return in_all ? at : NULL;
}

/* As pw_scan_decimal, with a sign where it is negative. */
static inline const char *pw_scan_signed(const char *at, int64_t *out)
{
    bool negative = *at == '-';
    uint64_t value;
    const char *end = pw_scan_decimal(at + negative, &value);
    if (!end || value > INT64_MAX)
        return NULL;
    *out = negative ? -(int64_t)value : (int64_t)value;
    return end;
}

/* A number of a 32-bit field. */
static inline const char *pw_scan_number(const char *at, uint32_t *out)
{
    uint64_t value;
    at = pw_scan_decimal(at, &value);
    if (!at || value > UINT32_MAX)
        return NULL;
    *out = (uint32_t)value;
    return at;
}

/* Behind a text that the line has here. */
static inline const char *pw_scan_text(const char *at, const char *text)
{
    size_t length = strlen(text);
    return strncmp(at, text, length) ? NULL : at + length;
}

/* Three numbers with commas between them. */
static inline const char *pw_scan_triple(const char *at, uint32_t out[3])
{
    for (unsigned i = 0; i < 3; i++) {
        if (i && *at++ != ',')
            return NULL;
        at = pw_scan_number(at, &out[i]);
        if (!at)
            return NULL;
    }
    return at;
}

#endif
