/* The driver: see the header. */
#include "gpu_state.h"

#include "machine_code.h"
#include "sanitizer_patching.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SMS = sizeof((struct gpu_launch *)NULL)->sms / sizeof(pthread_t), LANES = 32 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned launches, modules;

void gpu_start(void)
{
    const char *path = getenv("CUDA_INJECTION64_PATH");
    void *library = path ? dlopen(path, RTLD_NOW) : NULL;
    if (path && !library)
        fprintf(stderr, "gpu: %s\n", dlerror());
    int (*begin)(void) = library ? (int (*)(void))dlsym(library, "InitializeInjection") : NULL;
    if (begin)
        begin();
}

struct gpu_context *gpu_context_create(void)
{
    struct gpu_context *c = calloc(1, sizeof *c);
    gpu_tell(SANITIZER_CB_DOMAIN_RESOURCE, SANITIZER_CBID_RESOURCE_DEVICE_MEMORY_ALLOC,
             &(Sanitizer_ResourceMemoryData){4096, 512, SANITIZER_MEMORY_FLAG_CG_RUNTIME});
    return c;
}

void gpu_context_destroy(struct gpu_context *c)
{
    gpu_tell(SANITIZER_CB_DOMAIN_RESOURCE, SANITIZER_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
             &(Sanitizer_ResourceContextData){c});
    while (c->blocks) {
        struct gpu_block *b = c->blocks;
        c->blocks = b->next;
        munmap(b->address, b->bytes);
        free(b);
    }
    c->has_patches = false; /* the next one may have this address */
}

struct gpu_stream *gpu_stream_create(struct gpu_context *c)
{
    struct gpu_stream *s = calloc(1, sizeof *s);
    s->context = c;
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

/* An image with one section of code per kernel. */
static void make_image(struct gpu_module *m)
{
    enum { MOST_INSTRUCTIONS = 256, NAMES = 1024 };
    struct {
        Elf64_Ehdr header;
        Elf64_Shdr sections[GPU_MOST_KERNELS + 2];
        char names[NAMES];
        uint8_t code[GPU_MOST_KERNELS][16 * (MOST_INSTRUCTIONS + 1)];
    } *image = calloc(1, sizeof *image);
    uint32_t named = 1;
    for (uint32_t i = 0; i < m->count; i++) {
        struct instruction code[MOST_INSTRUCTIONS];
        uint32_t count = m->kernels[i].instructions;
        for (uint32_t k = 0; k < count; k++)
            code[k] = (struct instruction){k + 1 < count ? OTHER : EXIT_CODE, ALWAYS, 0, 0, 0};
        if (m->kernels[i].copies_tensors)
            code[1].opcode = TENSOR_LOAD_CODE;
        encode(image->code[i], code, count, 1);
        image->sections[i + 2] = (Elf64_Shdr){.sh_name = named,
                                              .sh_type = SHT_PROGBITS,
                                              .sh_offset = (uint64_t)(image->code[i] - (uint8_t *)image),
                                              .sh_size = 16 * (count + 1),
                                              .sh_info = 24U << 24 | (i + 1)};
        named += (uint32_t)snprintf(image->names + named, NAMES - named, ".text.%s", m->kernels[i].name) + 1;
    }
    image->header = (Elf64_Ehdr){.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64},
                                 .e_shoff = (uint64_t)((uint8_t *)image->sections - (uint8_t *)image),
                                 .e_shentsize = sizeof(Elf64_Shdr),
                                 .e_shnum = (Elf64_Half)(m->count + 2),
                                 .e_shstrndx = 1};
    image->sections[1] = (Elf64_Shdr){
        .sh_type = SHT_STRTAB, .sh_offset = (uint64_t)((uint8_t *)image->names - (uint8_t *)image), .sh_size = NAMES};
    m->image = (uint8_t *)image;
    m->bytes = sizeof *image;
}

struct gpu_module *gpu_module_load(struct gpu_context *c, const struct gpu_kernel *kernels, uint32_t count)
{
    struct gpu_module *m = calloc(1, sizeof *m);
    gpu_forbid_callbacks(__func__);
    m->context = c;
    m->count = count;
    memcpy(m->kernels, kernels, count * sizeof *kernels);
    m->address = 0x7e0000000000ULL + 0x100000ULL * __atomic_add_fetch(&modules, 1, __ATOMIC_RELAXED);
    make_image(m);
    gpu_tell(SANITIZER_CB_DOMAIN_RESOURCE, SANITIZER_CBID_RESOURCE_MODULE_LOADED,
             &(Sanitizer_ResourceModuleData){c, m, (const char *)m->image, m->bytes});
    free(m->image); /* it is the callback's only */
    m->image = NULL;
    return m;
}

