/* Opening a result store for a command that wants its runs. */
#ifndef PW_CLI_OPEN_STORE_H
#define PW_CLI_OPEN_STORE_H

#include "exp/store/store.h"

/* pw_store_open; and one line on standard error where the runs that are there cannot be used any more. */
enum pw_status pw_cli_open_store(const char *path, enum pw_store_access access, struct pw_store **out,
                                 struct pw_error *err);

#endif
