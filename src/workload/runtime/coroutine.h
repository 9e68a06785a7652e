/* Coroutines: functions on stacks of their own that hand control back and forth without a system call.
 *
 * A kernel (one per warp in flight) and a workload's host program are plain C functions that must stop in the middle
 * and go on later. Resuming one swaps the callee-saved registers and the stack pointer, about twenty instructions. A
 * coroutine may resume others; control returns to whoever resumed it.
 *
 * Not kept across a switch: signal mask and floating-point control words, which nothing here changes. */
#ifndef PW_WORKLOAD_COROUTINE_H
#define PW_WORKLOAD_COROUTINE_H

#include <stdbool.h>
#include <stddef.h>

struct pw_stack {
    void *low; /* the lowest usable byte; a canary lies below */
    size_t bytes;
};

/* Maps stacks of one size in chunks, as they are asked for. Pages that are never touched cost no memory. A stack lives
 * as long as its arena: whoever takes one keeps and reuses it. A guard page lies below the stacks of a chunk. */
struct pw_stack_arena;
struct pw_stack_arena *pw_stack_arena_create(size_t stack_bytes, unsigned stacks_per_chunk);
bool pw_stack_arena_take(struct pw_stack_arena *a, struct pw_stack *out);
void pw_stack_arena_destroy(struct pw_stack_arena *a);

typedef void pw_coroutine_fn(void *argument);

struct pw_coroutine {
    void *sp, *caller_sp; /* where it stands while suspended; where its resumer stands while it runs */
    struct pw_stack stack;
    pw_coroutine_fn *function;
    void *argument;
    bool started, ended, cancelled;
    /* For AddressSanitizer, which must be told about every switch. */
    void *fake_stack;
    const void *caller_low;
    size_t caller_bytes;
};

/* Puts `function` at its beginning on `stack`; it runs at the first resume. */
void pw_coroutine_init(struct pw_coroutine *c, struct pw_stack stack, pw_coroutine_fn *function, void *argument);

/* Runs it until it suspends or ends. Not after it has ended. False: it has written beyond its stack, perhaps over its
 * neighbour's; neither may be resumed again. */
bool pw_coroutine_resume(struct pw_coroutine *c);

/* Called inside: hands control back to the resumer. */
void pw_coroutine_suspend(struct pw_coroutine *c);

/* Called inside, at any depth: ends it. What its frames hold is not unwound. */
void pw_coroutine_exit(struct pw_coroutine *c) __attribute__((noreturn));

/* Abandons it wherever it stands, so that its stack can be used again. */
void pw_coroutine_abandon(struct pw_coroutine *c);

#endif
