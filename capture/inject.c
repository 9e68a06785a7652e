/* The library inside the recorded process: from NVIDIA's Compute Sanitizer API to a session (capture/session.h).
 *
 * The CUDA driver loads it when the program first uses CUDA (CUDA_INJECTION64_PATH) and calls InitializeInjection. The
 * API then tells of modules, whose code is patched with the functions of patch.cu, of memory, copies and launches. Only
 * functions of the API itself may be called from its callbacks. Nothing but this file needs its headers.
 *
 * One context is recorded, that of the first launch that is wanted; kernels of CUDA graphs are not. */
#include "driver_calls.h"
#include "report.h"
#include "session.h"

#include <fcntl.h>
#include <pthread.h>
#include <sanitizer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct module {
    CUmodule module;
    struct pw_code code;
    struct module *next;
};

/* What a launch's callbacks hand to the session's calls. */
struct handles {
    const Sanitizer_LaunchData *data;
};

static struct {
    struct pw_capture_session *session; /* NULL: nothing is recorded, or no more */
    pthread_rwlock_t running;           /* held for writing while the session is closed */
    pthread_mutex_t patching;           /* guards modules and contexts, as the API asks */
    struct module *modules;
    CUcontext contexts[8]; /* into which patches were loaded */
    size_t context_count;
    CUcontext recorded;
    const char *patches;
    const char *output;
    bool shared;
    struct pw_capture_missing missing;
    char claim[4096];
    double began;
} g = {.running = PTHREAD_RWLOCK_INITIALIZER, .patching = PTHREAD_MUTEX_INITIALIZER};

static __thread uint32_t dynamic_shared; /* of the launch that this thread is about to make */
static __thread bool recording;          /* this thread's launch is open */

static bool worked(SanitizerResult result, const char *what)
{
    if (result == SANITIZER_SUCCESS)
        return true;
    const char *why = "unknown error";
    sanitizerGetResultString(result, &why);
    enum { MOST = 5 }; /* messages: the first tells why, and some programs go on for thousands of launches */
    static int said;
    if (__atomic_fetch_add(&said, 1, __ATOMIC_RELAXED) < MOST)
        pw_capture_say("%s: %s (%d)", what, why, (int)result);
    return false;
}

static bool allocate_device(void *context, void *launch, size_t bytes, void **out)
{
    (void)context;
    const struct handles *h = launch;
    return worked(sanitizerAlloc(h->data->context, out, bytes), "device memory");
}

static bool allocate_host(void *context, void *launch, size_t bytes, void **out)
{
    (void)context;
    const struct handles *h = launch;
    return worked(sanitizerAllocHost(h->data->context, out, bytes), "pinned host memory");
}

static bool copy_to_device(void *context, void *launch, void *to, const void *from, size_t bytes)
{
    (void)context;
    const struct handles *h = launch;
    return worked(sanitizerMemcpyHostToDeviceAsync(to, (void *)from, bytes, h->data->hStream), "copy to the GPU");
}

static bool set_data(void *context, void *launch, void *device)
{
    (void)context;
    const Sanitizer_LaunchData *l = ((const struct handles *)launch)->data;
    SanitizerResult result = sanitizerSetLaunchCallbackData(l->hLaunch, l->function, l->hStream, device);
    return !device || worked(result, "data of patches"); /* kernels that are not patched take none */
}

static bool wait_for_launch(void *context, void *launch)
{
    (void)context;
    return worked(sanitizerStreamSynchronize(((const struct handles *)launch)->data->hStream), "end of a kernel");
}

/* Loads the patches into a context, once. */
static bool have_patches(CUcontext context)
{
    for (size_t i = 0; i < g.context_count; i++)
        if (g.contexts[i] == context)
            return true;
    if (g.context_count == sizeof g.contexts / sizeof g.contexts[0] ||
        !worked(sanitizerAddPatchesFromFile(g.patches, context), g.patches))
        return false;
    g.contexts[g.context_count++] = context;
    return true;
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
        if (patches[i].shared && !g.shared)
            continue;
        SanitizerResult result = sanitizerPatchInstructions(patches[i].instruction, module, patches[i].function);
        if (patches[i].needed && !worked(result, patches[i].function))
            return false;
    }
    return worked(sanitizerPatchModule(module), "patching a module");
}

static bool is_wanted(const void *context, const char *kernel)
{
    return pw_capture_session_wants(context, kernel);
}

