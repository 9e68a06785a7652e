/* What the readers of graph files share: a scanner over an untrusted file and a growing list of edges.
 *
 * A reader takes numbers and words off the present line and appends edges. Memory grows with what really arrives, never
 * with what a header promises. Every failure is one line that begins with FILE:LINE. */
#ifndef PW_WORKLOAD_GRAPH_READ_H
#define PW_WORKLOAD_GRAPH_READ_H

#include "workload/graph/graph.h"

struct pw_graph_reader {
    const char *path;
    struct pw_error *err;
    uint64_t line; /* of the next byte, from 1 */
    bool commas;   /* separate numbers, as blanks do */

    unsigned char *buffer, *next, *end;
    size_t capacity;
    int file;
    int read_error; /* errno of a read that failed; the file seems to end there */

    uint32_t *source, *target;
    float *weight;
    uint64_t edges, edges_capacity;
    bool weighted;     /* edges carry weights; set before the first one is appended */
    bool out_of_order; /* sources do not only rise */

    uint64_t nodes;      /* below 2^32 */
    uint64_t nodes_line; /* that names their number */
    uint32_t first_node; /* where a search starts */
};

typedef enum pw_status pw_graph_reader_fn(struct pw_graph_reader *r);
pw_graph_reader_fn pw_graph_read_rodinia, pw_graph_read_metis, pw_graph_read_dimacs, pw_graph_read_matrix_market,
    pw_graph_read_snap;

/* Reads on; false at the end of the file. */
bool pw_graph_refill(struct pw_graph_reader *r);

/* The next byte, or -1 at the end of the file. */
static inline int pw_graph_peek(struct pw_graph_reader *r)
{
    return r->next < r->end || pw_graph_refill(r) ? *r->next : -1;
}

/* Whether nothing but blanks is left of the line. */
bool pw_graph_line_ends(struct pw_graph_reader *r);

/* Goes to the next line: from anywhere, or only from the end of this one. */
void pw_graph_skip_line(struct pw_graph_reader *r);
enum pw_status pw_graph_next_line(struct pw_graph_reader *r);

/* Goes to the first line with something on it that does not begin with `comment`; false when there is none. */
bool pw_graph_find_line(struct pw_graph_reader *r, int comment);

/* Goes over blanks and ends of lines. */
void pw_graph_skip_space(struct pw_graph_reader *r);

/* What comes next on the line. `what` names it in a message, as in "expected WHAT". */
enum pw_status pw_graph_number(struct pw_graph_reader *r, const char *what, uint64_t *out);
enum pw_status pw_graph_number_below(struct pw_graph_reader *r, const char *what, uint64_t outer, uint64_t *out);
enum pw_status pw_graph_nodes(struct pw_graph_reader *r);                              /* their number, into r->nodes */
enum pw_status pw_graph_node(struct pw_graph_reader *r, uint32_t base, uint32_t *out); /* a node, counted from base */
enum pw_status pw_graph_weight(struct pw_graph_reader *r, const char *what, double *out);

/* A word in lower case, cut to capacity - 1 characters; empty at the end of the line. */
void pw_graph_word(struct pw_graph_reader *r, char *out, size_t capacity);

/* An edge, and one that goes both ways: a self loop stands once. */
enum pw_status pw_graph_append(struct pw_graph_reader *r, uint32_t source, uint32_t target, double weight);
enum pw_status pw_graph_append_both(struct pw_graph_reader *r, uint32_t source, uint32_t target, double weight);

/* pw_fail with FILE:LINE before the message. */
#define pw_graph_fail(r, ...) pw_status_passed((pw_error_set((r)->err, PW_USER_ERROR, __VA_ARGS__), pw_graph_place(r)))
enum pw_status pw_graph_place(struct pw_graph_reader *r);

#endif
