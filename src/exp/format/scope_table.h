/* A table of a result's metrics with a column for each scope, and quotients of them. */
#ifndef PW_EXP_SCOPE_TABLE_H
#define PW_EXP_SCOPE_TABLE_H

#include "exp/format/result.h"
#include "exp/format/table.h"

enum { PW_SCOPE_NAME = 24, PW_SCOPE_COLUMNS = PW_TABLE_MAX_COLUMNS - 2 };

struct pw_scope_table {
    const struct pw_result *result;
    size_t count;
    char scopes[PW_SCOPE_COLUMNS][PW_SCOPE_NAME]; /* "gpu0", "app1" */
    char align[PW_TABLE_MAX_COLUMNS + 1];
    struct pw_table table; /* a column of labels, one for each scope, one of units */
    bool l2_tlb;           /* there is one */
};

/* Scopes are every GPU and all of them together, or only the latter; and where there are several, the applications. */
void pw_scope_table_init(struct pw_scope_table *t, const struct pw_result *r, bool each_gpu);

/* The metric `name` (without scope) in a scope, or NULL. */
const struct pw_metric *pw_scope_table_find(const struct pw_scope_table *t, size_t scope, const char *name);
/* Whether any scope has it. */
bool pw_scope_table_has(const struct pw_scope_table *t, const char *name);

/* scale * (numerator - subtrahend) / (denominator + addend); subtrahend and addend may be NULL. */
struct pw_quotient {
    const char *label, *unit;
    double scale;
    const char *numerator, *subtrahend, *denominator, *addend;
};

/* NAN where nothing is below the line. */
double pw_scope_table_quotient(const struct pw_scope_table *t, size_t scope, const struct pw_quotient *q);

/* The sections with all metrics, by unit, and those of the summary. */
void pw_result_units(const struct pw_result *r, struct pw_text *out);
void pw_result_brief(const struct pw_result *r, struct pw_text *out);

#endif
