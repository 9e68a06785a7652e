// kmeans: Rodinia's clustering, points turned into columns of features first (src/workload/rodinia/kmeans.c). Plain loads
// stand for the original's texture fetches.
#include "common.h"
#include <cfloat>

#define BLOCK 256
#define MAX_CENTRES (32 * 34)

__constant__ float c_clusters[MAX_CENTRES];

__global__ void invert_mapping(float *input, float *output, int npoints, int nfeatures)
{
    int point_id = threadIdx.x + blockDim.x * blockIdx.x;
    if (point_id < npoints)
        for (int i = 0; i < nfeatures; i++)
            output[point_id + npoints * i] = input[point_id * nfeatures + i];
}

__global__ void kmeansPoint(const float *features, int nfeatures, int npoints, int nclusters, int *membership)
{
    const unsigned block_id = gridDim.x * blockIdx.y + blockIdx.x;
    const unsigned point_id = block_id * blockDim.x * blockDim.y + threadIdx.x;
    int index = -1;
    if (point_id < npoints) {
        float min_dist = FLT_MAX;
        for (int i = 0; i < nclusters; i++) {
            int cluster_base_index = i * nfeatures;
            float ans = 0.0;
            for (int j = 0; j < nfeatures; j++) {
                float diff = features[point_id + j * npoints] - c_clusters[cluster_base_index + j];
                ans += diff * diff;
            }
            if (ans < min_dist) {
                min_dist = ans;
                index = i;
            }
        }
    }
    if (point_id < npoints)
        membership[point_id] = index;
}

int main(int argc, char **argv)
{
    int points = parameter(argc, argv, "points", 494020), features = parameter(argc, argv, "features", 34);
    int clusters = parameter(argc, argv, "clusters", 5), iterations = parameter(argc, argv, "iterations", 2), side = 1;
    while ((long)side * side * BLOCK < points)
        side++;
    array<float> flipped((size_t)points * features), turned((size_t)points * features);
    array<int> membership(points);
    for (size_t i = 0; i < flipped.host.size(); i++)
        flipped[i] = unit(1, i);
    flipped.up();
    launch("invert_mapping", invert_mapping, side * side, BLOCK, 0, flipped.device, turned.device, points, features);
    std::vector<float> centres(flipped.host.begin(), flipped.host.begin() + clusters * features);
    size_t wrong = 0;
    for (int k = 0; k < iterations; k++) {
        CUDA(cudaMemcpyToSymbol(c_clusters, centres.data(), centres.size() * sizeof(float)));
        launch("kmeansPoint", kmeansPoint, dim3(side, side), BLOCK, 0, (const float *)turned.device, features, points,
               clusters, membership.device);
        membership.down();
        std::vector<double> sums(centres.size());
        std::vector<int> members(clusters);
        for (int i = 0; i < points; i++) {
            const float *at = &flipped.host[(size_t)i * features];
            float least = FLT_MAX, own = FLT_MAX;
            for (int c = 0; c < clusters; c++) {
                float distance = 0;
                for (int j = 0; j < features; j++)
                    distance += (at[j] - centres[c * features + j]) * (at[j] - centres[c * features + j]);
                least = distance < least ? distance : least;
                own = c == membership[i] ? distance : own;
            }
            wrong += differs(own, least, 1e-5); // a tie within rounding may go either way
            members[membership[i]]++;
            for (int j = 0; j < features; j++)
                sums[membership[i] * features + j] += at[j];
        }
        for (size_t i = 0; i < centres.size(); i++)
            if (members[i / features])
                centres[i] = (float)(sums[i] / members[i / features]);
    }
    return finish("kmeans", wrong);
}
