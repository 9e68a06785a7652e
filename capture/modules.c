/* Modules: see the header. The API asks that calls which load and apply patches come one at a time. */
#include "modules.h"

#include "results.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* One kernel's code, decoded or found to be missing. */
struct kernel {
    char *name;
    struct pw_code code; /* of one function or none */
    struct kernel *next;
};

/* Into which patches were loaded. */
struct prepared {
    CUcontext context;
};

struct module {
    CUmodule module;
    CUcontext context;
    bool refused; /* it could not be patched */
    void *image;
    size_t bytes;
    struct kernel *kernels; /* that were launched */
    struct module *next;
};

static struct {
    pthread_mutex_t lock;
    const char *patches;
    bool shared;
    const struct pw_capture_session *session;
    struct module *modules;
    struct prepared *prepared;
    size_t prepared_count;
} g = {.lock = PTHREAD_MUTEX_INITIALIZER};

void pw_capture_modules_start(const char *patches, bool shared, const struct pw_capture_session *s)
{
    g.patches = patches;
    g.shared = shared;
    g.session = s;
}

/* Loads the patches into a context, once. */
static bool have_patches(CUcontext context)
{
    for (size_t i = 0; i < g.prepared_count; i++)
        if (g.prepared[i].context == context)
            return true;
    struct prepared *more = realloc(g.prepared, (g.prepared_count + 1) * sizeof *more);
    if (!more)
        return false;
    g.prepared = more;
    if (!pw_capture_worked(sanitizerAddPatchesFromFile(g.patches, context), g.patches))
        return false;
    g.prepared[g.prepared_count++].context = context;
    return true;
}

/* To find out which patch a kernel does not bear: PAGEWALK_CAPTURE_WITHOUT names functions that are not to be used. */
static bool is_left_out(const char *function)
{
    const char *names = getenv("PAGEWALK_CAPTURE_WITHOUT");
    size_t length = strlen(function);
    for (const char *at = names; at && (at = strstr(at, function)); at += length)
        if ((at == names || at[-1] == ',') && (at[length] == ',' || !at[length]))
            return true;
    return false;
}

static bool patch(CUmodule module)
{
    static const struct {
        Sanitizer_InstructionId instruction;
        const char *function;
        bool shared, needed;
    } patches[] = {
        {SANITIZER_INSTRUCTION_GLOBAL_MEMORY_ACCESS, "PwGlobal", false, true},
        {SANITIZER_INSTRUCTION_BARRIER, "PwBarrier", false, true},
        {SANITIZER_INSTRUCTION_BLOCK_EXIT, "PwExit", false, true},
        {SANITIZER_INSTRUCTION_MEMCPY_ASYNC, "PwCopy", false, false},
        {SANITIZER_INSTRUCTION_PIPELINE_COMMIT, "PwCommit", false, false},
        {SANITIZER_INSTRUCTION_PIPELINE_WAIT, "PwWait", false, false},
#ifdef PW_BULK_COPIES
        {SANITIZER_INSTRUCTION_BULK_COPY_GLOBAL_TO_SHARED, "PwBulk", false, false},
#endif
        {SANITIZER_INSTRUCTION_SHARED_MEMORY_ACCESS, "PwElsewhere", true, false},
        {SANITIZER_INSTRUCTION_LOCAL_MEMORY_ACCESS, "PwElsewhere", true, false},
        {SANITIZER_INSTRUCTION_MATRIX_MEMORY_ACCESS, "PwMatrix", true, false},
    };
    for (size_t i = 0; i < sizeof patches / sizeof patches[0]; i++) {
        if ((patches[i].shared && !g.shared) || is_left_out(patches[i].function))
            continue;
        SanitizerResult result = sanitizerPatchInstructions(patches[i].instruction, module, patches[i].function);
        if (patches[i].needed && !pw_capture_worked(result, patches[i].function))
            return false;
    }
    return pw_capture_worked(sanitizerPatchModule(module), "its instructions");
}

static bool is_wanted(const void *context, const char *kernel)
{
    (void)context;
    return pw_capture_session_wants(g.session, kernel);
}

bool pw_capture_module_loaded(const Sanitizer_ResourceModuleData *data)
{
    bool wanted = true,
         known = data->pCubin && !pw_code_scan(data->pCubin, data->cubinSize, is_wanted, NULL, &wanted, NULL);
    if (!wanted)
        return true;
    struct module *m = calloc(1, sizeof *m);
    if (!m)
        return false;
    m->module = data->module;
    m->context = data->context;
    m->image = known ? malloc(data->cubinSize) : NULL;
    if (m->image) {
        m->bytes = data->cubinSize;
        memcpy(m->image, data->pCubin, m->bytes);
    }
    pthread_mutex_lock(&g.lock);
    bool refused = m->refused = !have_patches(data->context) || !patch(data->module);
    m->next = g.modules;
    g.modules = m;
    pthread_mutex_unlock(&g.lock);
    return !refused;
}

static void free_module(struct module *m)
{
    for (struct kernel *k = m->kernels, *next; k; k = next) {
        next = k->next;
        pw_code_free(&k->code);
        free(k->name);
        free(k);
    }
    free(m->image);
    free(m);
}

/* Forgets a module, or all of a context where `module` is NULL. */
static void forget(CUmodule module, CUcontext context)
{
    for (struct module **at = &g.modules; *at;) {
        struct module *m = *at;
        if (module ? m->module != module : m->context != context) {
            at = &m->next;
            continue;
        }
        *at = m->next;
        free_module(m);
    }
}

void pw_capture_module_unloaded(CUmodule module)
{
    pthread_mutex_lock(&g.lock);
    forget(module, NULL);
    pthread_mutex_unlock(&g.lock);
}

void pw_capture_modules_leave(CUcontext context)
{
    pthread_mutex_lock(&g.lock);
    forget(NULL, context);
    for (size_t i = 0; i < g.prepared_count; i++)
        if (g.prepared[i].context == context)
            g.prepared[i--] = g.prepared[--g.prepared_count];
    pthread_mutex_unlock(&g.lock);
}

static bool is_named(const void *context, const char *kernel)
{
    return strcmp(context, kernel) == 0;
}

/* NULL: the module has no such kernel, or memory is out. */
static const struct pw_code_function *code_of(struct module *m, const char *name)
{
    struct kernel *k = m->kernels;
    while (k && strcmp(k->name, name) != 0)
        k = k->next;
    if (!k && m->image && (k = calloc(1, sizeof *k))) {
        k->name = strdup(name);
        if (!k->name || pw_code_read(m->image, m->bytes, is_named, name, &k->code, NULL)) {
            free(k->name);
            free(k);
            return NULL;
        }
        k->next = m->kernels;
        m->kernels = k;
    }
    return k && k->code.count ? &k->code.functions[0] : NULL;
}

bool pw_capture_modules_find(CUmodule module, const char *kernel, const struct pw_code_function **out_code)
{
    const struct pw_code_function *found = NULL;
    pthread_mutex_lock(&g.lock);
    struct module *m = g.modules;
    while (m && m->module != module)
        m = m->next;
    bool refused = m && m->refused;
    if (m)
        found = code_of(m, kernel);
    for (m = g.modules; m && !found; m = m->next)
        found = code_of(m, kernel);
    pthread_mutex_unlock(&g.lock);
    *out_code = found;
    return !refused;
}
