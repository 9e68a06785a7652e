/* What is said of a store whose runs an older pagewalk has made: once, since whoever may write brings it up to date. */
#include "open_store.h"

#include "command.h"
#include "sim/plural.h"

enum pw_status pw_cli_open_store(const char *path, enum pw_store_access access, struct pw_store **out,
                                 struct pw_error *err)
{
    enum pw_status status = pw_store_open(path, access, out, err);
    uint64_t old = status == PW_OK ? pw_store_old_runs(*out) : 0;
    if (old)
        pw_cli_fail(PW_OK,
                    "%s: the %llu run%s there %s made by an older pagewalk, whose runs this one cannot use; `pagewalk "
                    "export` still writes %s",
                    path, (unsigned long long)old, pw_plural(old), pw_counted(old, "was", "were"),
                    pw_counted(old, "it", "them"));
    return status;
}
