/* The host program as a coroutine.
 *
 * The program stands on a stack of its own. pw_host_resume runs it until it suspends inside a backend call or ends. An
 * error, of the program (pw_host_fail) or of its backend, ends it on the spot: control never returns into the program,
 * its frames are dropped, and what it owned (arrays and kept memory) hangs on the host object, which frees it. */
#include "workload/runtime/host.h"

#include "sim/c_locale.h"
#include "workload/runtime/coroutine.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { PROGRAM_STACK_BYTES = 256 << 10 };

/* Kept memory is a list of blocks, each behind its header. */
struct kept {
    struct kept *next;
    _Alignas(16) unsigned char bytes[];
};

struct at_end {
    struct at_end *next;
    void (*release)(void *object);
    void *object;
};

struct pw_host {
    const struct pw_program *program;
    const struct pw_backend *backend;
    void *backend_object;
    bool verify;
    struct pw_random random;

    struct pw_stack_arena *stacks;
    struct pw_coroutine coroutine;

    struct kept *kept;
    struct at_end *at_end;
    void **data; /* host copies by array id; NULL where there is none or it was freed */
    uint32_t arrays, arrays_capacity;

    uint32_t planned, planned_of_pass, planned_besides;
    uint32_t passes;
    bool has_launched;
    uint64_t issued_before; /* by the backend, when the program began */
    unsigned checks, failed_checks;
    struct pw_error error, failed_check;
    char note[256];
};

static void run_program(void *argument)
{
    struct pw_host *h = argument;
    h->program->workload->main(h, h->program->parameters);
}

enum pw_status pw_host_create(const struct pw_program *program, uint64_t seed, unsigned instance, bool verify,
                              const struct pw_backend *backend, void *backend_object, struct pw_host **out,
                              struct pw_error *err)
{
    struct pw_host *h = calloc(1, sizeof *h);
    if (!h)
        return pw_fail_memory(err, "the host program");
    h->program = program;
    h->backend = backend;
    h->backend_object = backend_object;
    h->verify = verify && program->values;

    char stream[96];
    snprintf(stream, sizeof stream, "workload.%s.%u", program->workload->name, instance);
    pw_random_init(&h->random, seed, stream);

    struct pw_stack stack;
    h->stacks = pw_stack_arena_create(PROGRAM_STACK_BYTES, 1);
    if (!h->stacks || !pw_stack_arena_take(h->stacks, &stack)) {
        pw_host_destroy(h);
        return pw_fail_memory(err, "the host program's stack");
    }
    pw_coroutine_init(&h->coroutine, stack, run_program, h);
    *out = h;
    return PW_OK;
}

void pw_host_destroy(struct pw_host *h)
{
    if (!h)
        return;
    if (h->coroutine.function)
        pw_coroutine_abandon(&h->coroutine);
    pw_stack_arena_destroy(h->stacks);
    for (uint32_t i = 0; i < h->arrays; i++)
        free(h->data[i]);
    free(h->data);
    for (const struct at_end *e = h->at_end; e; e = e->next)
        e->release(e->object);
    for (struct kept *k = h->kept, *next; k; k = next) {
        next = k->next;
        free(k);
    }
    free(h);
}

bool pw_host_resume(struct pw_host *h)
{
    if (!h->coroutine.ended && !pw_coroutine_resume(&h->coroutine)) {
        pw_fail(&h->error, PW_FAILED, "workload %s: its host program has overrun its stack of %u KB", h->program->text,
                PROGRAM_STACK_BYTES >> 10);
        h->coroutine.ended = true;
    }
    return h->coroutine.ended;
}

void pw_host_suspend(struct pw_host *h)
{
    pw_coroutine_suspend(&h->coroutine);
}

enum pw_status pw_host_outcome(const struct pw_host *h, struct pw_error *err)
{
    const struct pw_error *e = &h->error;
    if (!e->status)
        e = &h->failed_check;
    if (e->status)
        return pw_fail(err, e->status, "%s", e->message);
    return PW_OK;
}

unsigned pw_host_checks(const struct pw_host *h)
{
    return h->checks - h->failed_checks;
}

static void end_with_error(struct pw_host *h) __attribute__((noreturn));
static void end_with_error(struct pw_host *h)
{
    pw_coroutine_exit(&h->coroutine);
}