void gpu_module_unload(struct gpu_module *m)
{
    gpu_tell(SANITIZER_CB_DOMAIN_RESOURCE, SANITIZER_CBID_RESOURCE_MODULE_UNLOAD_STARTING,
             &(Sanitizer_ResourceModuleData){m->context, m, NULL, 0});
    free(m);
}

static void tell_memory(uint32_t id, enum gpu_memory memory, const void *address, size_t bytes)
{
    static const uint32_t flags[] = {
        [GPU_MANAGED] = SANITIZER_MEMORY_FLAG_MANAGED, [GPU_HOST] = SANITIZER_MEMORY_FLAG_HOST_PINNED, [GPU_ASYNC] = 0};
    gpu_tell(SANITIZER_CB_DOMAIN_RESOURCE, id,
             &(Sanitizer_ResourceMemoryData){(uint64_t)address, bytes, flags[memory]});
}

void *gpu_alloc(enum gpu_memory memory, size_t bytes)
{
    static const uint32_t ids[] = {
        SANITIZER_CBID_RESOURCE_DEVICE_MEMORY_ALLOC, SANITIZER_CBID_RESOURCE_DEVICE_MEMORY_ALLOC,
        SANITIZER_CBID_RESOURCE_HOST_MEMORY_ALLOC, SANITIZER_CBID_RESOURCE_MEMORY_ALLOC_ASYNC};
    gpu_forbid_callbacks(__func__);
    size_t *block = aligned_alloc(512, (bytes + 1023) / 512 * 512);
    *block = bytes;
    void *address = (char *)block + 512;
    tell_memory(ids[memory], memory, address, bytes);
    return address;
}

void gpu_free(enum gpu_memory memory, void *address)
{
    static const uint32_t ids[] = {SANITIZER_CBID_RESOURCE_DEVICE_MEMORY_FREE,
                                   SANITIZER_CBID_RESOURCE_DEVICE_MEMORY_FREE, SANITIZER_CBID_RESOURCE_HOST_MEMORY_FREE,
                                   SANITIZER_CBID_RESOURCE_MEMORY_FREE_ASYNC};
    size_t *block = (size_t *)((char *)address - 512);
    tell_memory(ids[memory], memory, address, *block);
    free(block);
}

void gpu_copy(int direction, const void *to, const void *from, size_t bytes, size_t rows, size_t pitch)
{
    Sanitizer_MemcpyData data = {.srcAddress = (uint64_t)from, .dstAddress = (uint64_t)to, .direction = direction};
    gpu_forbid_callbacks(__func__);
    if (rows > 1) {
        data.width = bytes;
        data.height = rows;
        data.depth = 1;
        data.srcPitch = data.dstPitch = pitch;
    } else {
        data.size = bytes;
    }
    gpu_tell(SANITIZER_CB_DOMAIN_MEMCPY, SANITIZER_CBID_MEMCPY_STARTING, &data);
}

void gpu_set(const void *address, size_t bytes)
{
    gpu_tell(SANITIZER_CB_DOMAIN_MEMSET, SANITIZER_CBID_MEMSET_STARTING,
             &(Sanitizer_MemsetData){(uint64_t)address, bytes / 4, 1, 0, 4});
}

void gpu_driver_call(uint32_t call, const void *parameters)
{
    gpu_forbid_callbacks(__func__);
    for (int site = SANITIZER_API_ENTER; site <= SANITIZER_API_EXIT; site++)
        gpu_tell(SANITIZER_CB_DOMAIN_DRIVER_API, call, &(Sanitizer_CallbackData){site, parameters});
}

void gpu_graph_launch(void)
{
    gpu_tell(SANITIZER_CB_DOMAIN_GRAPHS, SANITIZER_CBID_GRAPHS_LAUNCH_BEGIN, NULL);
}

struct gpu_warp {
    struct gpu_launch *launch;
    unsigned cta, warp;
    FILE *log;
};

struct gpu_place gpu_place(const struct gpu_warp *w)
{
    const unsigned *block = w->launch->geometry.block;
    unsigned left = block[0] * block[1] * block[2] - LANES * w->warp;
    return (struct gpu_place){w->cta, w->warp, left < LANES ? (1U << left) - 1 : UINT32_MAX,
                              (uint64_t)w->cta * w->launch->warps + w->warp};
}

