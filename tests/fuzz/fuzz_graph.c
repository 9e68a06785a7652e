/* Any bytes as a graph file, in the format they look like and in every other: nothing may crash, a refusal is one line
 * that begins with the file's name, and whatever is accepted is a graph no larger than the bytes have room for. */
#include "fuzz.h"
#include "message.h"
#include "workload/graph/graph.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void check_graph(const struct pw_graph *g, size_t size)
{
    require(g->nodes >= 1 && g->source < g->nodes && g->edges <= size);
    require(g->nodes <= (1U << 20) + 64 * (g->edges + 1));
    require(g->first[0] == 0 && g->first[g->nodes] == g->edges);
    for (uint32_t v = 0; v < g->nodes; v++)
        require(g->first[v] <= g->first[v + 1]);
    for (uint64_t e = 0; e < g->edges; e++)
        require(g->target[e] < g->nodes && (!g->weight || isfinite(g->weight[e])));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int file = memfd_create("graph", 0);
    require(file >= 0 && write(file, data, size) == (ssize_t)size);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    for (unsigned format = 0; format < PW_GRAPH_FORMAT_COUNT; format++) {
        struct pw_graph g;
        struct pw_error err = {0};
        enum pw_status status = pw_graph_read(path, format, &g, &err);
        if (status == PW_OK) {
            check_graph(&g, size);
            pw_graph_free(&g);
        } else {
            require_refusal(status, &err);
            require(!g.first && !g.target && !g.weight);
            require(!strncmp(err.message, path, strlen(path)) && err.message[strlen(path)] == ':');
        }
    }
    close(file);
    return 0;
}
