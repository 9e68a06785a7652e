// embedding: sums of bags of rows of large tables, as the first layer of a recommender has them (PyTorch's
// EmbeddingBag). Which rows follows Zipf's law: few are wanted all the time, most once, and popular ones are no
// neighbours. A launch per table; a warp per bag, whose lanes have two columns each.
#include "layers.h"

#define WIDTH 64
#define BAGS_PER_CTA 8

__global__ void embedding_bag(const long long *indices, const int *offsets, const float *table, float *out, int bags)
{
    int bag = blockIdx.x * BAGS_PER_CTA + threadIdx.y, lane = threadIdx.x;
    if (bag >= bags)
        return;
    float2 sum = {0, 0};
    int end = offsets[bag + 1];
#pragma unroll 4
    for (int i = offsets[bag]; i < end; i++) {
        float2 value = ((const float2 *)(table + indices[i] * WIDTH))[lane];
        sum.x += value.x;
        sum.y += value.y;
    }
    ((float2 *)(out + (size_t)bag * WIDTH))[lane] = sum;
}

struct bags_of_table {
    array<long long> indices;
    array<int> offsets;
    array<float> table, out;

    bags_of_table(int number, size_t rows, int bags, int per_bag, const zipf &ranks)
        : indices((size_t)bags * per_bag), offsets(bags + 1), table(rows * WIDTH), out((size_t)bags * WIDTH)
    {
        int count = 0;
        for (int bag = 0; bag < bags; bag++) {
            offsets[bag] = count;
            int size = 1 + (int)(hashed(100 + number, bag) % (2 * per_bag - 1)), room = bags * per_bag - count;
            for (int i = std::min(size, room); i > 0; i--, count++)
                indices[count] = (long long)(hashed(200 + number, ranks.draw(300 + number, count)) % rows);
        }
        offsets[bags] = count;
        for (size_t i = 0; i < rows * WIDTH; i++)
            table[i] = (float)(mixed(i + number) >> 40) * (1.0F / 16777216.0F);
        indices.up();
        offsets.up();
        table.up();
    }
    size_t wrong(int bags)
    {
        size_t count = 0;
        out.down();
        for (int bag = 0; bag < bags; bag++)
            for (int column = 0; column < WIDTH; column++) {
                double sum = 0;
                for (int i = offsets[bag]; i < offsets[bag + 1]; i++)
                    sum += table[indices[i] * WIDTH + column];
                count += differs(out[(size_t)bag * WIDTH + column], sum, 1e-5);
            }
        return count;
    }
};

int main(int argc, char **argv)
{
    int tables = parameter(argc, argv, "tables", 4), bags = parameter(argc, argv, "bags", 1024);
    int per_bag = parameter(argc, argv, "per_bag", 32);
    size_t rows = parameter(argc, argv, "rows", 262144), wrong = 0;
    zipf ranks(rows);
    std::vector<bags_of_table> all;
    all.reserve(tables);
    for (int i = 0; i < tables; i++)
        all.emplace_back(i, rows, bags, per_bag, ranks);
    for (bags_of_table &t : all)
        launch("embedding_bag", embedding_bag, (bags + BAGS_PER_CTA - 1) / BAGS_PER_CTA, dim3(LANES, BAGS_PER_CTA), 0,
               (const long long *)t.indices.device, (const int *)t.offsets.device, (const float *)t.table.device,
               t.out.device, bags);
    for (bags_of_table &t : all)
        wrong += t.wrong(bags);
    return finish("embedding", wrong);
}
