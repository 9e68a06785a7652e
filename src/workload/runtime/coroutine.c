/* Stack switching.
 *
 * Assembly for x86-64 and aarch64; elsewhere (or with PW_COROUTINE_UCONTEXT) ucontext, which is slower by a system call
 * per switch but says the same. Three tools need help to follow:
 * - AddressSanitizer: every switch is announced, and a stack that is left for good is unpoisoned.
 * - Valgrind: every stack is registered, or it takes a switch for a huge frame.
 * - Debuggers: the first frame returns to address 0, where a backtrace ends.
 *
 * Stacks of a chunk lie side by side, with a canary below each: a cache line that whoever runs off its stack writes
 * over first, which is noticed when control comes back, before anything else runs. A guard page below every stack would
 * stop it at once, but costs a system call and two mappings a stack, 10 ms for 2,048 warps; so there is one below the
 * lowest stack of a chunk, for what runs on and on. The canary of a stack is the highest line of the one below it, and
 * so in a page that is used anyway.
 *
 * All stacks of a chunk are the same distance apart, a multiple of the page size. Without further ado their first
 * lines would fall into the same few cache sets; a stack's top is therefore lowered by a colour, 0 to 15 times 64
 * bytes. */
#include "workload/runtime/coroutine.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define HAVE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAVE_ASAN 1
#endif
#endif
#ifdef HAVE_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#else
#define HAVE_ASAN 0
#define __sanitizer_start_switch_fiber(save, low, bytes) ((void)0)
#define __sanitizer_finish_switch_fiber(save, low, bytes) ((void)0)
#define __asan_unpoison_memory_region(low, bytes) ((void)0)
#endif

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define VALGRIND_STACK_REGISTER(low, high) 0U
#define VALGRIND_STACK_DEREGISTER(id) ((void)(id))
#endif

/* Instrumented frames carry redzones. */
enum { COLOURS = 16, COLOUR_BYTES = 64, CANARY_WORDS = 8, STACK_FACTOR = HAVE_ASAN ? 4 : 1 };

static const uint64_t CANARY = 0x9bd1c63e5fa20d87; /* what no kernel is likely to write */

struct chunk {
    struct chunk *next;
    char *mapping;
    size_t bytes;
    unsigned valgrind_ids[];
};

struct pw_stack_arena {
    size_t stack_bytes, page_bytes;
    unsigned per_chunk, used; /* stacks taken from the newest chunk */
    struct chunk *newest;
};

struct pw_stack_arena *pw_stack_arena_create(size_t stack_bytes, unsigned stacks_per_chunk)
{
    struct pw_stack_arena *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    a->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    a->stack_bytes = (STACK_FACTOR * stack_bytes + a->page_bytes - 1) / a->page_bytes * a->page_bytes;
    a->per_chunk = stacks_per_chunk;
    a->used = stacks_per_chunk;
    return a;
}

void pw_stack_arena_destroy(struct pw_stack_arena *a)
{
    if (!a)
        return;
    for (struct chunk *c = a->newest, *next; c; c = next) {
        next = c->next;
        for (unsigned i = 0; i < a->per_chunk; i++)
            VALGRIND_STACK_DEREGISTER(c->valgrind_ids[i]);
        munmap(c->mapping, c->bytes);
        free(c);
    }
    free(a);
}

/* Below the lowest stack there is a guard page, and a page of which only the end is used, for that stack's canary. */
enum { LOWEST_PAGES = 2 };

static char *stack_low(const struct pw_stack_arena *a, const struct chunk *c, unsigned index)
{
    return c->mapping + LOWEST_PAGES * a->page_bytes + index * a->stack_bytes;
}

static uint64_t *canary_of(const struct pw_coroutine *c)
{
    return (uint64_t *)c->stack.low - CANARY_WORDS;
}

static bool is_intact(const struct pw_coroutine *c)
{
    const uint64_t *canary = canary_of(c);
    uint64_t changed = 0;
    __asan_unpoison_memory_region(canary, CANARY_WORDS * sizeof *canary); /* frames may have come and gone there */
    for (unsigned i = 0; i < CANARY_WORDS; i++)
        changed |= canary[i] ^ CANARY;
    return !changed;
}

