// spmv: Parboil's sparse matrix in JDS form times a vector; the matrix of a mesh of square elements of degree 3
// (src/workload/parboil/spmv.c).
#include "common.h"
#include <algorithm>

#define MAX_CONSTANT 5000

__constant__ int jds_ptr_int[MAX_CONSTANT];
__constant__ int sh_zcnt_int[MAX_CONSTANT];

__global__ void spmv_jds(float *dst_vector, const float *d_data, const int *d_index, const int *d_perm,
                         const float *x_vec, const int dim)
{
    int ix = blockIdx.x * blockDim.x + threadIdx.x, warp_id = ix >> 5;
    if (ix < dim) {
        float sum = 0.0f;
        int bound = sh_zcnt_int[warp_id];
        int j = jds_ptr_int[0] + ix;
        float d = d_data[j];
        int i = d_index[j];
        float t = x_vec[i];
        if (bound > 1) {
            j = jds_ptr_int[1] + ix;
            i = d_index[j];
            int in;
            float dn, tn;
            for (int k = 2; k < bound; k++) {
                dn = d_data[j];
                j = jds_ptr_int[k] + ix;
                in = d_index[j];
                tn = x_vec[i];
                sum += d * t;
                i = in;
                d = dn;
                t = tn;
            }
            dn = d_data[j];
            tn = x_vec[i];
            sum += d * t;
            d = dn;
            t = tn;
        }
        sum += d * t;
        dst_vector[d_perm[ix]] = sum;
    }
}

// Nodes along a side that node `at` shares an element with: [first, last].
static void met(int nodes, int degree, int at, int *first, int *last)
{
    int corner = at / degree * degree;
    *first = corner ? corner - 1 : 0;
    corner = ((at + 1) / degree + 1) * degree;
    *last = corner - 1 < nodes ? corner - 1 : nodes - 1;
}

int main(int argc, char **argv)
{
    int elements = parameter(argc, argv, "elements", 128), degree = parameter(argc, argv, "degree", 3);
    int nodes = elements * degree - 1, rows = nodes * nodes, warps = (rows + 31) / 32;
    std::vector<std::vector<std::pair<int, float>>> matrix(rows);
    for (int row = 0; row < rows; row++) {
        int y0, y1, x0, x1;
        met(nodes, degree, row / nodes, &y0, &y1);
        met(nodes, degree, row % nodes, &x0, &x1);
        for (int y = y0; y <= y1; y++)
            for (int x = x0; x <= x1; x++) {
                int column = y * nodes + x;
                uint64_t pair = (uint64_t)std::max(row, column) << 32 | (uint64_t)std::min(row, column);
                matrix[row].push_back({column, unit(1, pair) - 0.5F});
            }
    }
    array<int> permutation(rows), counts(warps);
    for (int i = 0; i < rows; i++)
        permutation[i] = i;
    std::stable_sort(permutation.host.begin(), permutation.host.end(),
                     [&](int a, int b) { return matrix[a].size() > matrix[b].size(); });
    for (int i = 0; i < warps; i++)
        counts[i] = (int)matrix[permutation[i * 32]].size();
    std::vector<int> start(1, 0);
    for (int k = 0, longer = warps; k < counts[0]; k++) {
        while (longer && counts[longer - 1] <= k)
            longer--;
        start.push_back(start[k] + longer * 32);
    }
    if (warps > MAX_CONSTANT || start.size() > MAX_CONSTANT) {
        fprintf(stderr, "spmv: at most %d rows\n", 32 * MAX_CONSTANT);
        return 2;
    }
    array<float> data(start.back()), x(rows), result(rows);
    array<int> indices(start.back());
    for (int i = 0; i < rows; i++)
        for (size_t k = 0; k < matrix[permutation[i]].size(); k++) {
            indices[start[k] + i] = matrix[permutation[i]][k].first;
            data[start[k] + i] = matrix[permutation[i]][k].second;
        }
    for (int i = 0; i < rows; i++)
        x[i] = unit(2, i);
    data.up();
    indices.up();
    permutation.up();
    x.up();
    CUDA(cudaMemcpyToSymbol(jds_ptr_int, start.data(), start.size() * sizeof(int)));
    CUDA(cudaMemcpyToSymbol(sh_zcnt_int, counts.host.data(), warps * sizeof(int)));
    int threads = warps * 32, block = threads > 16 * 1536 ? 192 : 32;
    for (long i = parameter(argc, argv, "rounds", 3); i > 0; i--)
        launch("spmv_jds", spmv_jds, (threads + block - 1) / block, block, 0, result.device, (const float *)data.device,
               (const int *)indices.device, (const int *)permutation.device, (const float *)x.device, rows);
    result.down();
    size_t wrong = 0;
    for (int row = 0; row < rows; row++) {
        double sum = 0;
        for (const auto &entry : matrix[row])
            sum += (double)entry.second * x[entry.first];
        wrong += differs(result[row], sum, 1e-5);
    }
    return finish("spmv", wrong);
}
