/* A program that uses the test's GPU: its arguments are what it does, one after the other.
 *
 *   launch:KERNEL:X,Y:THREADS:SHARED   launches and waits
 *   begin:KERNEL:X,Y:THREADS:SHARED    launches and does not
 *   refused:KERNEL                     a launch that the driver refuses after it has begun
 *   threads:N:TIMES                    N threads with a stream each launch kernel `mix` so many times
 *   late:slow:X,Y:THREADS              a thread launches while the program exits
 *   memory                             allocations of all kinds, copies, memsets, prefetches, advice, frees
 *   alloc:BYTES                        allocates
 *   range:N:NAME, leave:N              a range of NVTX, made in way N of nvtx.h
 *   own:NAME, own_end                  a range of the recorder's own
 *   resume, pause, start, stop         the recorder's functions; the profiler's calls
 *   reset, unload                      destroys the context; loads the module again
 *   other                              launches in a second context
 *   behind                             launches when the recorder has ended
 *   graph, fork, chdir:FOLDER, exit:CODE, _exit:CODE */
#include "gpu.h"
#include "gpu_window.h"
#include "nvtx.h"
#include "sanitizer.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HEAP = 1 << 20 };

static struct gpu_context *context;
static struct gpu_module *module;
static struct gpu_stream *stream;
static char *heap;

static uint64_t at(uint64_t byte)
{
    return (uint64_t)heap + byte % (HEAP - 1024);
}

static void fill(uint64_t addresses[32], uint64_t base, int64_t stride)
{
    for (int i = 0; i < 32; i++)
        addresses[i] = base + (uint64_t)(i * stride);
}

/* c[i] = a[i] + b[i] */
static void add(struct gpu_warp *w)
{
    struct gpu_place p = gpu_place(w);
    uint64_t addresses[32];
    for (unsigned i = 0; i < 3; i++) {
        fill(addresses, at(i * 65536 + p.number * 128), 4);
        gpu_access(w, 4 + 3 * i, i < 2 ? GPU_LOAD : GPU_STORE, 4, p.lanes, addresses);
    }
    gpu_exit(w, 12, p.lanes);
}

/* All that patches can be called for. */
static void mix(struct gpu_warp *w)
{
    struct gpu_place p = gpu_place(w);
    uint64_t a[32], hash = p.number * 1000003;
    unsigned odd = p.lanes & 0xaaaaaaaaU, low = p.lanes & 0xfffU;
    fill(a, at(2048 + hash % 65536), -4);
    gpu_access(w, 2, GPU_LOAD, 4, p.lanes, a);
    fill(a, at(hash * 7), 24);
    gpu_access(w, 3, GPU_STORE, 8, odd, a);
    for (unsigned i = 0; i < 32; i++)
        a[i] = at((hash + i * i * 4099ULL) * 16);
    gpu_access(w, 7, GPU_LOAD, 16, p.lanes, a);
    gpu_access(w, 8, GPU_LOAD, 16, low & odd, a);
    gpu_step(w, 9, GPU_SHARED, p.lanes);
    gpu_step(w, 10, GPU_LOCAL, p.lanes);
    gpu_step(w, 11, GPU_MATRIX, p.lanes);
    gpu_step(w, 15, GPU_BARRIER, p.lanes);
    fill(a, at(hash * 3), 0);
    gpu_access(w, 16, GPU_ATOMIC, 4, low, a);
    fill(a, GPU_WINDOW + 64, 4);
    gpu_access(w, 20, GPU_LOAD | GPU_GENERIC, 4, p.lanes, a); /* all to shared memory */
    for (unsigned i = 0; i < 32; i += 3)
        a[i] = at(hash + 8ULL * i);
    gpu_access(w, 21, GPU_STORE | GPU_GENERIC, 4, p.lanes, a); /* some */
    gpu_access(w, 22, GPU_PREFETCH, 4, p.lanes, a);
    fill(a, at(hash * 5), 16);
    gpu_access(w, 30, GPU_COPY_ASYNC, 16, p.lanes, a);
    memset(a, 0, sizeof a);
    gpu_access(w, 31, GPU_COPY_ASYNC, 16, p.lanes, a); /* of nothing: zeros are filled in */
    gpu_step(w, 32, GPU_COMMIT, p.lanes);
    gpu_step(w, 33, GPU_WAIT_GROUPS, p.lanes);
    fill(a, at(hash * 11), 1LL << 33); /* farther apart than a stride reaches */
    gpu_access(w, 34, GPU_LOAD, 1, p.lanes & 7, a);
    gpu_exit(w, 40, low);
    if (p.lanes & ~low)
        gpu_exit(w, 63, p.lanes & ~low);
}

