// maxpool: max pooling of MGPUSim's DNN benchmarks, an output per thread (src/workload/dnn/maxpool.c).
#include "common.h"
#include <algorithm>
#include <cfloat>

#define THREADS 64

__global__ void MaxPoolForward(int nthreads, const float *bottom_data, int channels, int height, int width,
                               int pooled_height, int pooled_width, int kernel_h, int kernel_w, int stride_h,
                               int stride_w, int pad_h, int pad_w, float *top_data)
{
    for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < nthreads; index += blockDim.x * gridDim.x) {
        int pw = index % pooled_width, ph = index / pooled_width % pooled_height;
        int c = index / pooled_width / pooled_height % channels, n = index / pooled_width / pooled_height / channels;
        int hstart = ph * stride_h - pad_h, wstart = pw * stride_w - pad_w;
        int hend = min(hstart + kernel_h, height), wend = min(wstart + kernel_w, width);
        hstart = max(hstart, 0);
        wstart = max(wstart, 0);
        const float *image = bottom_data + (n * channels + c) * height * width;
        float maxval = -FLT_MAX;
        for (int h = hstart; h < hend; h++)
            for (int w = wstart; w < wend; w++)
                if (image[h * width + w] > maxval)
                    maxval = image[h * width + w];
        top_data[index] = maxval;
    }
}

// Positions of a window along a side, the last perhaps cut off.
static int pooled(int side, int window, int stride, int pad)
{
    return (side + 2 * pad - window + stride - 1) / stride + 1;
}

int main(int argc, char **argv)
{
    int batch = parameter(argc, argv, "batch", 1), channels = parameter(argc, argv, "channels", 64);
    int height = parameter(argc, argv, "height", 458), width = parameter(argc, argv, "width", 458);
    int window = parameter(argc, argv, "window", 2), stride = parameter(argc, argv, "stride", 2);
    int pad = parameter(argc, argv, "pad", 0), images = batch * channels;
    int pooled_height = pooled(height, window, stride, pad), pooled_width = pooled(width, window, stride, pad);
    size_t outputs = (size_t)images * pooled_height * pooled_width;
    array<float> bottom((size_t)images * height * width), top(outputs);
    for (size_t i = 0; i < bottom.host.size(); i++)
        bottom[i] = unit(1, i) - 0.5F;
    bottom.up();
    for (long i = parameter(argc, argv, "launches", 3); i > 0; i--)
        launch("MaxPoolForward", MaxPoolForward, (outputs + THREADS - 1) / THREADS, THREADS, 0, (int)outputs,
               (const float *)bottom.device, channels, height, width, pooled_height, pooled_width, window, window,
               stride, stride, pad, pad, top.device);
    top.down();
    size_t wrong = 0;
    for (size_t i = 0; i < outputs; i++) {
        int x = (int)(i % pooled_width) * stride - pad, y = (int)(i / pooled_width % pooled_height) * stride - pad;
        const float *image = &bottom.host[i / pooled_width / pooled_height * height * width];
        float most = -FLT_MAX;
        for (int h = 0; h < window; h++)
            for (int w = 0; w < window; w++)
                if (y + h >= 0 && y + h < height && x + w >= 0 && x + w < width)
                    most = std::max(most, image[(y + h) * width + x + w]);
        wrong += top[i] != most;
    }
    return finish("maxpool", wrong);
}
