// pointer_chase: one thread follows a random cycle of pointers, nothing between two loads (src/workload/micro).
#include "common.h"

__global__ void pointer_chase(void **at, int hops, void **result)
{
#pragma unroll 1
    for (int i = 0; i < hops; i += 100)
#pragma unroll
        for (int k = 0; k < 100; k++)
            at = (void **)*at;
    *result = (void *)at;
}

int main(int argc, char **argv)
{
    size_t bytes = (size_t)parameter(argc, argv, "mib", 64) << 20, stride = parameter(argc, argv, "stride", 128);
    int hops = parameter(argc, argv, "hops", 10000) / 100 * 100;
    size_t places = bytes / stride, words = stride / sizeof(void *);
    array<char *> chain(places * words), result(1);
    std::vector<uint32_t> order(places);
    for (size_t i = 0; i < places; i++)
        order[i] = (uint32_t)i;
    for (size_t i = places - 1; i > 0; i--)
        std::swap(order[i], order[hashed(1, i) % (i + 1)]);
    for (size_t i = 0; i < places; i++)
        chain[order[i] * words] = (char *)(chain.device + order[(i + 1) % places] * words);
    chain.up();
    for (long i = parameter(argc, argv, "launches", 3); i > 0; i--)
        launch("pointer_chase", pointer_chase, 1, 1, 0, (void **)(chain.device + order[0] * words), hops,
               (void **)result.device);
    result.down();
    size_t wrong = result[0] != (char *)(chain.device + order[hops % places] * words);
    return finish("pointer_chase", wrong);
}
