/* Writing a result: a file appears whole or not at all, and "-" is standard output. */
#ifndef PW_EXP_OUTPUT_H
#define PW_EXP_OUTPUT_H

#include "exp/format/text.h"

/* Whether `path` can be written, asked before a long run: its folder exists and may be written, it is no folder itself.
 * A mistake is the user's. Nothing is created. */
enum pw_status pw_output_check(const char *path, struct pw_error *err);

/* Writes the text to `path`. A regular file is replaced by a rename after its bytes are on the disk; a device, a pipe
 * or "-" is written straight. A failure leaves whatever was there before. */
enum pw_status pw_output_write(const char *path, const struct pw_text *t, struct pw_error *err);

/* Fills in the error of a failed write; PW_NO_READER for a pipe that nobody reads any more. */
enum pw_status pw_output_failed(const char *where, int cause, struct pw_error *err);

#endif
