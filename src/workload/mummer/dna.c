/* Every letter is a hash of the seed and its number, so that a sequence depends on nothing else. */
#include "workload/mummer/dna.h"

#include "workload/runtime/inputs.h"

enum { BLOCK = 512, REPEAT_ONE_IN = 8, ERROR_ONE_IN = 64 };

static char random_letter(uint64_t hash)
{
    return "ACGT"[hash >> 62];
}

static char with_error(char letter, uint64_t hash)
{
    return hash % ERROR_ONE_IN ? letter : random_letter(hash);
}

void pw_dna_reference(char *text, uint32_t bases, uint64_t seed)
{
    *text++ = 's';
    for (uint64_t first = 0; first < bases; first += BLOCK) {
        uint64_t end = first + BLOCK < bases ? first + BLOCK : bases, hash = pw_hash(seed, first);
        bool repeat = first && hash % REPEAT_ONE_IN == 0;
        uint64_t from = repeat ? pw_hash_below(hash, first - BLOCK + 1) : 0;
        for (uint64_t i = first; i < end; i++) {
            uint64_t draw = pw_hash(seed + 1, i);
            text[i] = repeat ? with_error(text[from + i - first], draw) : random_letter(draw);
        }
    }
    text[bases] = '$';
    text[bases + 1] = '\0';
}

void pw_dna_query(char *query, uint32_t length, const char *text, uint32_t bases, uint64_t seed, uint32_t i)
{
    uint64_t from = bases > length ? 1 + pw_hash_below(pw_hash(seed + 2, i), bases - length + 1) : 1;
    *query++ = 'q';
    for (uint32_t k = 0; k < length; k++)
        query[k] = with_error(text[1 + (from - 1 + k) % bases], pw_hash(seed + 3, (uint64_t)i * length + k));
    query[length] = '\0';
}

uint32_t pw_dna_longest_match(const char *text, const char *letters)
{
    uint32_t longest = 0;
    for (const char *place = text + 1; *place; place++) {
        uint32_t length = 0;
        while (letters[length] && place[length] == letters[length])
            length++;
        longest = length > longest ? length : longest;
    }
    return longest;
}
