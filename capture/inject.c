/* The library inside the recorded process: from NVIDIA's Compute Sanitizer API to a session (capture/session.h).
 *
 * The CUDA driver loads it when the program first uses CUDA (CUDA_INJECTION64_PATH) and calls InitializeInjection. The
 * API then tells of modules, whose code is patched with the functions of patch.cu, of memory, copies and launches. Only
 * functions of the API itself may be called from its callbacks. Its headers are needed here, in modules.c, results.c
 * and driver_calls.c.
 *
 * One context is recorded, that of the first launch that is wanted; kernels of CUDA graphs are not. */
#include "driver_calls.h"
#include "modules.h"
#include "names.h"
#include "ranges.h"
#include "report.h"
#include "results.h"
#include "session.h"

#include <fcntl.h>
#include <pthread.h>
#include <sanitizer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* What a launch's callbacks hand to the session's calls. */
struct handles {
    const Sanitizer_LaunchData *data;
};

static struct {
    struct pw_capture_session *session; /* NULL: nothing is recorded, or no more */
    pthread_rwlock_t running;           /* held for writing while the session is closed */
    CUcontext recorded;
    const char *output;
    bool names; /* allocations are named */
    struct pw_capture_missing missing;
    char claim[4096];
    double began;
} g = {.running = PTHREAD_RWLOCK_INITIALIZER};

static __thread uint32_t dynamic_shared; /* of the launch that this thread is about to make */
static __thread bool recording;          /* this thread's launch is open */
static __thread bool inside;             /* this thread is in a callback: what is called back now, we have caused */

static void count(uint64_t *missing)
{
    __atomic_fetch_add(missing, 1, __ATOMIC_RELAXED);
}

static bool allocate_device(void *context, void *launch, size_t bytes, void **out)
{
    (void)context;
    const struct handles *h = launch;
    return pw_capture_worked(sanitizerAlloc(h->data->context, out, bytes), "device memory");
}

static bool allocate_host(void *context, void *launch, size_t bytes, void **out)
{
    (void)context;
    const struct handles *h = launch;
    return pw_capture_worked(sanitizerAllocHost(h->data->context, out, bytes), "pinned host memory");
}

static bool copy_to_device(void *context, void *launch, void *to, const void *from, size_t bytes)
{
    (void)context;
    const struct handles *h = launch;
    return pw_capture_worked(sanitizerMemcpyHostToDeviceAsync(to, (void *)from, bytes, h->data->hStream),
                             "copy to the GPU");
}

static bool set_data(void *context, void *launch, void *device)
{
    (void)context;
    const Sanitizer_LaunchData *l = ((const struct handles *)launch)->data;
    SanitizerResult result = sanitizerSetLaunchCallbackData(l->hLaunch, l->function, l->hStream, device);
    return !device || pw_capture_worked(result, "data of patches"); /* kernels that are not patched take none */
}

static bool wait_for_launch(void *context, void *launch)
{
    (void)context;
    return pw_capture_worked(sanitizerStreamSynchronize(((const struct handles *)launch)->data->hStream),
                             "end of a kernel");
}

static const char *why(void *context)
{
    (void)context;
    return pw_capture_why();
}

static void module_loaded(const Sanitizer_ResourceModuleData *data)
{
    enum { MOST = 3 }; /* messages: the first says why, and some programs load thousands of modules */
    if (pw_capture_module_loaded(data))
        return;
    count(&g.missing.unpatched);
    if (__atomic_load_n(&g.missing.unpatched, __ATOMIC_RELAXED) <= MOST)
        pw_capture_say("a module cannot be patched: %s", pw_capture_why());
}

/* The ring and what patches are called with go with the context. The next one that launches may be recorded. */
static void context_destroyed(CUcontext context)
{
    pw_capture_modules_leave(context);
    if (__atomic_load_n(&g.recorded, __ATOMIC_ACQUIRE) != context)
        return;
    pw_capture_session_leave(g.session);
    __atomic_store_n(&g.recorded, NULL, __ATOMIC_RELEASE);
}

/* What the driver allocates for cooperative groups, 512 bytes of every context, is not the program's. On an H200
 * (driver 580) they came first in every trace; with this flag left out they are in none. */