/* Fills in an error of the workload's: its name, `what`, and the message. */
static void set_error(const struct pw_host *h, struct pw_error *err, enum pw_status status, const char *what,
                      const char *format, va_list args)
{
    char message[1024];
    pw_c_vsnprintf(message, sizeof message, format, args);
    pw_error_set(err, status, "workload %s: %s%s", h->program->text, what, message);
}

void pw_host_fail(struct pw_host *h, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set_error(h, &h->error, PW_USER_ERROR, "", format, args);
    va_end(args);
    end_with_error(h);
}

void pw_host_fail_with(struct pw_host *h, const struct pw_error *err)
{
    h->error = *err;
    end_with_error(h);
}

bool pw_host_interrupted(const struct pw_host *h)
{
    return h->backend->interrupted && h->backend->interrupted(h->backend_object);
}

void pw_host_note(struct pw_host *h, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    pw_c_vsnprintf(h->note, sizeof h->note, format, args);
    va_end(args);
}

const char *pw_host_get_note(const struct pw_host *h)
{
    return h->note;
}

struct pw_program_object *pw_host_program_object(struct pw_host *h)
{
    return h->program->kept;
}

static void fail_memory(struct pw_host *h, const char *what) __attribute__((noreturn));
static void fail_memory(struct pw_host *h, const char *what)
{
    pw_fail_memory(&h->error, what);
    end_with_error(h);
}

static uint32_t new_array_id(struct pw_host *h)
{
    if (h->arrays == h->arrays_capacity) {
        uint32_t capacity = h->arrays_capacity ? 2 * h->arrays_capacity : 16;
        void **data = realloc(h->data, capacity * sizeof *data);
        if (!data)
            fail_memory(h, "the table of arrays");
        h->data = data;
        h->arrays_capacity = capacity;
    }
    h->data[h->arrays] = NULL;
    return h->arrays++;
}

struct pw_array pw_alloc(struct pw_host *h, const char *name, uint64_t count, uint32_t element_bytes)
{
    struct pw_array a = {.count = count, .element_bytes = element_bytes, .id = new_array_id(h)};
    uint64_t bytes;
    if (!count || __builtin_mul_overflow(count, element_bytes, &bytes) || bytes >> 47)
        pw_host_fail(h, "array %s cannot have %llu elements of %u bytes; choose other sizes", name,
                     (unsigned long long)count, element_bytes);
    if (h->backend->alloc(h->backend_object, a.id, name, bytes, &a.base, &h->error))
        end_with_error(h);
    if (h->program->values) {
        a.data = calloc(1, bytes);
        if (!a.data)
            fail_memory(h, name);
        h->data[a.id] = a.data;
    }
    return a;
}

void pw_alloc_from(struct pw_host *h, const struct pw_array *a, const struct pw_alloc_origin *origin)
{
    if (h->backend->origin && h->backend->origin(h->backend_object, a->id, origin, &h->error))
        end_with_error(h);
}

const char *pw_memory_kind_name(enum pw_memory_kind kind)
{
    static const char *const names[PW_MEMORY_KIND_COUNT] = {"managed", "device", "host", "inferred", "several"};
    return names[kind];
}

void pw_free(struct pw_host *h, struct pw_array *a)
{
    if (h->backend->free(h->backend_object, a->id, a->base, a->count * a->element_bytes, &h->error))
        end_with_error(h);
    free(h->data[a->id]);
    h->data[a->id] = NULL;
    *a = (struct pw_array){0};
}

void pw_prefetch(struct pw_host *h, const struct pw_array *a)
{
    if (h->backend->prefetch && h->backend->prefetch(h->backend_object, a->id, a->base, &h->error))
        end_with_error(h);
}

void pw_filled(struct pw_host *h, const struct pw_array *a, uint64_t first, uint64_t bytes, enum pw_contents how)
{
    if (h->backend->filled && h->backend->filled(h->backend_object, a->id, a->base, first, bytes, how, &h->error))
        end_with_error(h);
}

void pw_mem_advise(struct pw_host *h, const struct pw_array *a, unsigned advice)
{
    if (h->backend->advise && h->backend->advise(h->backend_object, a->id, a->base, advice, &h->error))
        end_with_error(h);
}

