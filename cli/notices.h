/* Lines about what was set in vain, printed before anything runs; with --strict they are mistakes. */
#ifndef PW_CLI_NOTICES_H
#define PW_CLI_NOTICES_H

#include "exp/format/text.h"

#include "pagewalk/pagewalk.h"

#define PW_CLI_STRICT_HELP "refuse options that have no effect instead of saying so"

struct pw_cli_notices {
    struct pw_text lines; /* each ends in '\n' */
    size_t count;
};

void pw_cli_notices_add(struct pw_cli_notices *n, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A pw_notice_visit with notices as its context. */
void pw_cli_notices_visit(void *notices, const char *message);

/* Adds the notices that all of these runs have in common, prints everything and frees it. Returns the exit code: that
 * of a mistake in a specification, or of --strict. */
int pw_cli_notices_finish(struct pw_cli_notices *n, const struct pw_run_spec *specs, size_t count, bool strict);

#endif
