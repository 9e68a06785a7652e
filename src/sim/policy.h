/* The head of every policy, whatever it decides: a name, options and metrics of its own, a state, and a call at epochs.
 *
 * A family is a kind of decision (policy/FAMILY/FAMILY_policy.h); its policies are constant structs that begin with
 * this head and go on with the family's functions. Mechanisms act, policies decide: a policy moves nothing itself, and
 * keeps what it remembers in its state.
 *
 * Options and metrics. A policy is chosen by an option row of type PW_OPTION_POLICY, which lies over a struct
 * pw_policy_choice. The policy's own rows exist only while it is chosen, and so do its metrics. Their names begin with
 * that of the option that chooses, without a last ".policy" or ".schedule": "uvm.prefetch.depth", "fill.epoch",
 * "dram.silver_max".
 *
 * Instances. One choice may have many instances (a TLB in every SM, a scheduler in every channel). Each has a state of
 * its own; options and counters are common to them. */
#ifndef PW_SIM_POLICY_H
#define PW_SIM_POLICY_H

#include "sim/event.h"
#include "sim/option.h"

struct pw_policy_cost;

/* A counter that a policy keeps, one for each application. */
struct pw_policy_metric {
    const char *name;        /* NULL ends a table */
    const char *unit, *help; /* help NULL: it only feeds a ratio and is not shown */
    size_t offset;           /* of a uint64_t in the policy's counters of an application */
    bool level;              /* what it is counts, not how much it has grown */
};

/* The quotient of two of these counters; 0 where the second is 0. Over applications and GPUs it is that of their
 * sums. */
struct pw_policy_ratio {
    const char *name; /* NULL ends a table */
    const char *unit, *help;
    const char *of, *per; /* names of counters of the same policy */
    double scale;         /* that it is multiplied by */
};

/* What an instance is made from. */
struct pw_policy_setup {
    const void *options;     /* the policy's own, options_bytes */
    const void *environment; /* what the family's header says */
    void *counters;          /* counters_bytes for each application; zero at first, common to all instances */
    unsigned apps;
};

struct pw_policy {
    const char *name;                       /* as it is chosen: "fr-fcfs" */
    const char *summary;                    /* one line */
    const struct pw_option *options;        /* rows over a struct of its own; NULL: none */
    size_t options_bytes;                   /* of that struct, at most PW_POLICY_OPTIONS_CAPACITY */
    const struct pw_policy_metric *metrics; /* NULL: none */
    const struct pw_policy_ratio *ratios;   /* of these metrics; NULL: none */
    size_t counters_bytes;
    size_t state_bytes;
    /* NULL, or bytes of state beyond state_bytes, which depend on what the instance is made from. */
    size_t (*more_bytes)(const struct pw_policy_setup *setup);
    /* NULL, or prepares a state, which is zeroed and begins a host cache line. It may keep pointers to what the setup
     * points to. It fails where what it is made from does not go together, and then has nothing to release. */
    enum pw_status (*init)(void *state, const struct pw_policy_setup *setup, struct pw_error *err);
    /* NULL, or called once at the beginning of the run and then whenever it has asked to be: it returns the time of
     * the next call, or PW_NEVER. Nothing may wait for it: a run in which nothing else is left to happen has come to a
     * halt. */
    pw_cycle (*epoch)(void *state, pw_cycle now);
    /* NULL, or does after a call of `epoch` what so many further ones, at least one, would do while nothing happens:
     * time can go on very far then. All epochs have one length. Where it is NULL every call is made. */
    void (*rest)(void *state, uint64_t calls);
    const struct pw_policy_cost *cost; /* NULL, or what it takes in hardware (sim/cost.h) */
};

/* A kind of decision. */
struct pw_policy_family {
    const char *name;                        /* of its folder: "dram" */
    const char *decides;                     /* "DRAM schedule" */
    const struct pw_policy *const *policies; /* NULL-terminated; the first is the default */
};

enum { PW_POLICY_OPTIONS_CAPACITY = 256 };

/* What a PW_OPTION_POLICY row lies over: the policy of a family that is chosen, and the values of its own options. */
struct pw_policy_choice {
    uint32_t index;
    _Alignas(8) unsigned char options[PW_POLICY_OPTIONS_CAPACITY];
};

static inline const struct pw_policy *pw_policy_chosen(const struct pw_policy_family *family,
                                                       const struct pw_policy_choice *choice)
{
    return family->policies[choice->index];
}

/* Of an option that may say "same": the policy, or NULL for that. */
static inline const struct pw_policy *pw_policy_chosen_or_same(const struct pw_policy_family *family,
                                                               const struct pw_policy_choice *choice)
{
    return choice->index ? family->policies[choice->index - 1] : NULL;
}

/* Chooses by name, with the policy's own options at their defaults; times become cycles by clock_mhz. */
enum pw_status pw_policy_choose(const struct pw_policy_family *family, const char *name, uint32_t clock_mhz,
                                struct pw_policy_choice *out, struct pw_error *err);

/* The full name of an option or metric of the policies that this option chooses among. False: it is too long. */
bool pw_policy_own_name(const char *option, const char *own, char *out, size_t capacity);

/* Makes an instance; pw_policy_destroy releases its state. */
enum pw_status pw_policy_create(const struct pw_policy *policy, const struct pw_policy_setup *setup, void **out_state,
                                struct pw_error *err);
void pw_policy_destroy(void *state);

/* Something that is called at epochs, as long as it asks for another one. */
struct pw_epochs {
    struct pw_events *events;
    void *object;
    pw_cycle (*call)(void *object, pw_cycle now); /* returns the time of the next call, or PW_NEVER */
    /* NULL, or makes so many calls, of which the first would be at `first` and the others as far behind each other as
     * it is behind the last call: nothing happens meanwhile. */
    void (*rest)(void *object, pw_cycle first, uint64_t calls);
};

/* For the `rest` of a policy whose epochs change nothing when nothing has happened in them. */
void pw_policy_rests(void *state, uint64_t calls);

/* Calls at `first` for the first time. The struct must outlive the events. */
void pw_epochs_begin(struct pw_epochs *e, pw_cycle first);

/* There are no further calls, so that what is left in a machine can come to rest. */
void pw_epochs_end(struct pw_epochs *e);

/* The end of the epoch that `now` lies in, where epochs are so long and the first began at 0. Time ends long before
 * that could overflow (pw_stream_advance). */
static inline pw_cycle pw_epoch_end(pw_cycle now, pw_cycle length)
{
    return (now / length + 1) * length;
}

#endif
