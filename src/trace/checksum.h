/* The checksum of a trace's parts: FNV-1a over words of eight bytes in place of single bytes, with a fold of the upper
 * half into the lower one after each.
 *
 * Every step, h = (h ^ word) * odd, h ^= h >> 32, is a bijection of h for a given word and of the word for a given h.
 * So two texts of the same length that differ within one aligned word never have the same checksum: no single flipped
 * byte goes unseen. For any other damage the chance is about 2^-64; it is no defence against forgery. */
#ifndef PW_TRACE_CHECKSUM_H
#define PW_TRACE_CHECKSUM_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PW_CHECKSUM_START UINT64_C(0xcbf29ce484222325)

static inline uint64_t pw_checksum_word(uint64_t h, uint64_t word)
{
    h = (h ^ word) * UINT64_C(0x100000001b3);
    return h ^ h >> 32;
}

/* A number of up to eight bytes, lowest byte first. */
static inline uint64_t pw_load_bytes(const void *bytes, size_t count)
{
    uint64_t word = 0;
    memcpy(&word, bytes, count);
    return le64toh(word);
}

static inline void pw_store_bytes(void *bytes, uint64_t word, size_t count)
{
    word = htole64(word);
    memcpy(bytes, &word, count);
}

/* The last word is filled up with zeros; whoever needs to tell lengths apart puts the length in before. */
static inline uint64_t pw_checksum_bytes(uint64_t h, const uint8_t *bytes, size_t count)
{
    size_t at = 0;
    for (; at + 8 <= count; at += 8)
        h = pw_checksum_word(h, pw_load_bytes(bytes + at, 8));
    return at < count ? pw_checksum_word(h, pw_load_bytes(bytes + at, count - at)) : h;
}

#endif
