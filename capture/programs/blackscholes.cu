// blackscholes: option prices of the CUDA SDK, one option per thread and turn of a grid-stride loop
// (src/workload/sdk/blk.c).
#include "common.h"
#include <cmath>

#define CTAS 480
#define THREADS 128

// The cumulative normal distribution, 26.2.17 of Abramowitz and Stegun.
__device__ inline float cndGPU(float d)
{
    float K = 1.0F / (1.0F + 0.2316419F * fabsf(d));
    float cnd = 0.39894228F * __expf(-0.5F * d * d) *
                (K * (0.31938153F + K * (-0.356563782F + K * (1.781477937F + K * (-1.821255978F + K * 1.330274429F)))));
    return d > 0 ? 1.0F - cnd : cnd;
}

__global__ void BlackScholesGPU(float *d_CallResult, float *d_PutResult, float *d_StockPrice, float *d_OptionStrike,
                                float *d_OptionYears, float Riskfree, float Volatility, int optN)
{
    int tid = blockDim.x * blockIdx.x + threadIdx.x, THREAD_N = blockDim.x * gridDim.x;
    for (int opt = tid; opt < optN; opt += THREAD_N) {
        float S = d_StockPrice[opt], X = d_OptionStrike[opt], T = d_OptionYears[opt], sqrtT = sqrtf(T);
        float d1 = (__logf(S / X) + (Riskfree + 0.5F * Volatility * Volatility) * T) / (Volatility * sqrtT);
        float d2 = d1 - Volatility * sqrtT;
        float CNDD1 = cndGPU(d1), CNDD2 = cndGPU(d2), expRT = __expf(-Riskfree * T);
        d_CallResult[opt] = S * CNDD1 - X * expRT * CNDD2;
        d_PutResult[opt] = X * expRT * (1.0F - CNDD2) - S * (1.0F - CNDD1);
    }
}

static float between(float low, float high, uint64_t i)
{
    return low + (high - low) * unit(1, i);
}

int main(int argc, char **argv)
{
    size_t n = parameter(argc, argv, "options", 4000000);
    const float riskfree = 0.02F, volatility = 0.30F;
    array<float> call(n), put(n), price(n), strike(n), years(n);
    for (size_t i = 0; i < n; i++) {
        price[i] = between(5, 30, 3 * i);
        strike[i] = between(1, 100, 3 * i + 1);
        years[i] = between(0.25F, 10, 3 * i + 2);
    }
    price.up();
    strike.up();
    years.up();
    for (long i = parameter(argc, argv, "iterations", 3); i > 0; i--)
        launch("BlackScholesGPU", BlackScholesGPU, CTAS, THREADS, 0, call.device, put.device, price.device,
               strike.device, years.device, riskfree, volatility, (int)n);
    call.down();
    put.down();
    size_t wrong = 0;
    for (size_t i = 0; i < n; i++) {
        double s = price[i], x = strike[i], t = years[i], v = volatility * sqrt(t);
        double d1 = (log(s / x) + riskfree * t) / v + 0.5 * v, discounted = x * exp(-riskfree * t);
        double expected = s * erfc(-d1 * M_SQRT1_2) / 2 - discounted * erfc((v - d1) * M_SQRT1_2) / 2;
        wrong += differs(call[i], expected, 1e-4) || differs(put[i], expected - s + discounted, 1e-4);
    }
    return finish("blackscholes", wrong);
}