static void run_patch(const struct gpu_warp *w, Sanitizer_InstructionId instruction, unsigned number, unsigned mask,
                      struct lanes_call call)
{
    const struct gpu_launch *l = w->launch;
    const unsigned *grid = l->geometry.grid, *block = l->geometry.block;
    lanes_patch *patch = l->module->patches[instruction];
    if (!patch)
        return;
    if (l->data == GPU_NO_DATA) {
        fprintf(stderr, "gpu: the patches of %s were given no data\n", l->kernel->name);
        abort();
    }
    call.data = l->data;
    call.pc = l->address + 16ULL * number;
    struct lanes_geometry g = {{grid[0], grid[1], grid[2]}, {block[0], block[1], block[2]}, w->cta, w->warp};
    lanes_run(patch, &g, mask, &call);
}

void gpu_access(struct gpu_warp *w, unsigned number, unsigned access, unsigned bytes, unsigned mask,
                const uint64_t addresses[32])
{
    static const char *const names[] = {"load", "store", "atomic", "load", "prefetch"};
    static const uint32_t flags[] = {SANITIZER_MEMORY_DEVICE_FLAG_READ, SANITIZER_MEMORY_DEVICE_FLAG_WRITE,
                                     SANITIZER_MEMORY_DEVICE_FLAG_READ | SANITIZER_MEMORY_DEVICE_FLAG_WRITE, 0,
                                     SANITIZER_MEMORY_DEVICE_FLAG_PREFETCH | SANITIZER_MEMORY_DEVICE_FLAG_READ};
    enum gpu_access kind = access & (GPU_GENERIC - 1);
    fprintf(w->log, "%u %s %u", number, names[kind], bytes);
    for (unsigned i = 0; i < LANES; i++)
        if (mask >> i & 1)
            fprintf(w->log, " %u:%llx", i, (unsigned long long)addresses[i]);
    fputc('\n', w->log);
    struct lanes_call call = {.bytes = bytes, .flags = flags[kind], .addresses = addresses};
    run_patch(w,
              kind == GPU_COPY_ASYNC ? SANITIZER_INSTRUCTION_MEMCPY_ASYNC : SANITIZER_INSTRUCTION_GLOBAL_MEMORY_ACCESS,
              number, mask, call);
    if (access & GPU_GENERIC) {
        run_patch(w, SANITIZER_INSTRUCTION_SHARED_MEMORY_ACCESS, number, mask, call);
        run_patch(w, SANITIZER_INSTRUCTION_LOCAL_MEMORY_ACCESS, number, mask, call);
    }
}

void gpu_step(struct gpu_warp *w, unsigned number, enum gpu_step kind, unsigned mask)
{
    static const Sanitizer_InstructionId instructions[] = {
        SANITIZER_INSTRUCTION_SHARED_MEMORY_ACCESS, SANITIZER_INSTRUCTION_LOCAL_MEMORY_ACCESS,
        SANITIZER_INSTRUCTION_MATRIX_MEMORY_ACCESS, SANITIZER_INSTRUCTION_BARRIER,
        SANITIZER_INSTRUCTION_PIPELINE_COMMIT,      SANITIZER_INSTRUCTION_PIPELINE_WAIT};
    fprintf(w->log, "%u %s\n", number, kind == GPU_BARRIER ? "barrier" : "step");
    run_patch(w, instructions[kind], number, mask, (struct lanes_call){.bytes = 4});
}

void gpu_exit(struct gpu_warp *w, unsigned number, unsigned mask)
{
    fprintf(w->log, "%u exit %x\n", number, mask);
    run_patch(w, SANITIZER_INSTRUCTION_BLOCK_EXIT, number, mask, (struct lanes_call){0});
}

void gpu_fault(struct gpu_warp *w)
{
    __atomic_store_n(&w->launch->failed, true, __ATOMIC_RELAXED);
}

static void *run_sm(void *argument)
{
    struct gpu_launch *l = argument;
    for (unsigned cta; (cta = __atomic_fetch_add(&l->next_cta, 1, __ATOMIC_RELAXED)) < l->ctas;)
        for (unsigned warp = 0; warp < l->warps; warp++) {
            size_t bytes;
            struct gpu_warp w = {l, cta, warp, open_memstream(&l->logs[cta * l->warps + warp], &bytes)};
            l->kernel->run(&w);
            fclose(w.log);
        }
    return NULL;
}

