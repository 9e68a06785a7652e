/* Numbers as bytes, for the tables of a trace: varints (seven bits a byte, lowest first, the upper bit set in all but
 * the last), signed numbers as zigzag (0, -1, 1, -2, …), and texts with their length before them.
 *
 * Reading is of untrusted bytes: what does not fit gives 0 and is remembered, so that a whole table can be read before
 * one asks whether it was right. */
#ifndef PW_TRACE_BYTES_H
#define PW_TRACE_BYTES_H

#include "trace/checksum.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PW_VARINT_MOST = 10 };

static inline uint64_t pw_zigzag(uint64_t difference)
{
    return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}

static inline uint64_t pw_unzigzag(uint64_t code)
{
    return code >> 1 ^ -(code & 1);
}

static inline uint8_t *pw_put_varint(uint8_t *at, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        *at++ = (uint8_t)(number | 0x80);
    *at++ = (uint8_t)number;
    return at;
}

/* Bytes of a varint. */
static inline unsigned pw_varint_bytes(uint64_t number)
{
    return ((unsigned)(63 - __builtin_clzll(number | 1)) * 9 + 73) / 64;
}

/* Where the number ends; NULL when it does not by `end`, or has more than 64 bits. */
static inline const uint8_t *pw_get_varint(const uint8_t *at, const uint8_t *end, uint64_t *out)
{
    uint64_t number = 0;
    for (unsigned shift = 0; at < end && shift < 64; shift += 7) {
        uint8_t byte = *at++;
        if (shift == 63 && byte > 1)
            return NULL;
        number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *out = number;
            return at;
        }
    }
    return NULL;
}

struct pw_bytes_in {
    const uint8_t *at, *end;
    bool bad;
};

uint64_t pw_take_varint(struct pw_bytes_in *in, uint64_t most);
uint64_t pw_take_signed(struct pw_bytes_in *in);
uint64_t pw_take_fixed(struct pw_bytes_in *in); /* eight bytes */
/* A text, which ends with a zero byte in place; "" when it is bad. */
const char *pw_take_text(struct pw_bytes_in *in);

/* Bytes that grow as they come. */
struct pw_bytes_out {
    uint8_t *bytes;
    size_t used, capacity;
    bool failed; /* memory is out */
};

/* Room for `count` more bytes; NULL when memory is out. */
uint8_t *pw_bytes_room(struct pw_bytes_out *out, size_t count);
void pw_add_bytes(struct pw_bytes_out *out, const void *bytes, size_t count);
void pw_add_varint(struct pw_bytes_out *out, uint64_t number);
void pw_add_signed(struct pw_bytes_out *out, uint64_t difference);
void pw_add_fixed(struct pw_bytes_out *out, uint64_t number);
void pw_add_text(struct pw_bytes_out *out, const char *text);
void pw_bytes_free(struct pw_bytes_out *out);

#endif
