// fir: finite impulse response filter of Hetero-Mark as MGPUSim has it, one sample per thread
// (src/workload/heteromark/fir.c).
#include "common.h"

#define THREADS 256

__global__ void FIR(float *output, const float *coeff, const float *input, const float *history, unsigned num_tap,
                    unsigned num_data)
{
    unsigned tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid >= num_data)
        return;
    float sum = 0;
    for (unsigned i = 0; i < num_tap; i++) {
        if (tid >= i)
            sum += coeff[i] * input[tid - i];
        else
            sum += coeff[i] * history[num_tap - (i - tid)];
    }
    output[tid] = sum;
}

int main(int argc, char **argv)
{
    long length = parameter(argc, argv, "length", 8388608), taps = parameter(argc, argv, "taps", 16);
    array<float> history(taps), input(length), output(length), coeff(taps);
    for (long i = 0; i < taps; i++) {
        history[i] = 2 * unit(1, i) - 1;
        coeff[i] = 2 * unit(2, i) - 1;
    }
    for (long i = 0; i < length; i++)
        input[i] = 2 * unit(3, i) - 1;
    history.up();
    input.up();
    coeff.up();
    for (long i = parameter(argc, argv, "launches", 3); i > 0; i--)
        launch("FIR", FIR, (length + THREADS - 1) / THREADS, THREADS, 0, output.device, (const float *)coeff.device,
               (const float *)input.device, (const float *)history.device, (unsigned)taps, (unsigned)length);
    output.down();
    size_t wrong = 0;
    for (long n = 0; n < length; n++) {
        double sum = 0;
        for (long i = 0; i < taps; i++)
            sum += (double)coeff[i] * (n < i ? history[taps - i + n] : input[n - i]);
        wrong += differs(output[n], sum, 1e-6 * (double)taps);
    }
    return finish("fir", wrong);
}
