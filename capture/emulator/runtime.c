/* The calls of the CUDA runtime that the programs of capture/programs make, on the host: device memory is host memory,
 * a launch runs in the emulator, and no time passes. Linked in place of the runtime (nvcc -cudart none).
 *
 * Each launch is a line of the file that PAGEWALK_COUNTS names; PAGEWALK_CAPTURE has the program recorded. */
#include "recording.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MAX_KERNELS = 64, FATBIN_ELF = 2, CONSTANT_BYTES = 64 << 10 };
enum { SMALL_ALIGNMENT = 512, LARGE_ALIGNMENT = 2 << 20, LARGE = 1 << 20 };
#define DEVICE_MEMORY 0x7e0000000000ULL
#define DEVICE_BYTES ((size_t)64 << 30)

struct registered {
    const void *host;
    const char *name;
    int is_constant;
};

static struct {
    const uint8_t *image;
    struct registered entries[MAX_KERNELS];
    uint32_t count;
    uint8_t constant3[CONSTANT_BYTES];
    struct {
        dim3 grid, block;
        size_t shared;
    } call;
    uint32_t launches;
    FILE *counts;
} program;

__attribute__((noreturn)) static void give_up(const char *why)
{
    fprintf(stderr, "emulator: %s\n", why);
    exit(3);
}

/* A fat binary is a wrapper around a header of 16 bytes and entries; the wrapper's third word is their address. An entry
 * has its kind in its first half word, the size of its own header at byte 4 and that of what follows it at byte 8. */
static const uint8_t *find_image(const void *wrapper)
{
    const uint8_t *at;
    memcpy(&at, (const uint8_t *)wrapper + 8, sizeof at);
    uint64_t bytes, payload;
    memcpy(&bytes, at + 8, sizeof bytes);
    const uint8_t *end = at + 16 + bytes;
    for (at += 16; at < end;) {
        uint16_t kind;
        uint32_t header;
        memcpy(&kind, at, sizeof kind);
        memcpy(&header, at + 4, sizeof header);
        memcpy(&payload, at + 8, sizeof payload);
        if (kind == FATBIN_ELF) {
            if (memcmp(at + header, "\177ELF", 4) != 0)
                give_up("the program's code is compressed; compile with --no-compress");
            return at + header;
        }
        at += header + payload;
    }
    give_up("the program has no machine code; compile with -arch=sm_90");
}

void **__cudaRegisterFatBinary(void *wrapper);
void **__cudaRegisterFatBinary(void *wrapper)
{
    static void *handle;
    program.image = find_image(wrapper);
    return &handle;
}

void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
}

void __cudaUnregisterFatBinary(void **handle);
void __cudaUnregisterFatBinary(void **handle)
{
    (void)handle;
}

char __cudaInitModule(void **handle);
char __cudaInitModule(void **handle)
{
    (void)handle;
    return 1;
}

static void add_entry(const void *host, const char *name, int is_constant)
{
    if (program.count == MAX_KERNELS)
        give_up("too many kernels");
    program.entries[program.count++] = (struct registered){host, name, is_constant};
}

void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit, void *thread,
                            void *cta, dim3 *block, dim3 *grid, int *size);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit, void *thread,
                            void *cta, dim3 *block, dim3 *grid, int *size)
{
    (void)handle, (void)device, (void)limit, (void)thread, (void)cta, (void)block, (void)grid, (void)size;
    add_entry(host, name, 0);
}

void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external, size_t bytes,
                       int is_constant, int global);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external, size_t bytes,
                       int is_constant, int global)
{
    (void)handle, (void)device, (void)external, (void)bytes, (void)global;
    if (!is_constant)
        give_up("variables in device memory are not known");
    add_entry(host, name, 1);
}

static const struct registered *find_entry(const void *host)
{
    for (uint32_t i = 0; i < program.count; i++)
        if (program.entries[i].host == host)
            return &program.entries[i];
    give_up("a kernel or variable is not registered");
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream)
{
    (void)stream;
    program.call.grid = grid;
    program.call.block = block;
    program.call.shared = shared;
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
    *grid = program.call.grid;
    *block = program.call.block;
    *shared = program.call.shared;
    memset(stream, 0, sizeof(void *));
    return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *host);
cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *host)
{
    const void *entry = find_entry(host);
    memcpy(out, &entry, sizeof entry);
    return cudaSuccess;
}