/* More than a small ring has room for. */
static void many(struct gpu_warp *w)
{
    struct gpu_place p = gpu_place(w);
    uint64_t a[32];
    for (unsigned turn = 0; turn < 40; turn++) {
        for (unsigned i = 0; i < 32; i++)
            a[i] = at((p.number * 977 + turn) * 8191 + (uint64_t)i * i * 64);
        gpu_access(w, 5, GPU_LOAD, 4, p.lanes, a);
        fill(a, at(p.number * 4096 + turn * 128), 4);
        gpu_access(w, 9, GPU_STORE, 4, p.lanes, a);
    }
    gpu_exit(w, 12, p.lanes);
}

static void faults(struct gpu_warp *w)
{
    gpu_fault(w);
}

static void dies(struct gpu_warp *w)
{
    if (gpu_place(w).number == 3)
        raise(SIGKILL);
    add(w);
}

static bool slow_runs;

static void slow(struct gpu_warp *w)
{
    __atomic_store_n(&slow_runs, true, __ATOMIC_RELEASE);
    usleep(20000);
    add(w);
}

static const struct gpu_kernel kernels[] = {{"add", add, 13, false},
                                            {"mix", mix, 64, false},
                                            {"many", many, 13, false},
                                            {"slow", slow, 13, false},
                                            {"tensors", add, 13, true}};
static const struct gpu_kernel bad_kernels[] = {{"faults", faults, 13, false}, {"dies", dies, 13, false}};
static struct gpu_module *bad;

static void load(void)
{
    module = gpu_module_load(context, kernels, sizeof kernels / sizeof *kernels);
    bad = gpu_module_load(context, bad_kernels, sizeof bad_kernels / sizeof *bad_kernels);
}

static void open_context(void)
{
    context = gpu_context_create();
    stream = gpu_stream_create(context);
    load();
}

static struct gpu_geometry geometry(const char *text)
{
    struct gpu_geometry g = {{2, 1, 1}, {64, 1, 1}, 0};
    if (text)
        sscanf(text, ":%u,%u:%u:%u", &g.grid[0], &g.grid[1], &g.block[0], &g.shared);
    return g;
}

static void launch(const char *words)
{
    char kernel[32] = "";
    sscanf(words, "%31[a-z]", kernel);
    bool is_bad = strcmp(kernel, "faults") == 0 || strcmp(kernel, "dies") == 0;
    gpu_launch(is_bad ? bad : module, kernel, stream, geometry(strchr(words, ':')));
}

struct worker {
    pthread_t thread;
    int number, times;
};

static void *work(void *argument)
{
    const struct worker *w = argument;
    struct gpu_stream *own = gpu_stream_create(context);
    for (int i = 0; i < w->times; i++) {
        gpu_launch(module, "mix", own,
                   (struct gpu_geometry){{(unsigned)(i + 1), 1, 1}, {96, 1, 1}, (unsigned)w->number});
        if (i % 2)
            gpu_wait(own);
    }
    gpu_wait(own);
    return NULL;
}

static void run_threads(int count, int times)
{
    struct worker workers[16];
    for (int i = 0; i < count; i++) {
        workers[i] = (struct worker){.number = i + 1, .times = times};
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    }
    for (int i = 0; i < count; i++)
        pthread_join(workers[i].thread, NULL);
}

static void *launch_late(void *words)
{
    launch(words);
    return NULL;
}

static void use_memory(void)
{
    char *device = gpu_alloc(GPU_DEVICE, 4096), *managed = gpu_alloc(GPU_MANAGED, 8192);
    char *host = gpu_alloc(GPU_HOST, 100), *pooled = gpu_alloc(GPU_ASYNC, 5000);
    gpu_copy(SANITIZER_MEMCPY_DIRECTION_HOST_TO_DEVICE, device, host, 100, 1, 0);
    gpu_copy(SANITIZER_MEMCPY_DIRECTION_DEVICE_TO_HOST, host, device + 512, 64, 1, 0);
    gpu_copy(SANITIZER_MEMCPY_DIRECTION_DEVICE_TO_DEVICE, managed, device, 100, 4, 512);
    gpu_set(pooled, 4096);
    struct {
        CUdeviceptr address;
        size_t bytes;
        int advice, device;
    } advice = {(CUdeviceptr)managed, 4096, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, -1};
    struct {
        CUdeviceptr address;
        size_t bytes;
        int device;
    } prefetch = {(CUdeviceptr)managed, 8192, 0};
    gpu_driver_call(SANITIZER_CBID_DRIVER_API_cuMemAdvise, &advice);
    gpu_driver_call(SANITIZER_CBID_DRIVER_API_cuMemPrefetchAsync, &prefetch);
    prefetch.device = -1; /* to the host: a trace has no such event */
    gpu_driver_call(SANITIZER_CBID_DRIVER_API_cuMemPrefetchAsync, &prefetch);
    gpu_free(GPU_ASYNC, pooled);
    gpu_free(GPU_HOST, host);
    gpu_free(GPU_MANAGED, managed);
    gpu_free(GPU_DEVICE, device);
}

