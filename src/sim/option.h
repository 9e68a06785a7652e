/* Options: one typed row per option drives parsing, range checks, help, the effective configuration in every result
 * and the reference page.
 *
 * A module describes its configuration struct once, as a table of rows whose offsets are relative to that struct. A
 * group lays such a table over one struct under a prefix: "l1_tlb" and "l2_tlb" are two groups over the same rows. A
 * row may choose among the policies of a family; a policy's own rows are options as long as it is chosen
 * (sim/policy.h). */
#ifndef PW_SIM_OPTION_H
#define PW_SIM_OPTION_H

#include "sim/status.h"
#include "sim/types.h"

enum pw_option_type {
    PW_OPTION_BOOL,   /* bool: on/off, true/false, yes/no, 1/0 */
    PW_OPTION_COUNT,  /* uint32_t: a plain number; suffixes k, M, G (powers of 1000) are accepted */
    PW_OPTION_BYTES,  /* uint64_t: 512, 128B, 512KB, 2MB, 3GB, 1TB, KiB, … (all powers of 1024) */
    PW_OPTION_CYCLES, /* uint32_t: core cycles: a plain number; or a time (ns, us, ms) converted with clock_mhz */
    PW_OPTION_NUMBER, /* double */
    PW_OPTION_CHOICE, /* uint32_t: index into choices */
    PW_OPTION_TEXT,   /* char[PW_OPTION_TEXT_CAPACITY] inside the struct */
    PW_OPTION_POLICY, /* struct pw_policy_choice (sim/policy.h): one of a family */
    PW_OPTION_POLICY_OR_SAME, /* likewise; or, as index 0, "same": what another option chooses holds here too */
};

enum { PW_OPTION_TEXT_CAPACITY = 256 };

struct pw_option {
    const char *name; /* without the group's prefix; NULL ends a table */
    enum pw_option_type type;
    size_t offset;
    double min, max;      /* for numbers; inclusive; max = 0 means the type's limit */
    const char *fallback; /* default, as the user would write it */
    const char *unit;     /* "" where there is none; "entries", "cycles", "bytes", "MHz", … */
    /* PW_OPTION_CHOICE: names, const char *const [], NULL-terminated. PW_OPTION_POLICY, PW_OPTION_POLICY_OR_SAME: the
     * family, const struct pw_policy_family. */
    const void *choices;
    const char *help; /* one sentence */
    bool power_of_two;
};

struct pw_option_group {
    const char *prefix; /* "" for none; NULL ends a table of groups */
    const struct pw_option *rows;
    size_t offset; /* of the group's struct inside the configuration */
};

/* A set of groups over one configuration object. clock_mhz, where not NULL, points to the uint32_t that converts times
 * into cycles: times are kept as text and resolved by pw_options_finish, since a later file may change the clock. */
struct pw_options;

enum pw_status pw_options_create(const struct pw_option_group *groups, void *config, const uint32_t *clock_mhz,
                                 struct pw_options **out, struct pw_error *err);
void pw_options_destroy(struct pw_options *o);

/* Sets one option by its full name ("l1_tlb.entries"). `origin` says who sets it ("configs/machines/mosaic.yaml:12",
 * "--set", "design mosaic") for later messages. An unknown name is an error that suggests the nearest one. An option
 * of a policy that is not chosen (yet) is kept, behind the option that chooses; indices move with it. */
enum pw_status pw_options_set(struct pw_options *o, const char *name, const char *value, const char *origin,
                              struct pw_error *err);

/* "key=value" as given to --set. */
enum pw_status pw_options_set_pair(struct pw_options *o, const char *pair, const char *origin, struct pw_error *err);

/* Resolves values that depend on others: times into cycles, the options of the policies that are chosen. Those that
 * nobody has set are there from now on, with their defaults; one of a policy that is not chosen is a user error. Call
 * after the last set. */
enum pw_status pw_options_finish(struct pw_options *o, struct pw_error *err);

/* Iteration in table order, for results and listings. */
struct pw_option_view {
    char name[96];
    char value[PW_OPTION_TEXT_CAPACITY]; /* canonical text of the present value: "2MB", "128", "fr-fcfs", "on" */
    const char *origin;                  /* who set it, or "default" */
    const struct pw_option *row;
};
size_t pw_options_count(const struct pw_options *o);
void pw_options_view(const struct pw_options *o, size_t index, struct pw_option_view *out);
const char *pw_options_name(const struct pw_options *o, size_t index);

/* The row of an option by its full name, or of one that a policy has which could be chosen; NULL: there is none. */
const struct pw_option *pw_options_row(const struct pw_options *o, const char *name);

/* Index of an option by its full name, or -1. */
int pw_options_find(const struct pw_options *o, const char *name);

/* Who set an option ("default" when nobody did), or NULL for an unknown name. Valid until the option is set again. */
const char *pw_options_origin(const struct pw_options *o, const char *name);

/* The name in `names` (NULL-terminated) nearest to `wrong`, or NULL when nothing is near: edit distance with
 * transpositions, at most a third of the length and at least 1, or `wrong` as a word of the name. */
const char *pw_suggest(const char *wrong, const char *const *names);

/* Parses one value by its row into `target` (the field itself). Used for workload parameters too. */
enum pw_status pw_option_parse(const struct pw_option *row, const char *text, uint32_t clock_mhz, void *target,
                               struct pw_error *err);
void pw_option_format(const struct pw_option *row, const void *target, char *out, size_t capacity);

/* A size for a message, in a unit that can be typed back: whole, below 100,000, "3GB", "4883KB". What does not come
 * out even is rounded down, or up. */
enum { PW_SIZE_CAPACITY = 24 };
const char *pw_size_text(char out[PW_SIZE_CAPACITY], uint64_t bytes, bool round_up);

/* The value of a row that has names for its values; NULL beyond the last. */
const char *pw_option_choice(const struct pw_option *row, uint32_t index);

/* The family that a row chooses among; NULL for other rows. */
const struct pw_policy_family *pw_option_family(const struct pw_option *row);

/* What values a row takes: "1 to 64, power of two", "on, off", the choices; "" where any will do. */
void pw_option_describe_range(const struct pw_option *row, char *out, size_t capacity);

#endif