static void memory_event(uint32_t id, const Sanitizer_ResourceMemoryData *m)
{
    if (m->flags & SANITIZER_MEMORY_FLAG_CG_RUNTIME)
        return;
    bool host = id == SANITIZER_CBID_RESOURCE_HOST_MEMORY_ALLOC || id == SANITIZER_CBID_RESOURCE_HOST_MEMORY_FREE;
    bool allocates = id == SANITIZER_CBID_RESOURCE_HOST_MEMORY_ALLOC ||
                     id == SANITIZER_CBID_RESOURCE_DEVICE_MEMORY_ALLOC ||
                     id == SANITIZER_CBID_RESOURCE_MEMORY_ALLOC_ASYNC;
    char name[PW_CAPTURE_NAME] = "";
    if (allocates && g.names)
        pw_capture_name_allocation(name);
    struct pw_trace_event event = {.kind = allocates ? PW_TRACE_ALLOC : PW_TRACE_FREE,
                                   .memory = PW_TRACE_DEVICE,
                                   .address = m->address,
                                   .bytes = m->size,
                                   .name = name};
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
        pw_capture_module_unloaded(((const Sanitizer_ResourceModuleData *)data)->module);
        break;
    case SANITIZER_CBID_RESOURCE_CONTEXT_DESTROY_STARTING:
        context_destroyed(((const Sanitizer_ResourceContextData *)data)->context);
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

static void launch_ends(const Sanitizer_LaunchData *l)
{
    if (recording)
        pw_capture_session_end(g.session, &(struct handles){l});
    recording = false;
}

/* Whether the launch may be recorded; its patches are switched off if not. */
static bool may_record(const Sanitizer_LaunchData *l, const char *kernel, const struct pw_code_function **out_code)
{
    if (pw_capture_session_wants(g.session, kernel)) {
        bool patched = pw_capture_modules_find(l->module, kernel, out_code);
        CUcontext recorded = NULL; /* the first launch of all says which it is */
        if (patched && (__atomic_compare_exchange_n(&g.recorded, &recorded, l->context, false, __ATOMIC_ACQ_REL,
                                                    __ATOMIC_ACQUIRE) ||
                        recorded == l->context))
            return true;
        count(patched ? &g.missing.other_contexts : &g.missing.unpatched_launches);
    }
    set_data(NULL, &(struct handles){l}, NULL);
    return false;
}

static void launch_begins(const Sanitizer_LaunchData *l)
{
    struct handles handles = {l};
    uint64_t address = 0, bytes;
    const char *kernel = l->functionName ? l->functionName : "";
    struct pw_capture_launch launch = {.kernel = kernel,
                                       .grid = {l->gridDim_x, l->gridDim_y, l->gridDim_z},
                                       .block = {l->blockDim_x, l->blockDim_y, l->blockDim_z},
                                       .dynamic_shared = dynamic_shared,
                                       .launch = &handles};
    dynamic_shared = 0;
    launch_ends(l); /* of one that the driver has refused: its end is not reported */
    if (!may_record(l, kernel, &launch.code))
        return;
    if (sanitizerGetFunctionPcAndSize(l->module, kernel, &address, &bytes) == SANITIZER_SUCCESS)
        launch.address = address;
    recording = pw_capture_session_begin(g.session, &launch);
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
        if (id == SANITIZER_CBID_GRAPHS_LAUNCH_BEGIN)
            count(&g.missing.graph_launches);
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
    if (inside)
        return;
    inside = true;
    pthread_rwlock_rdlock(&g.running);
    if (g.session)
        dispatch(domain, id, data);
    else if (domain == SANITIZER_CB_DOMAIN_LAUNCH && id == SANITIZER_CBID_LAUNCH_BEGIN)
        set_data(NULL, &(struct handles){data}, NULL);
    pthread_rwlock_unlock(&g.running);
    inside = false;
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
    if (g.session)
        pw_capture_session_settle(g.session); /* the launch of another thread may be under way */
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
    if (!summary.records)
        unlink(g.output);
    tell_launcher(summary.records ? "recorded\n" : summary.recorded ? "silent\n" : "empty\n");
}

/* One process records: the first that uses CUDA. The claim says which, until it says what came of it. */
static bool claim(const char *path)
{
    int length = snprintf(g.claim, sizeof g.claim, "%s", path);
    int file = length > 0 && (size_t)length < sizeof g.claim ? open(g.claim, O_WRONLY | O_CREAT | O_EXCL, 0600) : -1;
    if (file < 0)
        return false;
    char number[24];
    length = snprintf(number, sizeof number, "%ld\n", (long)getpid());
    bool written = write(file, number, (size_t)length) == length;
    close(file);
    return written;
}

/* A child that goes on without exec is not recorded: neither the thread that reads the ring nor the GPU is there. */
static void forget_in_child(void)
{
    g.session = NULL;
    g.running = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER;
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
void pagewalk_capture_push(const char *name);
void pagewalk_capture_pop(void);

/* For programs, by dlsym of what CUDA_INJECTION64_PATH names (pagewalk_capture.py). */
__attribute__((visibility("default"))) void pagewalk_capture_resume(void)
{
    pause_recording(false);
}

__attribute__((visibility("default"))) void pagewalk_capture_pause(void)
{
    pause_recording(true);
}

/* A range, as NVTX has them. */
__attribute__((visibility("default"))) void pagewalk_capture_push(const char *name)
{
    pw_capture_range_push(name);
}

__attribute__((visibility("default"))) void pagewalk_capture_pop(void)
{
    pw_capture_range_pop();
}

static bool subscribe(void)
{
    static Sanitizer_SubscriberHandle subscriber;
    if (!pw_capture_worked(sanitizerSubscribe(&subscriber, callback, NULL), "sanitizerSubscribe"))
        return false;
    static const struct {
        Sanitizer_CallbackDomain domain;
        const char *name;
    } domains[] = {{SANITIZER_CB_DOMAIN_RESOURCE, "callbacks for memory and modules"},
                   {SANITIZER_CB_DOMAIN_LAUNCH, "callbacks for launches"},
                   {SANITIZER_CB_DOMAIN_MEMCPY, "callbacks for copies"},
                   {SANITIZER_CB_DOMAIN_MEMSET, "callbacks for memsets"},
                   {SANITIZER_CB_DOMAIN_GRAPHS, "callbacks for graphs"}};
    for (size_t i = 0; i < sizeof domains / sizeof domains[0]; i++)
        if (!pw_capture_worked(sanitizerEnableDomain(1, subscriber, domains[i].domain), domains[i].name))
            return false;
    bool all = true;
    for (const uint32_t *call = pw_capture_driver_calls; *call; call++)
        all &= pw_capture_worked(sanitizerEnableCallback(1, subscriber, SANITIZER_CB_DOMAIN_DRIVER_API, *call),
                                 "callbacks for calls of the driver");
    if (!all)
        pw_capture_say("dynamic shared memory, prefetches and advice are not recorded: %s", pw_capture_why());
    return true;
}

static void give_up(void)
{
    pw_capture_say(
        "the Compute Sanitizer API does not start; it needs a driver that fits this toolkit and a GPU that can "
        "be debugged: %s",
        pw_capture_why());
    tell_launcher("failed\n");
    struct pw_capture_summary nothing;
    struct pw_error err;
    pw_capture_session_close(g.session, &nothing, &err);
    g.session = NULL;
    unlink(g.output);
}

int InitializeInjection(void);

__attribute__((visibility("default"))) int InitializeInjection(void)
{
    const char *text = getenv(PW_CAPTURE_VARIABLE), *claim_path = getenv("PAGEWALK_CAPTURE_CLAIM");
    const char *patches = getenv("PAGEWALK_CAPTURE_PATCHES");
    if (!text || !claim_path || !patches || !claim(claim_path))
        return 1;
    static const struct pw_capture_calls calls = {
        NULL, allocate_device, allocate_host, copy_to_device, set_data, wait_for_launch, why};
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
    g.output = settings.output;
    g.names = settings.names;
    if (g.names)
        pw_capture_names_start();
    pw_capture_modules_start(patches, settings.shared, g.session);
    if (!subscribe()) {
        give_up();
        return 1;
    }
    pthread_atfork(NULL, NULL, forget_in_child);
    atexit(finish);
    return 1;
}