static struct kernel kernel_of(const struct registered *entry)
{
    struct kernel k;
    if (!image_find_kernel(program.image, entry->name, &k))
        give_up("a kernel is not in the program's code");
    return k;
}

static void write_counts(const struct launch *l, const struct counts *c)
{
    const char *path = getenv("PAGEWALK_COUNTS");
    if (!path)
        return;
    if (!program.counts)
        program.counts = fopen(path, "w");
    if (!program.counts)
        give_up("the file for counts cannot be written");
    if (program.launches == 0)
        fprintf(program.counts, "launch,kernel,grid,block,registers,warp_instructions,loads,stores,load_sectors,"
                                "store_sectors\n");
    fprintf(program.counts, "%u,%s,%u,%u,%u,%llu,%llu,%llu,%llu,%llu\n", program.launches, l->kernel->name,
            l->grid[0] * l->grid[1] * l->grid[2], l->block[0] * l->block[1] * l->block[2], l->kernel->registers,
            (unsigned long long)c->warp_instructions, (unsigned long long)c->loads, (unsigned long long)c->stores,
            (unsigned long long)c->load_sectors, (unsigned long long)c->store_sectors);
    fflush(program.counts);
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                               cudaStream_t stream);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                               cudaStream_t stream)
{
    (void)stream;
    const struct registered *entry;
    memcpy(&entry, &kernel, sizeof entry);
    struct kernel k = kernel_of(entry);
    struct launch l = {.kernel = &k,
                       .grid = {grid.x, grid.y, grid.z},
                       .block = {block.x, block.y, block.z},
                       .arguments = (const void *const *)arguments,
                       .constant3 = k.constants[3] ? program.constant3 : NULL,
                       .shared_bytes = (uint32_t)shared};
    struct counts c = recording_launch(program.image, &l);
    write_counts(&l, &c);
    program.launches++;
    return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attr, const void *func)
{
    struct kernel k = kernel_of(find_entry(func));
    *attr = (struct cudaFuncAttributes){.numRegs = (int)k.registers, .sharedSizeBytes = k.shared_bytes};
    return cudaSuccess;
}

/* Always the same addresses, so that a program's trace is the same bytes. Small arrays share 2 MiB, as they do on a GPU;
 * nothing is freed. */
static void *place(size_t bytes)
{
    static uint8_t *begin, *next;
    if (!begin) {
        void *wanted = (uint8_t *)NULL + DEVICE_MEMORY;
        begin = mmap(wanted, DEVICE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (begin != wanted)
            give_up("there is no room for device memory");
        next = begin;
    }
    size_t align = bytes < LARGE ? SMALL_ALIGNMENT : LARGE_ALIGNMENT;
    size_t at = ((size_t)(next - begin) + align - 1) / align * align;
    if (bytes > DEVICE_BYTES - at)
        return NULL;
    next = begin + at + (bytes ? bytes : 1);
    return begin + at;
}

cudaError_t cudaMalloc(void **devPtr, size_t size)
{
    *devPtr = place(size);
    if (!*devPtr)
        return cudaErrorMemoryAllocation;
    recording_allocated(*devPtr, size);
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void *dst, const void *src, size_t count, enum cudaMemcpyKind kind)
{
    memmove(dst, src, count);
    if (kind != cudaMemcpyHostToHost)
        recording_copied(kind == cudaMemcpyDeviceToHost ? src : dst, count, kind != cudaMemcpyDeviceToHost,
                         kind != cudaMemcpyHostToDevice);
    return cudaSuccess;
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *src, size_t count, size_t offset,
                               enum cudaMemcpyKind kind)
{
    (void)kind;
    uint32_t at = image_find_constant(program.image, find_entry(symbol)->name);
    if (at == UINT32_MAX || at + offset + count > CONSTANT_BYTES)
        give_up("a variable in constant memory is not in the program's code");
    memcpy(program.constant3 + at + offset, src, count);
    return cudaSuccess;
}

cudaError_t cudaMemset(void *devPtr, int value, size_t count)
{
    memset(devPtr, value, count);
    recording_copied(devPtr, count, 1, 1);
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void)
{
    return cudaSuccess;
}

cudaError_t cudaGetLastError(void)
{
    return cudaSuccess;
}

const char *cudaGetErrorString(cudaError_t error)
{
    return error == cudaSuccess ? "no error" : "an error";
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    *event = NULL;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    (void)event, (void)stream;
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    (void)start, (void)end;
    *ms = 0;
    return cudaSuccess;
}