/* Modules without a kernel that is wanted are left as they are, which costs nothing. */
static void module_loaded(const Sanitizer_ResourceModuleData *data)
{
    struct module *m = calloc(1, sizeof *m);
    if (!m)
        return;
    m->module = data->module;
    bool known = data->pCubin && !pw_code_read(data->pCubin, data->cubinSize, is_wanted, g.session, &m->code, NULL);
    pthread_mutex_lock(&g.patching);
    if (!known || m->code.count)
        g.missing.unpatched += !have_patches(data->context) || !patch(data->module);
    m->next = g.modules;
    g.modules = m;
    pthread_mutex_unlock(&g.patching);
}

static void module_unloaded(const Sanitizer_ResourceModuleData *data)
{
    pthread_mutex_lock(&g.patching);
    for (struct module **at = &g.modules; *at; at = &(*at)->next)
        if ((*at)->module == data->module) {
            struct module *gone = *at;
            *at = gone->next;
            pw_code_free(&gone->code);
            free(gone);
            break;
        }
    pthread_mutex_unlock(&g.patching);
}

/* That of the launch's module; of another with a kernel of that name, should the handles differ. */
static const struct pw_code_function *find_code(CUmodule module, const char *kernel)
{
    const struct pw_code_function *found = NULL, *elsewhere = NULL;
    pthread_mutex_lock(&g.patching);
    for (const struct module *m = g.modules; m && !found; m = m->next) {
        const struct pw_code_function *f = pw_code_find(&m->code, kernel);
        if (m->module == module)
            found = f;
        else if (f)
            elsewhere = f;
    }
    pthread_mutex_unlock(&g.patching);
    return found ? found : elsewhere;
}

static void memory_event(uint32_t id, const Sanitizer_ResourceMemoryData *m)
{
    bool host = id == SANITIZER_CBID_RESOURCE_HOST_MEMORY_ALLOC || id == SANITIZER_CBID_RESOURCE_HOST_MEMORY_FREE;
    bool allocates = id == SANITIZER_CBID_RESOURCE_HOST_MEMORY_ALLOC ||
                     id == SANITIZER_CBID_RESOURCE_DEVICE_MEMORY_ALLOC ||
                     id == SANITIZER_CBID_RESOURCE_MEMORY_ALLOC_ASYNC;
    struct pw_trace_event event = {.kind = allocates ? PW_TRACE_ALLOC : PW_TRACE_FREE,
                                   .memory = PW_TRACE_DEVICE,
                                   .address = m->address,
                                   .bytes = m->size,
                                   .name = ""};
    if (host || m->flags & SANITIZER_MEMORY_FLAG_HOST_PINNED)
        event.memory = PW_TRACE_HOST;
    if (m->flags & SANITIZER_MEMORY_FLAG_MANAGED)
        event.memory = PW_TRACE_MANAGED;
    pw_capture_session_event(g.session, &event);
}

static void resource(uint32_t id, const void *data)
{
    switch (id) {
    case SANITIZER_CBID_RESOURCE_MODULE_LOADED:
        module_loaded(data);
        break;
    case SANITIZER_CBID_RESOURCE_MODULE_UNLOAD_STARTING:
        module_unloaded(data);
        break;
    case SANITIZER_CBID_RESOURCE_DEVICE_MEMORY_ALLOC:
    case SANITIZER_CBID_RESOURCE_DEVICE_MEMORY_FREE:
    case SANITIZER_CBID_RESOURCE_HOST_MEMORY_ALLOC:
    case SANITIZER_CBID_RESOURCE_HOST_MEMORY_FREE:
    case SANITIZER_CBID_RESOURCE_MEMORY_ALLOC_ASYNC:
    case SANITIZER_CBID_RESOURCE_MEMORY_FREE_ASYNC:
        memory_event(id, data);
        break;
    default:
        break;
    }
}

