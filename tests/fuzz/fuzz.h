/* The entry point of a fuzz target, as libFuzzer calls it. */
#ifndef PW_TESTS_FUZZ_H
#define PW_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