static bool add_chunk(struct pw_stack_arena *a)
{
    struct chunk *c = calloc(1, sizeof *c + a->per_chunk * sizeof c->valgrind_ids[0]);
    if (!c)
        return false;
    c->bytes = LOWEST_PAGES * a->page_bytes + a->per_chunk * a->stack_bytes;
    c->mapping = mmap(NULL, c->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (c->mapping == MAP_FAILED) {
        free(c);
        return false;
    }
    /* A huge page behind small stacks would make every one of them resident. */
    madvise(c->mapping, c->bytes, MADV_NOHUGEPAGE);
    /* Fails only when the process has used up its mappings; the stacks then work, with their canaries alone. */
    mprotect(c->mapping, a->page_bytes, PROT_NONE);
    for (unsigned i = 0; i < a->per_chunk; i++) {
        char *low = stack_low(a, c, i);
        c->valgrind_ids[i] = VALGRIND_STACK_REGISTER(low, low + a->stack_bytes - 1);
    }
    c->next = a->newest;
    a->newest = c;
    a->used = 0;
    return true;
}

bool pw_stack_arena_take(struct pw_stack_arena *a, struct pw_stack *out)
{
    if (a->used == a->per_chunk && !add_chunk(a))
        return false;
    unsigned index = a->used++;
    out->low = stack_low(a, a->newest, index);
    out->bytes = a->stack_bytes - CANARY_WORDS * sizeof CANARY - (size_t)(index % COLOURS) * COLOUR_BYTES;
    return true;
}

static void enter(struct pw_coroutine *c) __attribute__((noreturn));

#if defined(__x86_64__) && !defined(PW_COROUTINE_UCONTEXT)

__asm__(".text\n"
        ".p2align 4\n"
        ".hidden pw_coroutine_switch\n"
        ".globl pw_coroutine_switch\n"
        ".type pw_coroutine_switch, @function\n"
        "pw_coroutine_switch:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    popq %rcx\n"
        "    jmp *%rcx\n" /* not ret: the return would be predicted to go back where it came from */
        ".size pw_coroutine_switch, .-pw_coroutine_switch\n"
        ".hidden pw_coroutine_begin\n"
        ".globl pw_coroutine_begin\n"
        ".type pw_coroutine_begin, @function\n"
        "pw_coroutine_begin:\n"
        "    movq %r12, %rdi\n"
        "    jmp *%r13\n"
        ".size pw_coroutine_begin, .-pw_coroutine_begin\n");

extern void pw_coroutine_switch(void **save_sp, void *to_sp);
extern void pw_coroutine_begin(void);

static void *first_sp(struct pw_coroutine *c)
{
    uintptr_t *top = (uintptr_t *)(((uintptr_t)c->stack.low + c->stack.bytes) & ~(uintptr_t)15);
    uintptr_t *sp = top - 8; /* r15 r14 r13 r12 rbx rbp, where to return, and the end of the backtrace */
    memset(sp, 0, 8 * sizeof *sp);
    sp[2] = (uintptr_t)enter;
    sp[3] = (uintptr_t)c;
    sp[6] = (uintptr_t)pw_coroutine_begin;
    return sp;
}

#elif defined(__aarch64__) && !defined(PW_COROUTINE_UCONTEXT)

__asm__(".text\n"
        ".p2align 4\n"
        ".hidden pw_coroutine_switch\n"
        ".globl pw_coroutine_switch\n"
        ".type pw_coroutine_switch, %function\n"
        "pw_coroutine_switch:\n"
        "    sub sp, sp, #160\n"
        "    stp x19, x20, [sp]\n"
        "    stp x21, x22, [sp, #16]\n"
        "    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n"
        "    stp x27, x28, [sp, #64]\n"
        "    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    mov x9, sp\n"
        "    str x9, [x0]\n"
        "    mov sp, x1\n"
        "    ldp x19, x20, [sp]\n"
        "    ldp x21, x22, [sp, #16]\n"
        "    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n"
        "    ldp x27, x28, [sp, #64]\n"
        "    ldp x29, x30, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n"
        "    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n"
        "    ldp d14, d15, [sp, #144]\n"
        "    add sp, sp, #160\n"
        "    ret\n"
        ".size pw_coroutine_switch, .-pw_coroutine_switch\n"
        ".hidden pw_coroutine_begin\n"
        ".globl pw_coroutine_begin\n"
        ".type pw_coroutine_begin, %function\n"
        "pw_coroutine_begin:\n"
        "    mov x0, x19\n"
        "    mov x30, xzr\n"
        "    br x20\n"
        ".size pw_coroutine_begin, .-pw_coroutine_begin\n");

extern void pw_coroutine_switch(void **save_sp, void *to_sp);
extern void pw_coroutine_begin(void);

static void *first_sp(struct pw_coroutine *c)
{
    uintptr_t *top = (uintptr_t *)(((uintptr_t)c->stack.low + c->stack.bytes) & ~(uintptr_t)15);
    uintptr_t *sp = top - 20;
    memset(sp, 0, 20 * sizeof *sp);
    sp[0] = (uintptr_t)c;
    sp[1] = (uintptr_t)enter;
    sp[11] = (uintptr_t)pw_coroutine_begin;
    return sp;
}

#else

#include <ucontext.h>

/* The two contexts lie at the high end of the stack, where an overrun does not reach them. `sp` points to the
 * coroutine's. */
struct contexts {
    ucontext_t inside, outside;
    struct pw_coroutine *owner;
};

static void begin(unsigned high, unsigned low)
{
    enter((struct pw_coroutine *)(((uintptr_t)high << 16 << 16) | low));
}

static void *first_sp(struct pw_coroutine *c)
{
    uintptr_t high = (uintptr_t)c->stack.low + c->stack.bytes;
    struct contexts *at = (struct contexts *)((high - sizeof *at) & ~(uintptr_t)63);
    at->owner = c;
    getcontext(&at->inside);
    at->inside.uc_stack.ss_sp = c->stack.low;
    at->inside.uc_stack.ss_size = (size_t)((char *)at - (char *)c->stack.low);
    at->inside.uc_link = NULL;
    makecontext(&at->inside, (void (*)(void))begin, 2, (unsigned)((uintptr_t)c >> 16 >> 16), (unsigned)(uintptr_t)c);
    return at;
}

static void pw_coroutine_switch(void **save_sp, void *to_sp)
{
    struct contexts *at = to_sp ? to_sp : *save_sp;
    if (to_sp)
        swapcontext(&at->outside, &at->inside);
    else
        swapcontext(&at->inside, &at->outside);
}

#endif

void pw_coroutine_init(struct pw_coroutine *c, struct pw_stack stack, pw_coroutine_fn *function, void *argument)
{
    *c = (struct pw_coroutine){.stack = stack, .function = function, .argument = argument};
    for (unsigned i = 0; i < CANARY_WORDS; i++)
        canary_of(c)[i] = CANARY;
    c->sp = first_sp(c);
}

static void enter(struct pw_coroutine *c)
{
    __sanitizer_finish_switch_fiber(NULL, &c->caller_low, &c->caller_bytes);
    c->function(c->argument);
    pw_coroutine_exit(c);
}

bool pw_coroutine_resume(struct pw_coroutine *c)
{
    void *fake_stack = NULL;
    (void)fake_stack;
    c->started = true;
    __sanitizer_start_switch_fiber(&fake_stack, c->stack.low, c->stack.bytes);
    pw_coroutine_switch(&c->caller_sp, c->sp);
    __sanitizer_finish_switch_fiber(fake_stack, NULL, NULL);
    return is_intact(c);
}

void pw_coroutine_suspend(struct pw_coroutine *c)
{
    __sanitizer_start_switch_fiber(&c->fake_stack, c->caller_low, c->caller_bytes);
    pw_coroutine_switch(&c->sp, c->caller_sp);
    __sanitizer_finish_switch_fiber(c->fake_stack, &c->caller_low, &c->caller_bytes);
    if (HAVE_ASAN && c->cancelled)
        pw_coroutine_exit(c);
}

void pw_coroutine_exit(struct pw_coroutine *c)
{
    c->ended = true;
    __sanitizer_start_switch_fiber(NULL, c->caller_low, c->caller_bytes);
    pw_coroutine_switch(&c->sp, c->caller_sp);
    __builtin_unreachable();
}

void pw_coroutine_abandon(struct pw_coroutine *c)
{
    /* AddressSanitizer frees its shadow of a stack only when the coroutine itself leaves for good. */
    if (HAVE_ASAN && c->started && !c->ended) {
        c->cancelled = true;
        pw_coroutine_resume(c);
    }
    c->ended = true;
    __asan_unpoison_memory_region(c->stack.low, c->stack.bytes);
}
