/* Ranges: see the header. The functions of NVTX that are taken part in are few, and its structures are repeated here from
 * its documentation, so that the recorder builds without its headers.
 *
 * A program's copy of NVTX loads the library that NVTX_INJECTION64_PATH names when it first uses NVTX, and calls
 * InitializeInjectionNvtx2, which puts functions into tables of that copy. */
#include "ranges.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANGES = 64 };

static __thread struct {
    char *names[MOST_RANGES]; /* NULL: it has none */
    int count;                /* deeper ones have no name */
} stack;

int pw_capture_range_push(const char *name)
{
    if (stack.count < MOST_RANGES)
        stack.names[stack.count] = name && *name ? strdup(name) : NULL;
    return stack.count++;
}

int pw_capture_range_pop(void)
{
    if (!stack.count)
        return -1;
    if (--stack.count < MOST_RANGES)
        free(stack.names[stack.count]);
    return stack.count;
}

const char *pw_capture_range(void)
{
    for (int i = stack.count < MOST_RANGES ? stack.count : MOST_RANGES; i-- > 0;)
        if (stack.names[i])
            return stack.names[i];
    return "";
}

/* nvtxEventAttributes_t, and what its message may be. */
struct attributes {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    const void *message;
};

enum { MESSAGE_ASCII = 1, MESSAGE_REGISTERED = 3 };

/* A registered string is a copy of it (register_string). */
static const char *message_of(const struct attributes *a)
{
    bool whole = a && a->size >= sizeof *a;
    return whole && (a->message_type == MESSAGE_ASCII || a->message_type == MESSAGE_REGISTERED) ? a->message : NULL;
}

static int push_attributes(const struct attributes *a)
{
    return pw_capture_range_push(message_of(a));
}

static int push_wide(const void *name)
{
    (void)name;
    return pw_capture_range_push(NULL);
}

static int push_in_domain(const void *domain, const struct attributes *a)
{
    (void)domain;
    return push_attributes(a);
}

static int pop_in_domain(const void *domain)
{
    (void)domain;
    return pw_capture_range_pop();
}

/* Programs register few strings and keep them. */
static const void *register_string(const void *domain, const char *string)
{
    (void)domain;
    return string ? strdup(string) : NULL;
}

typedef void function(void);

struct callbacks {
    size_t size;
    int (*get_module_table)(int module, function ***out_table, unsigned *out_count);
};

enum { TABLE_OF_CALLBACKS = 1, MODULE_CORE = 1, MODULE_CORE_2 = 5 };

/* Modules and places in their tables (NvtxCallbackIdCore, NvtxCallbackIdCore2). */
static const struct {
    int module;
    unsigned place;
    function *instead;
} functions[] = {{MODULE_CORE, 8, (function *)push_attributes},   {MODULE_CORE, 9, (function *)pw_capture_range_push},
                 {MODULE_CORE, 10, (function *)push_wide},        {MODULE_CORE, 11, (function *)pw_capture_range_pop},
                 {MODULE_CORE_2, 4, (function *)push_in_domain},  {MODULE_CORE_2, 5, (function *)pop_in_domain},
                 {MODULE_CORE_2, 10, (function *)register_string}};

int InitializeInjectionNvtx2(const void *(*get_table)(uint32_t table));

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(const void *(*get_table)(uint32_t table))
{
    const struct callbacks *callbacks = get_table(TABLE_OF_CALLBACKS);
    if (!callbacks || callbacks->size < sizeof *callbacks)
        return 0;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        function **table;
        unsigned count;
        if (callbacks->get_module_table(functions[i].module, &table, &count) && functions[i].place < count)
            *(function **)table[functions[i].place] = functions[i].instead;
    }
    return 1;
}
