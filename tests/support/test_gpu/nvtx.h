/* A program's copy of NVTX, as far as ranges go: it loads the library that NVTX_INJECTION64_PATH names when it is first
 * used, and calls what that has put into its tables; without one, nothing. */
#ifndef PW_TEST_NVTX_H
#define PW_TEST_NVTX_H

enum nvtx_way {
    NVTX_PLAIN,
    NVTX_WIDE,
    NVTX_ATTRIBUTES,
    NVTX_REGISTERED, /* a string that was registered with a domain, in that domain */
    NVTX_NAMELESS
};

void nvtx_push(enum nvtx_way way, const char *name);
void nvtx_pop(enum nvtx_way way);

#endif