static void *recorder_function(const char *name)
{
    const char *path = getenv("CUDA_INJECTION64_PATH");
    void *library = path ? dlopen(path, RTLD_NOW) : NULL;
    return library ? dlsym(library, name) : NULL;
}

static void call_recorder(const char *function)
{
    void (*f)(void) = (void (*)(void))recorder_function(function);
    if (f)
        f();
}

static void push_own(const char *name)
{
    void (*f)(const char *) = (void (*)(const char *))recorder_function("pagewalk_capture_push");
    if (f)
        f(name);
}

static void launch_in_other_context(void)
{
    struct gpu_context *other = gpu_context_create();
    struct gpu_stream *s = gpu_stream_create(other);
    struct gpu_module *m = gpu_module_load(other, kernels, sizeof kernels / sizeof *kernels);
    gpu_launch(m, "add", s, geometry(NULL));
    gpu_wait(s);
}

static bool launches_behind;

/* Registered before the recorder, so that it runs after it. */
static void launch_behind(void)
{
    if (launches_behind)
        gpu_launch(module, "add", stream, geometry(NULL));
    gpu_wait(stream);
}

static void fork_child(void)
{
    pid_t child = fork();
    if (child == 0)
        exit(0);
    waitpid(child, NULL, 0);
}

static const char *behind(const char *word, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(word, prefix, length) == 0 ? word + length : NULL;
}

static void with_argument(const char *word)
{
    const char *rest;
    pthread_t thread;
    int count = 0, times = 0;
    if ((rest = behind(word, "launch:"))) {
        launch(rest);
        gpu_wait(stream);
    } else if ((rest = behind(word, "begin:"))) {
        launch(rest);
    } else if ((rest = behind(word, "refused:"))) {
        gpu_launch_refused(module, rest, stream, geometry(NULL));
    } else if ((rest = behind(word, "late:"))) {
        pthread_create(&thread, NULL, launch_late, (void *)rest);
        while (!__atomic_load_n(&slow_runs, __ATOMIC_ACQUIRE))
            usleep(1000);
    } else if ((rest = behind(word, "threads:")) && sscanf(rest, "%d:%d", &count, &times) == 2) {
        run_threads(count, times);
    } else if ((rest = behind(word, "alloc:"))) {
        gpu_alloc(GPU_DEVICE, (size_t)atoi(rest));
    } else if ((rest = behind(word, "range:"))) {
        nvtx_push((enum nvtx_way)atoi(rest), rest + 2);
    } else if ((rest = behind(word, "leave:"))) {
        nvtx_pop((enum nvtx_way)atoi(rest));
    } else if ((rest = behind(word, "own:"))) {
        push_own(rest);
    } else if ((rest = behind(word, "chdir:"))) {
        count = chdir(rest);
    } else if ((rest = behind(word, "exit:"))) {
        exit(atoi(rest));
    } else if ((rest = behind(word, "_exit:"))) {
        _exit(atoi(rest));
    } else {
        fprintf(stderr, "program: what is %s?\n", word);
        exit(99);
    }
}

static void obey(const char *word)
{
    if (strcmp(word, "memory") == 0)
        use_memory();
    else if (strcmp(word, "resume") == 0)
        call_recorder("pagewalk_capture_resume");
    else if (strcmp(word, "pause") == 0)
        call_recorder("pagewalk_capture_pause");
    else if (strcmp(word, "start") == 0)
        gpu_driver_call(SANITIZER_CBID_DRIVER_API_cuProfilerStart, NULL);
    else if (strcmp(word, "stop") == 0)
        gpu_driver_call(SANITIZER_CBID_DRIVER_API_cuProfilerStop, NULL);
    else if (strcmp(word, "unload") == 0)
        gpu_module_unload(module), load();
    else if (strcmp(word, "reset") == 0)
        gpu_context_destroy(context), load();
    else if (strcmp(word, "other") == 0)
        launch_in_other_context();
    else if (strcmp(word, "graph") == 0)
        gpu_graph_launch();
    else if (strcmp(word, "behind") == 0)
        launches_behind = true;
    else if (strcmp(word, "own_end") == 0)
        call_recorder("pagewalk_capture_pop");
    else if (strcmp(word, "fork") == 0)
        fork_child();
    else
        with_argument(word);
}

int main(int argc, char *argv[])
{
    atexit(launch_behind);
    gpu_start();
    open_context();
    heap = gpu_alloc(GPU_DEVICE, HEAP);
    for (int i = 1; i < argc; i++)
        obey(argv[i]);
    return 0;
}
