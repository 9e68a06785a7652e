/* Growth of the bitmap of touched pages. */
#include "vm/touched.h"

#include <stdlib.h>
#include <string.h>

enum pw_status pw_touched_extend(struct pw_touched *t, uint64_t first, uint64_t outer, struct pw_error *err)
{
    if (!t->bits)
        t->first = first;
    uint64_t words = (outer - t->first + 63) / 64, old = t->pages / 64;
    if (words <= old)
        return PW_OK;
    uint64_t *bits = realloc(t->bits, words * sizeof *bits);
    if (!bits)
        return pw_fail_memory(err, "the map of touched pages");
    memset(bits + old, 0, (words - old) * sizeof *bits);
    t->bits = bits;
    t->pages = words * 64;
    return PW_OK;
}

void pw_touched_release(struct pw_touched *t)
{
    free(t->bits);
    *t = (struct pw_touched){0};
}
