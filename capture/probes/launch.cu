// launch: what a launch costs by itself, for kernels that do nothing or store one word per thread.
//
//   single  between events around one launch on an idle GPU: latency to start, all CTAs, latency to end
//   train   per launch, 20 of them one behind the other as a program enqueues them
//   queued  the same behind a kernel that spins for half a millisecond, so that the host is never late
//   graph   the same 20 as a chain of nodes of one CUDA graph
//
// `launch-once` launches each configuration once, for a profiler, and prints which.
#include "probes.h"

enum kind { EMPTY, STORE, SHARED };
static const char *const kind_names[] = {"empty", "store", "shared48k"};
static const unsigned grids[] = {1, 132, 1056, 4224, 16896, 67584}, blocks[] = {32, 256, 1024};
#define TRAIN 20

template <int Kind> static __global__ void idle(uint32_t *out)
{
    if (Kind == STORE)
        out[blockIdx.x * blockDim.x + threadIdx.x] = blockIdx.x;
}

static __global__ void spin(long long cycles)
{
    long long begin = clock64();
    while (clock64() - begin < cycles)
        ;
}

static void launch_idle(int kind, unsigned grid, unsigned block, uint32_t *out, cudaStream_t stream)
{
    if (kind == EMPTY)
        idle<EMPTY><<<grid, block, 0, stream>>>(out);
    else if (kind == STORE)
        idle<STORE><<<grid, block, 0, stream>>>(out);
    else
        idle<SHARED><<<grid, block, 48 << 10, stream>>>(out);
    CUDA(cudaGetLastError());
}

static void measure_configuration(int kind, unsigned grid, unsigned block, uint32_t *out)
{
    std::string parameter = std::string(kind_names[kind]) + " " + is("grid", grid) + " " + is("block", block);
    std::vector<double> single, train, queued, graphed;
    auto run_train = [&](cudaStream_t stream) {
        for (int i = 0; i < TRAIN; i++)
            launch_idle(kind, grid, block, out, stream);
    };
    event_us([&] { run_train(nullptr); });
    for (int i = 0; i < 20; i++) {
        CUDA(cudaDeviceSynchronize());
        single.push_back(event_us([&] { launch_idle(kind, grid, block, out, nullptr); }));
    }
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    run_train(stream);
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&executable, graph, 0));
    CUDA(cudaGraphLaunch(executable, nullptr));
    for (int i = 0; i < 5; i++) {
        CUDA(cudaDeviceSynchronize());
        train.push_back(event_us([&] { run_train(nullptr); }) / TRAIN);
        CUDA(cudaDeviceSynchronize());
        spin<<<1, 1>>>(1000000);
        queued.push_back(event_us([&] { run_train(nullptr); }) / TRAIN);
        CUDA(cudaDeviceSynchronize());
        spin<<<1, 1>>>(1000000);
        graphed.push_back(event_us([&] { CUDA(cudaGraphLaunch(executable, nullptr)); }) / TRAIN);
    }
    CUDA(cudaGraphExecDestroy(executable));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaStreamDestroy(stream));
    row("launch_single", parameter, median(single), "us");
    row("launch_single_min", parameter, *std::min_element(single.begin(), single.end()), "us");
    row("launch_train", parameter, median(train), "us");
    row("launch_queued", parameter, median(queued), "us");
    row("launch_graph", parameter, median(graphed), "us");
}

template <typename Body> static void for_each_configuration(Body body)
{
    for (int kind = EMPTY; kind <= SHARED; kind++)
        for (unsigned block : blocks)
            for (unsigned grid : grids)
                body(kind, grid, block);
}

static size_t stored_bytes()
{
    return (size_t)67584 * 1024 * sizeof(uint32_t);
}

void probe_launch()
{
    buffer out(stored_bytes());
    std::vector<double> nothing;
    for (int i = 0; i < 20; i++)
        nothing.push_back(event_us([] {}));
    row("launch_nothing", "two events", median(nothing), "us");
    for_each_configuration(
        [&](int kind, unsigned grid, unsigned block) { measure_configuration(kind, grid, block, out.as<uint32_t>()); });
}

void launch_once()
{
    buffer out(stored_bytes());
    int order = 0;
    printf("order,label,bytes\n");
    for_each_configuration([&](int kind, unsigned grid, unsigned block) {
        launch_idle(kind, grid, block, out.as<uint32_t>(), nullptr);
        CUDA(cudaDeviceSynchronize());
        printf("%d,%s grid=%u block=%u,%zu\n", order++, kind_names[kind], grid, block,
               kind == STORE ? (size_t)grid * block * sizeof(uint32_t) : 0);
        fflush(stdout);
    });
}
