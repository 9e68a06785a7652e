/* An unstructured mesh of tetrahedra, made from a seed, as a finite-volume code reads it from a file.
 *
 * A box of cubes, each cut into the six tetrahedra that run along one of its diagonals, with the vertices moved at
 * random. Every tetrahedron has four faces and behind each a neighbour, a wall (the floor of the box) or the open far
 * field (its other sides, and wherever the requested number of cells ends).
 *
 * Cells are numbered bin by bin, and at random within a bin: what a mesh looks like whose generator advances through
 * space, or that was renumbered in bins so that neighbours are near one another in memory. */
#ifndef PW_WORKLOAD_TETMESH_H
#define PW_WORKLOAD_TETMESH_H

#include "workload/runtime/host.h"

enum { PW_TET_FACES = 4, PW_TET_WALL = -1, PW_TET_FAR_FIELD = -2 };

struct pw_tet {
    float volume;
    int32_t neighbour[PW_TET_FACES];
    float normal[PW_TET_FACES][3]; /* outward, as long as the face is large */
};

/* `cells` tetrahedra, of cubes of side `edge`, numbered in bins of `bin` cubes a side. Lives as long as the program. */
struct pw_tet *pw_tetmesh_make(struct pw_host *h, uint32_t cells, uint32_t bin, float edge, uint64_t seed);

/* Whether neighbours agree: each knows the other behind one face, and the two have that face in common. */
bool pw_tetmesh_consistent(const struct pw_tet *mesh, uint32_t cells);

#endif
