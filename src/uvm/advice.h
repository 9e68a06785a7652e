/* Memory advice by the name of an allocation: uvm.advice, "wall:read-mostly+temp:host,temp:prefetch".
 *
 * What advice means is in docs/decisions.md, "Memory advice"; what it does is in uvm/driver_advice.c. `prefetch` is no
 * advice to CUDA but a call of its own, which the system makes as soon as the memory is allocated. */
#ifndef PW_UVM_ADVICE_H
#define PW_UVM_ADVICE_H

#include "sim/memory_advice.h"
#include "sim/status.h"

#include <stdbool.h>
#include <stddef.h>

enum { PW_MOST_ADVISED = 32, PW_ADVISED_NAME_CAPACITY = 32 };

/* Beside the flags of enum pw_memory_advice. */
enum { PW_ADVICE_PREFETCH = 16 };

struct pw_advice_list {
    struct {
        char name[PW_ADVISED_NAME_CAPACITY];
        unsigned advice; /* enum pw_memory_advice, PW_ADVICE_PREFETCH */
        bool used;       /* there was such an allocation */
    } items[PW_MOST_ADVISED];
    size_t count;
};

/* What stands for every allocation, beside what is said about it by name. */
#define PW_ADVICE_FOR_ALL "all"

/* NAME:ADVICE, separated by '+' or ','; the same name may stand several times. */
enum pw_status pw_advice_parse(const char *text, struct pw_advice_list *out, struct pw_error *err);

/* What was said about an allocation of this name, 0 for nothing. */
unsigned pw_advice_take(struct pw_advice_list *list, const char *name);
/* A name that no allocation had so far, or NULL. */
const char *pw_advice_unused(const struct pw_advice_list *list);

/* A flag as it is written in uvm.advice, "read-mostly". */
const char *pw_advice_word(unsigned flag);

/* Advice that contradicts itself is a user error; `what` names what it is about. */
enum pw_status pw_advice_check(unsigned advice, const char *what, struct pw_error *err);

/* The driver documentation's order: read-mostly overrides the rest, and a preferred location on the GPU accessed-by. */
static inline bool pw_advice_copies(unsigned advice)
{
    return advice & PW_ADVICE_READ_MOSTLY;
}
/* Pages in host memory are always mapped. */
static inline bool pw_advice_maps_always(unsigned advice)
{
    return advice & PW_ADVICE_ACCESSED_BY && !(advice & (PW_ADVICE_READ_MOSTLY | PW_ADVICE_PREFER_DEVICE));
}
/* A fault maps a page in host memory where it is. */
static inline bool pw_advice_maps_on_fault(unsigned advice)
{
    return advice & PW_ADVICE_PREFER_HOST && !(advice & PW_ADVICE_READ_MOSTLY);
}

#endif
