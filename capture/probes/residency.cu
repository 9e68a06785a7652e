// residency: what is in the L2 after copies, memsets, writes and reads, and what a miss fetches. The answers are a
// profiler's counters (capture/measure): each launch happens once and its order, its label and the bytes that it
// touches are printed. Kernels carry what they do in their names, and their grid tells their size, so that a launch
// that has been missed shows. Before each case 256 MB of something else are read (`sweep`, a launch of its own in the
// order).
#include "probes.h"

#define BLOCK 256
#define PER_THREAD 4 // of 16 bytes: a CTA reads or writes 16 KB
#define PER_CTA (BLOCK * PER_THREAD * 16UL)

enum after {
    COPIED,
    READ_ONCE,
    READ_TWICE,
    MEMSET,
    WRITTEN,
    COPIED_ON_DEVICE,
    COPIED_BEFORE_ANOTHER,
    READ_BEFORE_ANOTHER,
    PIECE,
    PARTLY_WRITTEN
};

static int order;

static void note(const std::string &label, size_t bytes)
{
    CUDA(cudaGetLastError());
    CUDA(cudaDeviceSynchronize());
    printf("%d,%s,%zu\n", order++, label.c_str(), bytes);
    fflush(stdout);
}

template <int After> static __global__ void read_after(const uint4 *data, uint32_t *out)
{
    size_t at = (size_t)blockIdx.x * BLOCK * PER_THREAD + threadIdx.x;
    uint32_t all = 0;
#pragma unroll
    for (int i = 0; i < PER_THREAD; i++) {
        uint4 v = __ldcg(data + at + i * BLOCK);
        all ^= v.x ^ v.y ^ v.z ^ v.w;
    }
    if (all == 0x12345678)
        *out = all;
}

static __global__ void write_all(uint4 *data)
{
    size_t at = (size_t)blockIdx.x * BLOCK * PER_THREAD + threadIdx.x;
#pragma unroll
    for (int i = 0; i < PER_THREAD; i++)
        data[at + i * BLOCK] = make_uint4(blockIdx.x, 1, 2, 3);
}

// A word every Stride bytes, from From on; 32 lanes go through neighbouring places.
template <int Stride, int From> static __global__ void read_strided(const char *data, uint32_t *out)
{
    size_t place = (size_t)blockIdx.x * BLOCK + threadIdx.x;
    if (__ldcg((const uint32_t *)(data + place * Stride + From)) == 0x12345678)
        *out = 1;
}

template <int Stride> static __global__ void write_strided(char *data)
{
    size_t place = (size_t)blockIdx.x * BLOCK + threadIdx.x;
    *(uint32_t *)(data + place * Stride) = 7;
}

static std::string with_mb(const char *label, size_t bytes)
{
    return std::string(label) + " " + is("mb", (long)(bytes >> 20));
}

static void swept()
{
    sweep_l2();
    note("sweep", 256UL << 20);
}

template <int After> static void read_and_note(const char *label, buffer &data, size_t bytes)
{
    read_after<After><<<(unsigned)(bytes / PER_CTA), BLOCK>>>(data.as<uint4>(), data.as<uint32_t>());
    note(with_mb(label, bytes), bytes);
}

static void whole_arrays(buffer &data, buffer &other, std::vector<char> &host)
{
    for (size_t mb : {1, 2, 4, 8, 16, 24, 32, 40, 48, 56, 64}) {
        size_t bytes = mb << 20;
        unsigned ctas = (unsigned)(bytes / PER_CTA);
        swept();
        CUDA(cudaMemcpy(data.device, host.data(), bytes, cudaMemcpyHostToDevice));
        read_and_note<COPIED>("read after copy from host", data, bytes);
        read_and_note<READ_ONCE>("read again", data, bytes);
        read_and_note<READ_TWICE>("read a third time", data, bytes);
        swept();
        CUDA(cudaMemset(data.device, 1, bytes));
        CUDA(cudaDeviceSynchronize());
        read_and_note<MEMSET>("read after memset", data, bytes);
        swept();
        write_all<<<ctas, BLOCK>>>(data.as<uint4>());
        note(with_mb("write", bytes), bytes);
        read_and_note<WRITTEN>("read after write", data, bytes);
        swept();
        CUDA(cudaMemcpy(data.device, other.device, bytes, cudaMemcpyDeviceToDevice));
        CUDA(cudaDeviceSynchronize());
        read_and_note<COPIED_ON_DEVICE>("read after copy on device", data, bytes);
        swept();
        CUDA(cudaMemcpy(other.device, host.data(), 1UL << 20, cudaMemcpyHostToDevice));
        CUDA(cudaMemcpy(data.device, host.data(), bytes, cudaMemcpyHostToDevice));
        read_after<COPIED_BEFORE_ANOTHER><<<64, BLOCK>>>(other.as<uint4>(), other.as<uint32_t>());
        note(with_mb("read 1 MB copied before another", bytes), 1UL << 20);
        swept();
        read_after<READ_BEFORE_ANOTHER><<<64, BLOCK>>>(other.as<uint4>(), other.as<uint32_t>());
        note("first read of 1 MB", 1UL << 20);
        read_after<READ_BEFORE_ANOTHER><<<ctas, BLOCK>>>(data.as<uint4>(), data.as<uint32_t>());
        note(with_mb("read another", bytes), bytes);
        read_after<READ_BEFORE_ANOTHER><<<64, BLOCK>>>(other.as<uint4>(), other.as<uint32_t>());
        note(with_mb("read 1 MB read before another", bytes), 1UL << 20);
    }
}