static void launch_begins(const Sanitizer_LaunchData *l)
{
    if (!g.recorded && pw_capture_session_wants(g.session, l->functionName))
        g.recorded = l->context;
    struct handles handles = {l};
    if (l->context != g.recorded) {
        g.missing.other_contexts += pw_capture_session_wants(g.session, l->functionName);
        return;
    }
    uint64_t address = 0, bytes;
    struct pw_capture_launch launch = {.kernel = l->functionName,
                                       .grid = {l->gridDim_x, l->gridDim_y, l->gridDim_z},
                                       .block = {l->blockDim_x, l->blockDim_y, l->blockDim_z},
                                       .dynamic_shared = dynamic_shared,
                                       .code = find_code(l->module, l->functionName),
                                       .launch = &handles};
    if (sanitizerGetFunctionPcAndSize(l->module, l->functionName, &address, &bytes) == SANITIZER_SUCCESS)
        launch.address = address;
    recording = pw_capture_session_begin(g.session, &launch);
    dynamic_shared = 0;
}

static void launch_ends(const Sanitizer_LaunchData *l)
{
    if (recording)
        pw_capture_session_end(g.session, &(struct handles){l});
    recording = false;
}

static uint64_t extent(uint64_t width, uint64_t height, uint64_t pitch)
{
    return height > 1 && pitch > width ? (height - 1) * pitch + width : width * (height ? height : 1);
}

static void copy_event(const Sanitizer_MemcpyData *c)
{
    uint64_t rows = (c->height ? c->height : 1) * (c->depth ? c->depth : 1);
    uint64_t from = c->size, to = c->size;
    if (!c->size) {
        from = extent(c->width, rows, c->srcPitch);
        to = extent(c->width, rows, c->dstPitch);
    }
    struct pw_trace_event event = {.kind = PW_TRACE_COPY, .name = ""};
    bool unknown = c->direction == SANITIZER_MEMCPY_DIRECTION_UNKNOWN;
    if (unknown || c->direction == SANITIZER_MEMCPY_DIRECTION_DEVICE_TO_HOST) {
        event.flags = PW_TRACE_FROM_DEVICE;
        event.address = c->srcAddress;
        event.bytes = from;
        pw_capture_session_event(g.session, &event);
    }
    if (unknown || c->direction == SANITIZER_MEMCPY_DIRECTION_HOST_TO_DEVICE ||
        c->direction == SANITIZER_MEMCPY_DIRECTION_DEVICE_TO_DEVICE) {
        event.flags =
            c->direction == SANITIZER_MEMCPY_DIRECTION_DEVICE_TO_DEVICE ? PW_TRACE_ON_DEVICE : PW_TRACE_TO_DEVICE;
        event.address = c->dstAddress;
        event.bytes = to;
        pw_capture_session_event(g.session, &event);
    }
}

static void set_event(const Sanitizer_MemsetData *m)
{
    struct pw_trace_event event = {.kind = PW_TRACE_COPY,
                                   .flags = PW_TRACE_ON_DEVICE,
                                   .address = m->address,
                                   .bytes =
                                       extent(m->width * (m->elementSize ? m->elementSize : 1), m->height, m->pitch),
                                   .name = ""};
    pw_capture_session_event(g.session, &event);
}

static void dispatch(Sanitizer_CallbackDomain domain, uint32_t id, const void *data)
{
    switch (domain) {
    case SANITIZER_CB_DOMAIN_RESOURCE:
        resource(id, data);
        break;
    case SANITIZER_CB_DOMAIN_LAUNCH:
        if (id == SANITIZER_CBID_LAUNCH_BEGIN)
            launch_begins(data);
        else if (id == SANITIZER_CBID_LAUNCH_END)
            launch_ends(data);
        break;
    case SANITIZER_CB_DOMAIN_MEMCPY:
        if (id == SANITIZER_CBID_MEMCPY_STARTING)
            copy_event(data);
        break;
    case SANITIZER_CB_DOMAIN_MEMSET:
        if (id == SANITIZER_CBID_MEMSET_STARTING)
            set_event(data);
        break;
    case SANITIZER_CB_DOMAIN_GRAPHS:
        g.missing.graph_launches += id == SANITIZER_CBID_GRAPHS_LAUNCH_BEGIN;
        break;
    case SANITIZER_CB_DOMAIN_DRIVER_API:
        pw_capture_driver_call(g.session, id, data, &dynamic_shared);
        break;
    default:
        break;
    }
}

static void callback(void *context, Sanitizer_CallbackDomain domain, Sanitizer_CallbackId id, const void *data)
{
    (void)context;
    pthread_rwlock_rdlock(&g.running);
    if (g.session)
        dispatch(domain, id, data);
    pthread_rwlock_unlock(&g.running);
}