static void write_log(const struct gpu_launch *l)
{
    const struct gpu_geometry *g = &l->geometry;
    const char *path = getenv("GPU_LOG");
    FILE *f = path ? fopen(path, "a") : NULL;
    if (!f)
        return;
    fprintf(f, "launch %u %s grid %u,%u,%u block %u,%u,%u shared %u\n", l->number, l->kernel->name, g->grid[0],
            g->grid[1], g->grid[2], g->block[0], g->block[1], g->block[2], g->shared);
    for (unsigned i = 0; i < l->ctas * l->warps; i++)
        fprintf(f, "cta %u warp %u\n%s", i / l->warps, i % l->warps, l->logs[i]);
    fclose(f);
}

bool gpu_wait_for_launch(struct gpu_stream *s)
{
    pthread_mutex_lock(&s->lock);
    struct gpu_launch *l = s->last;
    bool ran = true;
    s->last = NULL;
    if (l) {
        for (unsigned i = 0; i < SMS; i++)
            pthread_join(l->sms[i], NULL);
        ran = !l->failed;
        pthread_mutex_lock(&lock);
        write_log(l);
        pthread_mutex_unlock(&lock);
        for (unsigned i = 0; i < l->ctas * l->warps; i++)
            free(l->logs[i]);
        free(l->logs);
        free(l);
    }
    pthread_mutex_unlock(&s->lock);
    return ran;
}

bool gpu_wait(struct gpu_stream *s)
{
    gpu_forbid_callbacks(__func__);
    return gpu_wait_for_launch(s);
}

static const struct gpu_kernel *find_kernel(const struct gpu_module *m, const char *name)
{
    for (uint32_t i = 0; i < m->count; i++)
        if (strcmp(m->kernels[i].name, name) == 0)
            return &m->kernels[i];
    abort();
}

static struct gpu_launch *begin(struct gpu_module *m, const char *kernel, struct gpu_stream *s, struct gpu_geometry g,
                                Sanitizer_LaunchData *out)
{
    struct gpu_launch *l = calloc(1, sizeof *l);
    struct {
        const struct gpu_kernel *function;
        unsigned grid[3], block[3], shared;
    } parameters = {
        find_kernel(m, kernel), {g.grid[0], g.grid[1], g.grid[2]}, {g.block[0], g.block[1], g.block[2]}, g.shared};
    gpu_driver_call(SANITIZER_CBID_DRIVER_API_cuLaunchKernel, &parameters);
    gpu_wait(s);
    *l = (struct gpu_launch){.module = m,
                             .kernel = parameters.function,
                             .geometry = g,
                             .ctas = g.grid[0] * g.grid[1] * g.grid[2],
                             .warps = (g.block[0] * g.block[1] * g.block[2] + LANES - 1) / LANES,
                             .address = gpu_code_address(m, kernel),
                             .number = __atomic_add_fetch(&launches, 1, __ATOMIC_RELAXED),
                             .data = GPU_NO_DATA};
    *out = (Sanitizer_LaunchData){m->context, m,         l->kernel, kernel,     s,          l,
                                  g.grid[0],  g.grid[1], g.grid[2], g.block[0], g.block[1], g.block[2]};
    gpu_tell(SANITIZER_CB_DOMAIN_LAUNCH, SANITIZER_CBID_LAUNCH_BEGIN, out);
    return l;
}

void gpu_launch(struct gpu_module *m, const char *kernel, struct gpu_stream *s, struct gpu_geometry g)
{
    Sanitizer_LaunchData data;
    struct gpu_launch *l = begin(m, kernel, s, g, &data);
    l->logs = calloc((size_t)l->ctas * l->warps, sizeof *l->logs);
    for (unsigned i = 0; i < SMS; i++)
        pthread_create(&l->sms[i], NULL, run_sm, l);
    pthread_mutex_lock(&s->lock);
    s->last = l;
    pthread_mutex_unlock(&s->lock);
    const char *slow = getenv("GPU_SLOW_LAUNCH");
    if (slow)
        usleep((unsigned)atoi(slow));
    data.gridDim_x = data.blockDim_x = 0; /* valid at the beginning only */
    gpu_tell(SANITIZER_CB_DOMAIN_LAUNCH, SANITIZER_CBID_LAUNCH_END, &data);
}

void gpu_launch_refused(struct gpu_module *m, const char *kernel, struct gpu_stream *s, struct gpu_geometry g)
{
    Sanitizer_LaunchData data;
    free(begin(m, kernel, s, g, &data));
}