// An array is read piece by piece, each in a launch of its own, from its beginning or from its end: which of it has
// stayed after a copy or after a kernel has written it, and what reading the one piece does to the others.
static void pieces(buffer &data, std::vector<char> &host, size_t mb, bool copied, bool backwards)
{
    size_t bytes = mb << 20, piece = 2UL << 20;
    unsigned ctas = (unsigned)(piece / PER_CTA);
    swept();
    if (copied) {
        CUDA(cudaMemcpy(data.device, host.data(), bytes, cudaMemcpyHostToDevice));
    } else {
        write_all<<<(unsigned)(bytes / PER_CTA), BLOCK>>>(data.as<uint4>());
        note(with_mb("write", bytes), bytes);
    }
    for (size_t i = 0; i < bytes / piece; i++) {
        size_t at = (backwards ? bytes / piece - 1 - i : i) * piece;
        read_after<PIECE><<<ctas, BLOCK>>>((const uint4 *)(data.device + at), data.as<uint32_t>());
        note(with_mb(copied ? "copied" : "written", bytes) + (backwards ? " backwards" : " forwards") +
                 " piece at " + is("mb", (long)(at >> 20)),
             piece);
    }
}

// One sector of each Stride bytes of 16 MB, then the other one of 64 bytes, then the other half of 128: hits tell what
// has been fetched along.
template <int Stride> static void strided(buffer &data)
{
    size_t bytes = 16UL << 20, places = bytes / Stride;
    unsigned ctas = (unsigned)(places / BLOCK);
    std::string by = " " + is("stride", Stride);
    swept();
    read_strided<Stride, 0><<<ctas, BLOCK>>>(data.device, data.as<uint32_t>());
    note("strided read" + by, places * 32);
    read_strided<Stride, 32><<<ctas, BLOCK>>>(data.device, data.as<uint32_t>());
    note("then the sector 32 behind" + by, places * 32);
    if (Stride > 64) {
        read_strided<Stride, 64><<<ctas, BLOCK>>>(data.device, data.as<uint32_t>());
        note("then the sector 64 behind" + by, places * 32);
    }
    swept();
    write_strided<Stride><<<ctas, BLOCK>>>(data.device);
    note("write of 4 bytes" + by, places * 4);
    read_strided<Stride, 4><<<ctas, BLOCK>>>(data.device, data.as<uint32_t>());
    note("read beside what was written" + by, places * 32);
    swept();
}

static void writes(buffer &data)
{
    size_t bytes = 16UL << 20;
    swept();
    write_strided<32><<<(unsigned)(bytes / 32 / BLOCK), BLOCK>>>(data.device);
    note("write of 4 bytes stride=32", bytes / 8);
    read_and_note<PARTLY_WRITTEN>("read after partial writes", data, bytes);
    swept();
    write_strided<32><<<(unsigned)(bytes / 32 / BLOCK), BLOCK>>>(data.device);
    note("write of 4 bytes stride=32", bytes / 8);
    write_strided<32><<<(unsigned)(bytes / 32 / BLOCK), BLOCK>>>(data.device);
    note("the same again", bytes / 8);
    swept();
    write_all<<<(unsigned)(bytes / PER_CTA), BLOCK>>>(data.as<uint4>());
    note(with_mb("write", bytes), bytes);
    write_all<<<(unsigned)(bytes / PER_CTA), BLOCK>>>(data.as<uint4>());
    note(with_mb("write again", bytes), bytes);
    read_and_note<WRITTEN>("read after two writes", data, bytes);
    swept();
}

void residency()
{
    buffer data(64UL << 20), other(64UL << 20);
    std::vector<char> host(64UL << 20, 1);
    order = 0;
    printf("order,label,bytes\n");
    // Not the first launches of the process.
    swept();
    swept();
    // What is cheapest and tells most comes first.
    writes(data);
    strided<64>(data);
    strided<128>(data);
    strided<256>(data);
    for (bool backwards : {false, true})
        for (size_t mb : {40, 24})
            pieces(data, host, mb, true, backwards);
    pieces(data, host, 40, false, false);
    pieces(data, host, 40, false, true);
    whole_arrays(data, other, host);
}