static void tell_launcher(const char *what)
{
    int file = open(g.claim, O_WRONLY | O_TRUNC);
    if (file < 0)
        return;
    if (write(file, what, strlen(what)) < 0)
        pw_capture_say("%s cannot be written", g.claim);
    close(file);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void finish(void)
{
    struct pw_capture_summary summary;
    struct pw_error err;
    pthread_rwlock_wrlock(&g.running);
    struct pw_capture_session *session = g.session;
    g.session = NULL;
    pthread_rwlock_unlock(&g.running);
    if (!session)
        return;
    if (pw_capture_session_close(session, &summary, &err)) {
        pw_capture_say("%s", err.message);
        tell_launcher("failed\n");
        return;
    }
    pw_capture_report(&summary, &g.missing, g.output, seconds() - g.began);
    tell_launcher(summary.recorded ? "recorded\n" : "empty\n");
}

/* One process records: the first that uses CUDA. */
static bool claim(const char *path)
{
    int length = snprintf(g.claim, sizeof g.claim, "%s", path);
    int file = length > 0 && (size_t)length < sizeof g.claim ? open(g.claim, O_WRONLY | O_CREAT | O_EXCL, 0600) : -1;
    if (file < 0)
        return false;
    close(file);
    return true;
}

static void pause_recording(bool paused)
{
    pthread_rwlock_rdlock(&g.running);
    if (g.session)
        pw_capture_session_pause(g.session, paused);
    pthread_rwlock_unlock(&g.running);
}

void pagewalk_capture_resume(void);
void pagewalk_capture_pause(void);

/* For programs, by dlsym of what CUDA_INJECTION64_PATH names. */
__attribute__((visibility("default"))) void pagewalk_capture_resume(void)
{
    pause_recording(false);
}

__attribute__((visibility("default"))) void pagewalk_capture_pause(void)
{
    pause_recording(true);
}

static bool subscribe(void)
{
    static Sanitizer_SubscriberHandle subscriber;
    if (!worked(sanitizerSubscribe(&subscriber, callback, NULL), "the Compute Sanitizer API does not start"))
        return false;
    static const Sanitizer_CallbackDomain domains[] = {SANITIZER_CB_DOMAIN_RESOURCE, SANITIZER_CB_DOMAIN_LAUNCH,
                                                       SANITIZER_CB_DOMAIN_MEMCPY, SANITIZER_CB_DOMAIN_MEMSET,
                                                       SANITIZER_CB_DOMAIN_GRAPHS};
    bool all = true;
    for (size_t i = 0; i < sizeof domains / sizeof domains[0]; i++)
        all &= worked(sanitizerEnableDomain(1, subscriber, domains[i]), "a domain of callbacks");
    for (const uint32_t *call = pw_capture_driver_calls; *call; call++)
        sanitizerEnableCallback(1, subscriber, SANITIZER_CB_DOMAIN_DRIVER_API, *call);
    return all;
}

int InitializeInjection(void);

__attribute__((visibility("default"))) int InitializeInjection(void)
{
    const char *text = getenv(PW_CAPTURE_VARIABLE), *claim_path = getenv("PAGEWALK_CAPTURE_CLAIM");
    g.patches = getenv("PAGEWALK_CAPTURE_PATCHES");
    if (!text || !claim_path || !g.patches || !claim(claim_path))
        return 1;
    static const struct pw_capture_calls calls = {NULL,           allocate_device, allocate_host,
                                                  copy_to_device, set_data,        wait_for_launch};
    struct pw_capture_settings settings;
    struct pw_error err;
    char device[256];
    pw_capture_name_device(device, sizeof device);
    char *copy = strdup(text); /* the settings point into it until the process ends */
    g.began = seconds();
    if (!copy || pw_capture_settings_read(&settings, copy, &err) ||
        pw_capture_session_open(&settings, &calls, device, &g.session, &err)) {
        pw_capture_say("%s", copy ? err.message : "out of memory");
        tell_launcher("failed\n");
        return 1;
    }
    g.shared = settings.shared;
    g.output = settings.output;
    if (!subscribe()) {
        pw_capture_say("recording needs an NVIDIA driver that fits this toolkit and a GPU that can be debugged");
        tell_launcher("failed\n");
        struct pw_capture_summary nothing;
        pw_capture_session_close(g.session, &nothing, &err);
        g.session = NULL;
        unlink(settings.output);
        return 1;
    }
    atexit(finish);
    return 1;
}
