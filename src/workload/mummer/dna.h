/* Random DNA with what real DNA has: repeats, and readings with errors. */
#ifndef PW_WORKLOAD_DNA_H
#define PW_WORKLOAD_DNA_H

#include <stdbool.h>
#include <stdint.h>

/* Writes 's', `bases` letters, '$' and a zero. Of its blocks of 512 letters, one in eight is an earlier piece with one
 * letter in 64 changed; the rest is uniform over A, C, G and T. */
void pw_dna_reference(char *text, uint32_t bases, uint64_t seed);

/* Writes query number i: 'q', `length` letters read somewhere in the reference, one in 64 wrongly, and a zero. */
void pw_dna_query(char *query, uint32_t length, const char *text, uint32_t bases, uint64_t seed, uint32_t i);

/* The length of the longest start of `letters` that occurs in the text behind its 's', by trying every place. */
uint32_t pw_dna_longest_match(const char *text, const char *letters);

#endif
