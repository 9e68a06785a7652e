/* FNV-1a over texts, 64 bits: for digests of what identifies something. Start with PW_FNV_START. */
#ifndef PW_SIM_FNV_H
#define PW_SIM_FNV_H

#include <stdint.h>

#define PW_FNV_START UINT64_C(0xcbf29ce484222325)

static inline uint64_t pw_fnv_byte(uint64_t hash, unsigned char byte)
{
    return (hash ^ byte) * UINT64_C(0x100000001b3);
}

/* With the end of the text, so that "ab", "c" is not "a", "bc". */
static inline uint64_t pw_fnv_text(uint64_t hash, const char *text)
{
    do
        hash = pw_fnv_byte(hash, (unsigned char)*text);
    while (*text++);
    return hash;
}

static inline uint64_t pw_fnv_number(uint64_t hash, uint64_t number)
{
    for (unsigned i = 0; i < 8; i++)
        hash = pw_fnv_byte(hash, (unsigned char)(number >> 8 * i));
    return hash;
}

#endif
