// backprop: the two kernels of Rodinia's training step, 16 hidden units (src/workload/rodinia/bp.c).
#include "common.h"
#include <cmath>

#define WIDTH 16
#define HEIGHT 16
#define ETA 0.3
#define MOMENTUM 0.3

__global__ void bpnn_layerforward_CUDA(float *input_cuda, float *output_hidden_cuda, float *input_hidden_cuda,
                                       float *hidden_partial_sum, int in, int hid)
{
    int by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int index = (hid + 1) * HEIGHT * by + (hid + 1) * ty + tx + 1 + (hid + 1);
    int index_in = HEIGHT * by + ty + 1;
    __shared__ float input_node[HEIGHT];
    __shared__ float weight_matrix[HEIGHT][WIDTH];
    if (tx == 0)
        input_node[ty] = input_cuda[index_in];
    __syncthreads();
    weight_matrix[ty][tx] = input_hidden_cuda[index];
    __syncthreads();
    weight_matrix[ty][tx] = weight_matrix[ty][tx] * input_node[ty];
    __syncthreads();
    for (int i = 1; i <= __log2f(HEIGHT); i++) {
        int power_two = __powf(2, i);
        if (ty % power_two == 0)
            weight_matrix[ty][tx] = weight_matrix[ty][tx] + weight_matrix[ty + power_two / 2][tx];
        __syncthreads();
    }
    input_hidden_cuda[index] = weight_matrix[ty][tx];
    __syncthreads();
    if (tx == 0)
        hidden_partial_sum[by * hid + ty] = weight_matrix[tx][ty];
}

__global__ void bpnn_adjust_weights_cuda(float *delta, int hid, float *ly, int in, float *w, float *oldw)
{
    int by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int index = (hid + 1) * HEIGHT * by + (hid + 1) * ty + tx + 1 + (hid + 1);
    int index_y = HEIGHT * by + ty + 1, index_x = tx + 1;
    w[index] += ((ETA * delta[index_x] * ly[index_y]) + (MOMENTUM * oldw[index]));
    oldw[index] = ((ETA * delta[index_x] * ly[index_y]) + (MOMENTUM * oldw[index]));
    __syncthreads();
    if (ty == 0 && by == 0) {
        w[index_x] += ((ETA * delta[index_x]) + (MOMENTUM * oldw[index_x]));
        oldw[index_x] = ((ETA * delta[index_x]) + (MOMENTUM * oldw[index_x]));
    }
}

int main(int argc, char **argv)
{
    int in = parameter(argc, argv, "inputs", 131056) / 16 * 16, hid = 16, ctas = in / 16;
    array<float> input(in + 1), hidden(hid + 1), sums((size_t)ctas * hid), delta(hid + 1);
    array<float> weights((size_t)(in + 1) * (hid + 1)), old(weights.host.size());
    for (int i = 0; i <= in; i++)
        input[i] = unit(1, i);
    for (size_t i = 0; i < weights.host.size(); i++) {
        weights[i] = (unit(2, i) - 0.5F) / sqrtf(ctas);
        old[i] = (unit(3, i) - 0.5F) / sqrtf(ctas);
    }
    for (int i = 0; i <= hid; i++)
        delta[i] = unit(4, i) - 0.5F;
    input.up();
    weights.up();
    launch("bpnn_layerforward_CUDA", bpnn_layerforward_CUDA, dim3(1, ctas), dim3(16, 16), 0, input.device, hidden.device,
           weights.device, sums.device, in, hid);
    sums.down();
    delta.up();
    old.up();
    weights.up();
    launch("bpnn_adjust_weights_cuda", bpnn_adjust_weights_cuda, dim3(1, ctas), dim3(16, 16), 0, delta.device, hid,
           input.device, in, weights.device, old.device);
    size_t wrong = 0;
    for (int cta = 0; cta < ctas; cta++)
        for (int j = 0; j < hid; j++) {
            double sum = 0;
            for (int y = 16 * cta + 1; y <= 16 * cta + 16; y++)
                sum += (double)input[y] * weights[(size_t)y * 17 + j + 1];
            wrong += differs(sums[(size_t)cta * hid + j], sum, 1e-5);
        }
    std::vector<float> expected = weights.host;
    for (int y = 0; y <= in; y++)
        for (int x = 1; x <= hid; x++)
            expected[(size_t)y * 17 + x] +=
                ETA * delta[x] * (y ? input[y] : 1.0F) + MOMENTUM * old[(size_t)y * 17 + x];
    weights.down();
    for (size_t i = 0; i < expected.size(); i++)
        wrong += differs(weights[i], expected[i], 1e-5);
    return finish("backprop", wrong);
}
