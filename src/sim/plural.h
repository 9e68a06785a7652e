/* Counts that read well: "1 run", "2 runs", "1 launch", "0 launches". */
#ifndef PW_SIM_PLURAL_H
#define PW_SIM_PLURAL_H

#include <stdint.h>

/* The word for so many. */
static inline const char *pw_counted(uint64_t count, const char *one, const char *many)
{
    return count == 1 ? one : many;
}

/* "s" unless there is one. */
static inline const char *pw_plural(uint64_t count)
{
    return pw_counted(count, "", "s");
}

#endif
