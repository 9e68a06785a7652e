/* Does on a GPU what `pagewalk touch` models: how h200-allocations.csv was measured.
 *
 *     nvcc -O2 -arch=sm_90 -o gpu_touch gpu_touch.cu && ./gpu_touch FILE.touch
 *
 * Sizes in the file must be plain numbers. An allocation is written by the CPU at once; then comes a pause, since the
 * driver treats pages specially that go back and forth within half a millisecond. Touches between two allocations are made
 * by one thread, one after the other, each timed. Keep the allocations far below what the GPU has free. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <unistd.h>
#include <vector>

enum { PAUSE_US = 10000, FAULT_CYCLES = 8000, PAGE_BYTES = 4096 };

static void check(cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s\n", cudaGetErrorString(error));
    exit(1);
}

struct touch {
    char *at;
    bool write;
    long long cycles;
};

__global__ void make_touches(touch *touches, size_t count, int *sink)
{
    int sum = 0;
    for (size_t i = 0; i < count; i++) {
        volatile char *at = touches[i].at;
        bool write = touches[i].write;
        __threadfence();
        long long start = clock64();
        if (write) {
            *at = 1;
            __threadfence_system();
        } else {
            sum += *at;
            if (sum == -1)
                *sink = 1;
        }
        touches[i].cycles = clock64() - start;
    }
    *sink = sum;
}

struct line {
    std::string op, name;
    unsigned long long page;
};

static void flush(std::vector<touch> &touches, std::vector<line> &lines)
{
    if (touches.empty())
        return;
    touch *on_gpu;
    int *sink;
    size_t bytes = touches.size() * sizeof(touch);
    check(cudaMalloc(&on_gpu, bytes));
    check(cudaMalloc(&sink, sizeof *sink));
    check(cudaMemcpy(on_gpu, touches.data(), bytes, cudaMemcpyHostToDevice));
    make_touches<<<1, 1>>>(on_gpu, touches.size(), sink);
    check(cudaDeviceSynchronize());
    check(cudaMemcpy(touches.data(), on_gpu, bytes, cudaMemcpyDeviceToHost));
    check(cudaFree(on_gpu));
    check(cudaFree(sink));
    for (size_t i = 0; i < touches.size(); i++)
        printf("%s,%s,%llu,,%lld,%d\n", lines[i].op.c_str(), lines[i].name.c_str(), lines[i].page, touches[i].cycles,
               touches[i].cycles > FAULT_CYCLES);
    touches.clear();
    lines.clear();
}

int main(int argc, char **argv)
{
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (!file)
        return fprintf(stderr, "usage: gpu_touch FILE.touch\n"), 2;
    std::map<std::string, char *> places;
    std::vector<touch> touches;
    std::vector<line> lines;
    char text[256], op[16], name[64], *first = NULL;
    unsigned long long value;
    while (fgets(text, sizeof text, file)) {
        int words = sscanf(text, "%15s %63s %llu", op, name, &value);
        if (words < 2 || op[0] == '#')
            continue;
        if (op[0] == 'r' || op[0] == 'w') {
            touches.push_back({places[name] + value * PAGE_BYTES, op[0] == 'w', 0});
            lines.push_back({op, name, value});
            continue;
        }
        flush(touches, lines);
        if (op[0] == 'f') {
            check(cudaFree(places[name]));
            printf("free,%s,,,,\n", name);
            continue;
        }
        usleep(PAUSE_US);
        check(cudaMallocManaged(&places[name], value));
        memset(places[name], 1, value);
        usleep(PAUSE_US);
        first = first ? first : places[name];
        printf("alloc,%s,%llu,%td,,\n", name, value, places[name] - first);
    }
    flush(touches, lines);
}
