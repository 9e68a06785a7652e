// relu: the ReLU layer of MGPUSim's DNN benchmarks, one element per thread (src/workload/dnn/relu.c).
#include "common.h"

#define THREADS 64

__global__ void ReLUForward(int count, const float *in, float *out)
{
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < count)
        out[index] = in[index] > 0 ? in[index] : 0;
}

int main(int argc, char **argv)
{
    size_t length = parameter(argc, argv, "length", 8388608);
    array<float> in(length), out(length);
    for (size_t i = 0; i < length; i++)
        in[i] = 2 * unit(1, i) - 1;
    in.up();
    for (long i = parameter(argc, argv, "launches", 3); i > 0; i--)
        launch("ReLUForward", ReLUForward, (length + THREADS - 1) / THREADS, THREADS, 0, (int)length,
               (const float *)in.device, out.device);
    out.down();
    size_t wrong = 0;
    for (size_t i = 0; i < length; i++)
        wrong += out[i] != (in[i] < 0 ? 0 : in[i]);
    return finish("relu", wrong);
}
