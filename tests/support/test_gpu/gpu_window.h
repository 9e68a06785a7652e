/* Where the test's GPU has shared memory for pointers that may point anywhere. */
#ifndef PW_TEST_GPU_WINDOW_H
#define PW_TEST_GPU_WINDOW_H

#define GPU_WINDOW 0x600000000000ULL
#define GPU_WINDOW_BYTES (1ULL << 24)

#endif
