/* Tetrahedra of cubes. A cube's six tetrahedra are the six orders in which a path from its corner (0,0,0) to (1,1,1)
 * can take the three directions; their neighbours follow from the order in closed form. The model is described in
 * tetmesh.h. */
#include "workload/rodinia/tetmesh.h"

#include "workload/runtime/inputs.h"

enum { TETS = 6, AXES = 3 };

static const uint8_t orders[TETS][AXES] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

struct box {
    uint32_t bin, bins; /* cubes along a bin, bins along x and y */
    uint32_t layers;    /* of bins, along z */
    uint32_t cells;
    float edge;
    uint64_t seed;
    uint32_t *number; /* by bin, cube within the bin and order */
};

static uint32_t order_index(uint8_t a, uint8_t b)
{
    for (uint32_t i = 0; i < TETS; i++)
        if (orders[i][0] == a && orders[i][1] == b)
            return i;
    return 0;
}

static uint64_t place_of(const struct box *b, const int64_t cube[AXES], uint32_t order)
{
    uint64_t n = b->bin;
    uint64_t bin = ((uint64_t)cube[2] / n * b->bins + (uint64_t)cube[1] / n) * b->bins + (uint64_t)cube[0] / n;
    uint64_t within = ((uint64_t)cube[2] % n * n + (uint64_t)cube[1] % n) * n + (uint64_t)cube[0] % n;
    return (bin * n * n * n + within) * TETS + order;
}

static int32_t cell_at(const struct box *b, const int64_t cube[AXES], uint32_t order)
{
    int64_t side = (int64_t)b->bins * b->bin, height = (int64_t)b->layers * b->bin;
    if (cube[2] < 0)
        return PW_TET_WALL;
    if (cube[0] < 0 || cube[0] >= side || cube[1] < 0 || cube[1] >= side || cube[2] >= height)
        return PW_TET_FAR_FIELD;
    uint32_t number = b->number[place_of(b, cube, order)];
    return number < b->cells ? (int32_t)number : PW_TET_FAR_FIELD;
}

/* The neighbour behind the face opposite to vertex `face` of the path. */
static int32_t neighbour_of(const struct box *b, const int64_t cube[AXES], uint32_t order, uint32_t face)
{
    const uint8_t *o = orders[order];
    int64_t next[AXES] = {cube[0], cube[1], cube[2]};
    switch (face) {
    case 0:
        next[o[0]]++;
        return cell_at(b, next, order_index(o[1], o[2]));
    case 1:
        return cell_at(b, next, order_index(o[1], o[0]));
    case 2:
        return cell_at(b, next, order_index(o[0], o[2]));
    default:
        next[o[2]]--;
        return cell_at(b, next, order_index(o[2], o[0]));
    }
}

static void vertex_at(const struct box *b, const int64_t corner[AXES], float out[AXES])
{
    const float jitter = 0.2F;
    uint64_t hash = b->seed;
    for (uint32_t axis = 0; axis < AXES; axis++)
        hash = pw_hash(hash, (uint64_t)corner[axis]);
    for (uint32_t axis = 0; axis < AXES; axis++)
        out[axis] = b->edge * ((float)corner[axis] + jitter * (pw_hash_unit(pw_hash(hash, axis)) - 0.5F));
}

static void cross(const float a[3], const float b[3], float out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static void make_cell(const struct box *b, const int64_t cube[AXES], uint32_t order, struct pw_tet *cell)
{
    int64_t corner[AXES] = {cube[0], cube[1], cube[2]};
    float vertex[PW_TET_FACES][AXES];
    for (uint32_t i = 0; i < PW_TET_FACES; i++) {
        vertex_at(b, corner, vertex[i]);
        if (i < AXES)
            corner[orders[order][i]]++;
    }
    for (uint32_t face = 0; face < PW_TET_FACES; face++) {
        const float *origin = vertex[(face + 1) % 4], *second = vertex[(face + 2) % 4], *third = vertex[(face + 3) % 4];
        float u[3], v[3], normal[3], height = 0;
        for (uint32_t axis = 0; axis < AXES; axis++) {
            u[axis] = second[axis] - origin[axis];
            v[axis] = third[axis] - origin[axis];
        }
        cross(u, v, normal);
        for (uint32_t axis = 0; axis < AXES; axis++)
            height += normal[axis] * (vertex[face][axis] - origin[axis]);
        for (uint32_t axis = 0; axis < AXES; axis++)
            cell->normal[face][axis] = height > 0 ? -0.5F * normal[axis] : 0.5F * normal[axis];
        cell->volume = (height > 0 ? height : -height) / 6.0F;
        cell->neighbour[face] = neighbour_of(b, cube, order, face);
    }
}

struct pw_tet *pw_tetmesh_make(struct pw_host *h, uint32_t cells, uint32_t bin, float edge, uint64_t seed)
{
    struct box b = {.bin = bin, .bins = 1, .cells = cells, .edge = edge, .seed = seed};
    uint64_t bin_cells = (uint64_t)bin * bin * bin * TETS;
    while ((uint64_t)b.bins * b.bins * b.bins * bin_cells < cells)
        b.bins++;
    b.layers = (uint32_t)((cells + bin_cells * b.bins * b.bins - 1) / (bin_cells * b.bins * b.bins));
    uint64_t places = (uint64_t)b.bins * b.bins * b.layers * bin_cells;
    b.number = pw_host_keep(h, places * sizeof *b.number);
    for (uint64_t i = 0; i < places; i++)
        b.number[i] =
            (uint32_t)(i / bin_cells * bin_cells + pw_permuted(pw_hash(seed, i / bin_cells), i % bin_cells, bin_cells));

    struct pw_tet *mesh = pw_host_keep(h, cells * sizeof *mesh);
    int64_t side = (int64_t)b.bins * bin, height = (int64_t)b.layers * bin;
    for (int64_t z = 0; z < height; z++)
        for (int64_t y = 0; y < side; y++)
            for (int64_t x = 0; x < side; x++)
                for (uint32_t order = 0; order < TETS; order++) {
                    uint32_t number = b.number[place_of(&b, (int64_t[]){x, y, z}, order)];
                    if (number < cells)
                        make_cell(&b, (int64_t[]){x, y, z}, order, &mesh[number]);
                }
    return mesh;
}

static bool same_face(const float a[3], const float b[3])
{
    float difference = 0, length = 0;
    for (uint32_t axis = 0; axis < AXES; axis++) {
        difference += (a[axis] + b[axis]) * (a[axis] + b[axis]);
        length += a[axis] * a[axis];
    }
    return difference < 1e-6F * length;
}

bool pw_tetmesh_consistent(const struct pw_tet *mesh, uint32_t cells)
{
    for (uint32_t i = 0; i < cells; i++)
        for (uint32_t face = 0; face < PW_TET_FACES; face++) {
            int32_t there = mesh[i].neighbour[face];
            uint32_t found = there < 0;
            for (uint32_t other = 0; there >= 0 && other < PW_TET_FACES; other++)
                found += mesh[there].neighbour[other] == (int32_t)i &&
                         same_face(mesh[i].normal[face], mesh[there].normal[other]);
            if (found != 1)
                return false;
        }
    return true;
}
