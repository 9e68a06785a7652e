/* A figure's file while it is read: its keys as they stand, so that parts may come in any order. */
#ifndef PW_EXP_FIGURE_INTERNAL_H
#define PW_EXP_FIGURE_INTERNAL_H

#include "exp/figure/figure.h"
#include "exp/figure/sizes.h"

enum figure_section {
    SECTION_TOP,
    SECTION_VARIANTS,
    SECTION_WORKLOADS,
    SECTION_MEASURES,
    SECTION_TABLE,
    SECTION_CLAIMS,
    SECTION_COUNT
};

struct figure_entry {
    enum figure_section section;
    char *name;        /* of the variant, the group, …; of the key at the top */
    const char *field; /* "design"; NULL where the name has a value itself */
    char *value;
    int line;
};

struct figure_reader {
    struct pw_figure *figure;
    const char *file;
    size_t count;
    struct figure_entry *entries;
    bool metrics_checked; /* of an embedded figure: a test has looked every name up, which takes building systems */
    struct pw_error *err;
};

/* A user error "FILE:LINE: …". */
enum pw_status pw_figure_refuse(const struct figure_reader *r, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Puts FILE:LINE before a message that is already there, where it is a user's mistake. */
enum pw_status pw_figure_at(const struct figure_reader *r, int line, enum pw_status status);
enum pw_status pw_figure_no_memory(const struct figure_reader *r);

/* The entry of a key, or NULL; field is NULL where the name has the value itself. */
const struct figure_entry *pw_figure_find(const struct figure_reader *r, enum figure_section section, const char *name,
                                          const char *field);
/* Whether an entry is the first one of its name. */
bool pw_figure_is_first(const struct figure_reader *r, const struct figure_entry *entry);

/* A whole number in [low, high], or `fallback` when there is no entry. */
enum pw_status pw_figure_number(const struct figure_reader *r, const struct figure_entry *entry, uint64_t low,
                                uint64_t high, uint64_t fallback, uint64_t *out);

/* Makes room for one more; NULL when memory is out. */
void *pw_figure_grow(void *items, size_t count, size_t size);

/* The parts, each from the entries of its section. */
enum pw_status pw_figure_read_variants(const struct figure_reader *r);
enum pw_status pw_figure_read_workloads(const struct figure_reader *r);
enum pw_status pw_figure_read_expressions(const struct figure_reader *r);

void pw_figure_variant_release(struct pw_figure_variant *v);
/* Gives each claim its null design (nulls.c). */
enum pw_status pw_figure_add_nulls(struct pw_figure *f, struct pw_error *err);

/* Adds the column of a line of the table. */
enum pw_status pw_figure_add_column(const struct figure_reader *r, const struct figure_entry *e,
                                    const struct pw_expression_names *names);
/* Adds its columns, where it stands for all values of a sweep. */
enum pw_status pw_figure_add_columns(const struct figure_reader *r, const struct figure_entry *e,
                                     const struct pw_expression_names *names);

#endif
