// Loads through pointers that may point to global or to shared memory (LD): all lanes to global memory, all to shared memory,
// and every second lane to either. What the recorder makes of them is what capture/emulate has of the same file.
#include "common.h"

__global__ void generic(const int *global, int *result, int which)
{
    __shared__ int own[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    own[t] = 1000 + t;
    __syncthreads();
    const int *at = which == 1 || (which == 2 && t % 2) ? own + t : global + i;
    result[i] = *at;
}

int main()
{
    const int ctas = 8;
    array<int> global(ctas * 64), result(ctas * 64);
    size_t wrong = 0;
    for (int i = 0; i < ctas * 64; i++)
        global[i] = i;
    global.up();
    for (int which = 0; which < 3; which++) {
        launch("generic", generic, ctas, 64, 0, global.device, result.device, which);
        result.down();
        for (int i = 0; i < ctas * 64; i++)
            wrong += result[i] != (which == 1 || (which == 2 && i % 2) ? 1000 + i % 64 : i);
    }
    return finish("generic", wrong);
}
