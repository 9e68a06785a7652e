/* A touch file under a design: what each touch finds, as pagewalk touch shows it. */
#ifndef PW_EXP_TOUCH_H
#define PW_EXP_TOUCH_H

#include "exp/touch/replay.h"

#include "pagewalk/pagewalk.h"

struct pw_touch_spec {
    const char *file;             /* "-": standard input */
    const char *machine, *design; /* as in struct pw_run_spec; NULL: h200, uvm-nvidia */
    const char *const *sets;
    size_t set_count;
    const char
        *memory; /* for managed data, as uvm.memory; NULL: as the options say, all of the machine's if they do not */
    uint64_t seed;
    const volatile bool *interrupted; /* polled; when it becomes true the call ends with PW_INTERRUPTED; NULL: never */
};

/* Visits one line for each option that is set in vain: those about time, and device memory beside `memory`. */
enum pw_status pw_touch_notices(const struct pw_touch_spec *spec, pw_notice_visit *visit, void *context,
                                struct pw_error *err);

/* The file is gone through twice: before the first visit it is known to have no mistake. */
enum pw_status pw_touch_replay(const struct pw_touch_spec *spec, pw_touch_visit *visit, void *context,
                               struct pw_error *err);

#endif
