/* The file of a trace that the tests of a program write one after the other: its path, and the workload that replays
 * it. make_path and remove_path are the group's set-up and tear-down. */
#ifndef PW_TESTS_TRACE_FILE_H
#define PW_TESTS_TRACE_FILE_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char path[] = "/tmp/pagewalk-trace-XXXXXX";
static char text[64]; /* "trace:PATH" */

static inline int make_path(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    snprintf(text, sizeof text, "trace:%s", path);
    return fd < 0 ? -1 : close(fd);
}

static inline int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

#endif
