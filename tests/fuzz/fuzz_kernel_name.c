/* Any bytes as the name of a kernel: a short and a full name that end within their size and hold no control
 * character. */
#include "exp/format/kernel_name.h"
#include "fuzz.h"
#include "message.h"
#include "sim/utf8.h"

#include <stdlib.h>
#include <string.h>

static void check(const char *name, size_t size)
{
    require(strlen(name) < size);
    for (const char *s = name; *s; s += pw_utf8_length(s))
        require(pw_utf8_printable_length(s) > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *mangled = strndup((const char *)data, size);
    char *name = malloc(PW_KERNEL_NAME_FULL);
    require(mangled && name);
    size_t room = 1 + size % PW_KERNEL_NAME_SHORT;
    pw_kernel_name_short(mangled, name, room);
    check(name, room);
    pw_kernel_name_full(mangled, name, PW_KERNEL_NAME_FULL);
    check(name, PW_KERNEL_NAME_FULL);
    free(name);
    free(mangled);
    return 0;
}
