/* The tree of an expression: what the parser writes and the evaluation reads. */
#ifndef PW_EXP_EXPRESSION_INTERNAL_H
#define PW_EXP_EXPRESSION_INTERNAL_H

#include "exp/figure/expression.h"

enum node_kind { NODE_NUMBER, NODE_METRIC, NODE_REFERENCE, NODE_NEGATE, NODE_BINARY, NODE_REDUCE };

enum operation {
    OP_LESS,
    OP_LESS_EQUAL,
    OP_GREATER,
    OP_GREATER_EQUAL,
    OP_ADD,
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_JOIN, /* all values of both, one list after the other */
};

enum reduction {
    REDUCE_MEAN,
    REDUCE_GEOMEAN,
    REDUCE_HARMEAN,
    REDUCE_MEDIAN,
    REDUCE_MIN,
    REDUCE_MAX,
    REDUCE_SUM,
    REDUCE_COUNT,
    REDUCE_FARTHEST, /* from 1 */
    REDUCTION_COUNT
};
extern const char *const pw_reduction_names[REDUCTION_COUNT + 1];

struct node {
    enum node_kind kind;
    bool is_number; /* one number, whatever the runs */
    union {
        double number;
        char *metric; /* owned */
        struct {
            size_t measure, variant;
            bool alone;
            int group;
        } reference;
        struct {
            unsigned what; /* enum operation or enum reduction */
            unsigned left, right;
        } inner;
    };
};

struct pw_expression {
    char *text; /* for messages */
    struct node *nodes;
    size_t count;
    unsigned root;
};

#endif
