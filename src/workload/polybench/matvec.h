/* What atax, mvt and bicg of PolyBench/GPU are made of: a matrix times a vector, with a thread for each row or for each
 * column.
 *
 * By rows, the lanes of a warp are a whole row apart, so that one load touches 32 lines and, from 1,024 columns on, 32
 * pages; by columns, it touches one line, and each step is a row further. The original's pointers may alias, so that
 * every step stores the sum so far. CTAs have 256 threads, as in PolyBench/GPU 1.0 (later versions run the same code in
 * CTAs of 32x8 whose eight warps all do the same).
 *
 * `terms` limits how many products each sum has. Nearly every access of the row kernel is a page walk on machine
 * kepler, and a run with all 4,096 products takes 190 million events; by default each sum has half of them. What is
 * left out is more of the same: lanes, pitch, launches and allocations stay. */
#ifndef PW_WORKLOAD_MATVEC_H
#define PW_WORKLOAD_MATVEC_H

#include "workload/runtime/host.h"

enum { PW_MATVEC_MAX_SIDE = 46340 }; /* the original's indices are ints */

struct pw_matvec {
    struct pw_array matrix, vector, result;
    int64_t rows, columns; /* of the matrix */
    int64_t terms;         /* at most so many products in a sum */
    bool by_rows;          /* a thread for each row: result = matrix * vector; else its transpose */
    bool clear;            /* results begin as zero; else as what they are */
};

/* Rows or columns as the scale has them; fails the program when they are too many. */
int64_t pw_matvec_side(struct pw_host *h, uint32_t side);

/* The limit on terms, scaled as sides are. */
int64_t pw_matvec_terms(const struct pw_host *h, uint32_t terms);

/* The matrix of all three programs, i * j / rows. */
struct pw_array pw_matvec_matrix(struct pw_host *h, const char *name, int64_t rows, int64_t columns);

void pw_matvec_launch(struct pw_host *h, const char *kernel, const struct pw_matvec *product);

/* Computes the product anew, one sum after the other, from what `before` had for results (NULL: zeros), and compares.
 */
void pw_matvec_verify(struct pw_host *h, const struct pw_matvec *product, const float *before);

/* Vectors as atax and bicg begin with: element i is i * pi. */
void pw_matvec_fill(const struct pw_array *vector);

/* What atax and bicg take. */
struct pw_matvec_parameters {
    uint32_t nx, ny, terms;
};
extern const struct pw_option pw_matvec_parameters[];
extern const struct pw_preset pw_matvec_presets[];

#define PW_MATVEC_ROW_TERMS(offset)                                                                                    \
    {                                                                                                                  \
        "terms", PW_OPTION_COUNT, offset, 0, PW_MATVEC_MAX_SIDE, "2048", "products", NULL,                             \
            "at most so many products in each sum; 0: all, as the original", false                                     \
    }

#endif