void pw_protect(struct pw_host *h, const struct pw_array *a, unsigned permissions)
{
    if (h->backend->protect && h->backend->protect(h->backend_object, a->id, a->base, permissions, &h->error))
        end_with_error(h);
}

void pw_launch(struct pw_host *h, const struct pw_launch *launch)
{
    if (launch->resolve)
        launch->resolve(launch->resolve_state);
    if (!h->has_launched)
        h->issued_before = h->backend->issued(h->backend_object);
    h->has_launched = true;
    if (h->backend->launch(h->backend_object, launch, &h->error))
        end_with_error(h);
}

void *pw_host_keep(struct pw_host *h, size_t bytes)
{
    struct kept *k = bytes <= SIZE_MAX - sizeof *k ? calloc(1, sizeof *k + bytes) : NULL;
    if (!k)
        fail_memory(h, "the host program's data");
    k->next = h->kept;
    h->kept = k;
    return k->bytes;
}

void pw_host_at_end(struct pw_host *h, void (*release)(void *object), void *object)
{
    struct at_end *e = pw_host_keep(h, sizeof *e);
    *e = (struct at_end){h->at_end, release, object};
    h->at_end = e;
}

struct pw_random *pw_host_random(struct pw_host *h)
{
    return &h->random;
}

void pw_host_plan(struct pw_host *h, uint32_t launches)
{
    h->planned = launches;
}

void pw_host_plan_passes(struct pw_host *h, uint32_t launches_of_one, uint32_t others)
{
    h->planned_of_pass = launches_of_one;
    h->planned_besides = others;
}

uint32_t pw_host_planned(const struct pw_host *h)
{
    return h->planned;
}

/* How many launches there will be, as far as the passes so far tell. */
static void plan_passes(struct pw_host *h, uint32_t done, uint32_t passes, uint64_t issued, uint64_t cut)
{
    uint64_t left = passes - done;
    if (!passes || (cut && !done && passes > 1)) {
        h->planned = 0;
        return;
    }
    if (cut && done) {
        uint64_t of_one = issued / done, until_cut = of_one ? (cut - issued + of_one - 1) / of_one : left;
        left = until_cut < left ? until_cut : left;
    }
    uint64_t planned = (done + left) * h->planned_of_pass + h->planned_besides;
    h->planned = planned < UINT32_MAX ? (uint32_t)planned : UINT32_MAX;
}

bool pw_host_pass(struct pw_host *h, uint32_t done, uint32_t passes)
{
    uint64_t issued = h->has_launched ? h->backend->issued(h->backend_object) - h->issued_before : 0;
    uint64_t cut = h->program->instructions ? pw_host_scaled(h, h->program->instructions, 1) : 0;
    if ((passes && done >= passes) || (done && cut && issued >= cut))
        return false;
    if (h->planned_of_pass)
        plan_passes(h, done, passes, issued, cut);
    h->passes++;
    return true;
}

uint32_t pw_host_passes(const struct pw_host *h)
{
    return h->passes ? h->passes : 1;
}

double pw_host_scale(const struct pw_host *h)
{
    return h->program->scale;
}

static uint64_t rounded(double size, uint64_t step)
{
    uint64_t steps = (uint64_t)(size / (double)step + 0.5);
    return (steps ? steps : 1) * step;
}

uint64_t pw_host_scaled(const struct pw_host *h, uint64_t size, uint64_t step)
{
    return h->program->scale == 1 ? size : rounded((double)size * h->program->scale, step);
}

uint64_t pw_host_scaled_side(const struct pw_host *h, uint64_t size, uint64_t step)
{
    return h->program->scale == 1 ? size : rounded((double)size * sqrt(h->program->scale), step);
}

bool pw_host_values(const struct pw_host *h)
{
    return h->program->values;
}

bool pw_host_verifying(const struct pw_host *h)
{
    return h->verify;
}

void pw_host_expect(struct pw_host *h, bool holds, const char *format, ...)
{
    h->checks++;
    if (holds)
        return;
    if (!h->failed_checks++) {
        va_list args;
        va_start(args, format);
        set_error(h, &h->failed_check, PW_FAILED, "wrong result: ", format, args);
        va_end(args);
    }
}
