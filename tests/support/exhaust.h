/* Tests that use up what there is: a stack, or the memory of a process. */
#ifndef PW_TESTS_EXHAUST_H
#define PW_TESTS_EXHAUST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Recurses until the frames reach `bytes` below `from`, and writes to each. They are on the stack itself:
 * AddressSanitizer might put its own elsewhere. */
static __attribute__((unused, noinline, no_sanitize_address)) uint64_t descend(uintptr_t from, size_t bytes)
{
    volatile uint64_t frame[16];
    for (size_t i = 0; i < 16; i++)
        frame[i] = i;
    uint64_t below = from - (uintptr_t)frame < bytes ? descend(from, bytes) : 0;
    return below + frame[15];
}

/* What a child with little memory ends with. TOO_LITTLE: it cannot even begin, as with sanitizers, which need more
 * addresses than a limit can leave. */
enum exhaust { EXHAUST_OK, EXHAUST_WRONG, EXHAUST_TOO_LITTLE = 77 };

/* Runs a test in a child whose addresses end at `bytes`. */
static inline void exhaust_memory(size_t bytes, enum exhaust (*body)(void))
{
    pid_t child = fork();
    if (!child) {
        setrlimit(RLIMIT_AS, &(struct rlimit){bytes, bytes});
        bool possible = mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
        _exit(possible ? (int)body() : EXHAUST_TOO_LITTLE);
    }
    int status = 0;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == EXHAUST_TOO_LITTLE)
        skip();
    assert_int_equal(WEXITSTATUS(status), EXHAUST_OK);
}

#endif
