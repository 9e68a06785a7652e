/* Reads a YAML file of nested maps into dotted key = value pairs: untrusted input.
 *
 * Accepted: one document, a map at the top, maps inside maps to a depth of 8, scalars as values. Sequences, anchors,
 * aliases, tags and duplicate keys are refused with FILE:LINE. Files over 1 MiB are refused. */
#ifndef PW_SIM_YAML_H
#define PW_SIM_YAML_H

#include "sim/status.h"

#include <stddef.h>
#include <stdio.h>

/* Called once per scalar, in file order; a status other than PW_OK stops the reading and is returned, with "FILE:LINE:
 * " put before the message. */
typedef enum pw_status pw_yaml_visit(void *context, const char *key, const char *value, int line, struct pw_error *err);

enum pw_status pw_yaml_read_text(const char *text, size_t length, const char *file_name, pw_yaml_visit *visit,
                                 void *context, struct pw_error *err);

/* Opens a regular file; anything else is refused without waiting for it. */
enum pw_status pw_yaml_open(const char *path, FILE **out, struct pw_error *err);
enum pw_status pw_yaml_read_file(const char *path, pw_yaml_visit *visit, void *context, struct pw_error *err);

#endif
