// transpose: AMD's APP SDK as MGPUSim has it, tiles of 64x64 words through shared memory (src/workload/sdk/transpose.c).
#include "common.h"

__global__ void matrixTranspose(uint4 *output, const uint4 *input)
{
    extern __shared__ uint4 block[];
    unsigned wiWidth = gridDim.x * blockDim.x;
    unsigned giy = blockIdx.x, gix = (blockIdx.x + blockIdx.y) % gridDim.x;
    unsigned lix = threadIdx.x, liy = threadIdx.y, blockSize = blockDim.x;
    unsigned ix = gix * blockSize + lix, iy = giy * blockSize + liy;
    int index_in = ix + iy * wiWidth * 4, ind = liy * blockSize * 4 + lix;
    block[ind] = input[index_in];
    block[ind + blockSize] = input[index_in + wiWidth];
    block[ind + blockSize * 2] = input[index_in + wiWidth * 2];
    block[ind + blockSize * 3] = input[index_in + wiWidth * 3];
    __syncthreads();
    ix = giy * blockSize + lix;
    iy = gix * blockSize + liy;
    int index_out = ix + iy * wiWidth * 4;
    ind = lix * blockSize * 4 + liy;
    uint4 v0 = block[ind], v1 = block[ind + blockSize];
    uint4 v2 = block[ind + blockSize * 2], v3 = block[ind + blockSize * 3];
    output[index_out] = make_uint4(v0.x, v1.x, v2.x, v3.x);
    output[index_out + wiWidth] = make_uint4(v0.y, v1.y, v2.y, v3.y);
    output[index_out + wiWidth * 2] = make_uint4(v0.z, v1.z, v2.z, v3.z);
    output[index_out + wiWidth * 3] = make_uint4(v0.w, v1.w, v2.w, v3.w);
}

int main(int argc, char **argv)
{
    size_t width = parameter(argc, argv, "width", 2880) / 64 * 64;
    array<unsigned> input(width * width), output(width * width);
    for (size_t i = 0; i < width * width; i++)
        input[i] = (unsigned)i;
    input.up();
    for (long i = parameter(argc, argv, "launches", 3); i > 0; i--)
        launch("matrixTranspose", matrixTranspose, dim3(width / 64, width / 64), dim3(16, 16), 64 * 64 * sizeof(unsigned),
               (uint4 *)output.device, (const uint4 *)input.device);
    output.down();
    size_t wrong = 0;
    for (size_t y = 0; y < width; y++)
        for (size_t x = 0; x < width; x++)
            wrong += output[y * width + x] != (unsigned)(x * width + y);
    return finish("transpose", wrong);
}
