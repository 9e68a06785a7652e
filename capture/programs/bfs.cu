// bfs: breadth-first search of Rodinia, two launches per level (src/workload/rodinia/bfs.c). With kind=1 the graph
// follows a power law (R-MAT) instead of having about as many edges at every node. graph=FILE writes it down, in the
// format of Rodinia's own.
#include "common.h"

#define MAX_THREADS_PER_BLOCK 512

struct Node {
    int starting;
    int no_of_edges;
};

__global__ void Kernel(Node *g_graph_nodes, int *g_graph_edges, bool *g_graph_mask, bool *g_updating_graph_mask,
                       bool *g_graph_visited, int *g_cost, int no_of_nodes)
{
    int tid = blockIdx.x * MAX_THREADS_PER_BLOCK + threadIdx.x;
    if (tid < no_of_nodes && g_graph_mask[tid]) {
        g_graph_mask[tid] = false;
        for (int i = g_graph_nodes[tid].starting;
             i < (g_graph_nodes[tid].no_of_edges + g_graph_nodes[tid].starting); i++) {
            int id = g_graph_edges[i];
            if (!g_graph_visited[id]) {
                g_cost[id] = g_cost[tid] + 1;
                g_updating_graph_mask[id] = true;
            }
        }
    }
}

__global__ void Kernel2(bool *g_graph_mask, bool *g_updating_graph_mask, bool *g_graph_visited, bool *g_over,
                        int no_of_nodes)
{
    int tid = blockIdx.x * MAX_THREADS_PER_BLOCK + threadIdx.x;
    if (tid < no_of_nodes && g_updating_graph_mask[tid]) {
        g_graph_mask[tid] = true;
        g_graph_visited[tid] = true;
        *g_over = true;
        g_updating_graph_mask[tid] = false;
    }
}

// An end of edge i: uniform, or quadrant by quadrant with R-MAT's probabilities of 57, 19, 19 and 5%.
static void draw(bool power_law, int n, size_t i, int *from, int *to)
{
    *from = (int)(hashed(1, i) % n);
    *to = (int)(hashed(2, i) % n);
    if (!power_law)
        return;
    *from = *to = 0;
    for (int bit = 1; bit < n; bit *= 2) {
        unsigned at = hashed(3 + bit, i) % 100;
        *from += at >= 76 ? bit : 0;
        *to += (at >= 57 && at < 76) || at >= 95 ? bit : 0;
    }
    *from = (int)(hashed(9, *from) % n);
    *to = (int)(hashed(9, *to) % n);
}

static void write_graph(const char *path, const std::vector<Node> &nodes, const std::vector<int> &edges, int source)
{
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        exit(1);
    }
    fprintf(file, "%zu\n", nodes.size());
    for (const Node &node : nodes)
        fprintf(file, "%d %d\n", node.starting, node.no_of_edges);
    fprintf(file, "%d\n%zu\n", source, edges.size());
    for (int to : edges)
        fprintf(file, "%d 1\n", to);
    if (fclose(file)) {
        perror(path);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    int n = parameter(argc, argv, "nodes", 262144);
    bool power_law = parameter(argc, argv, "kind", 0);
    size_t pairs = (size_t)n * parameter(argc, argv, "degree", 6) / 2;
    std::vector<std::vector<int>> adjacent(n);
    for (size_t i = 0; i < pairs; i++) {
        int from, to;
        draw(power_law, n, i, &from, &to);
        adjacent[from].push_back(to);
        adjacent[to].push_back(from);
    }
    array<Node> nodes(n);
    array<int> edges(2 * pairs), cost(n);
    array<char> frontier(n), reached(n), visited(n), over(1);
    size_t at = 0;
    for (int i = 0; i < n; i++) {
        nodes[i] = {(int)at, (int)adjacent[i].size()};
        for (int to : adjacent[i])
            edges[at++] = to;
        cost[i] = -1;
    }
    int source = 0;
    while (adjacent[source].empty())
        source++;
    if (const char *path = text_parameter(argc, argv, "graph"))
        write_graph(path, nodes.host, edges.host, source);
    frontier[source] = visited[source] = 1;
    cost[source] = 0;
    nodes.up();
    edges.up();
    frontier.up();
    reached.up();
    visited.up();
    cost.up();
    int threads = n < MAX_THREADS_PER_BLOCK ? n : MAX_THREADS_PER_BLOCK, ctas = (n + threads - 1) / threads;
    do {
        over[0] = 0;
        over.up();
        launch("Kernel", Kernel, ctas, threads, 0, nodes.device, edges.device, (bool *)frontier.device,
               (bool *)reached.device, (bool *)visited.device, cost.device, n);
        launch("Kernel2", Kernel2, ctas, threads, 0, (bool *)frontier.device, (bool *)reached.device,
               (bool *)visited.device, (bool *)over.device, n);
        over.down();
    } while (over[0]);
    std::vector<int> expected(n, -1), queue = {source};
    expected[source] = 0;
    for (size_t head = 0; head < queue.size(); head++)
        for (int to : adjacent[queue[head]])
            if (expected[to] < 0) {
                expected[to] = expected[queue[head]] + 1;
                queue.push_back(to);
            }
    cost.down();
    size_t wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += cost[i] != expected[i];
    return finish("bfs", wrong);
}
