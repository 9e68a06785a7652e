/* A file that appears whole or not at all: it is written beside its target and takes its place when it is complete.
 *
 * A target that is a symbolic link is followed, so that the link stays, also where it points to no file yet; a target
 * that exists keeps its mode. One that is no regular file cannot be replaced and is refused. */
#ifndef PW_SIM_NEW_FILE_H
#define PW_SIM_NEW_FILE_H

#include "sim/status.h"

struct pw_new_file {
    int fd; /* to be written */
    char *target, *temporary;
};

/* The file that a path stands for once links are followed, to be freed; NULL with errno when that cannot be told. */
char *pw_new_file_target(const char *path);

enum pw_status pw_new_file_open(struct pw_new_file *f, const char *path, struct pw_error *err);

/* Brings it to the disk and renames it. When that fails nothing of it is left. */
enum pw_status pw_new_file_finish(struct pw_new_file *f, struct pw_error *err);

/* Leaves nothing of it. Does nothing to a file that is finished, or all zero. */
void pw_new_file_drop(struct pw_new_file *f);

#endif
