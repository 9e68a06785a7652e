/* A file of text that is being written by the exporter, plain or compressed with xz, through a buffer of its own. */
#ifndef PW_TRACE_EXPORT_TEXT_H
#define PW_TRACE_EXPORT_TEXT_H

#include "sim/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PW_EXPORT_BUFFER = 1 << 20, PW_EXPORT_SLACK = 64 /* a number fits behind the last one */ };

struct pw_export_xz;

struct pw_export_text {
    const char *name; /* for messages */
    int fd;
    int cause; /* of the first failure, an errno; 0: none */
    size_t used;
    char *buffer;
    struct pw_export_xz *xz; /* NULL: plain */
};

/* Creates the file in a folder; `shown` is how messages name it, and must stay. */
enum pw_status pw_export_open(struct pw_export_text *t, int folder, const char *file, const char *shown, bool xz,
                              struct pw_error *err);
/* Brings it to the disk. All zero is fine. */
enum pw_status pw_export_close(struct pw_export_text *t, struct pw_error *err);
void pw_export_drop(struct pw_export_text *t);

/* The failure so far, PW_OK: none. */
enum pw_status pw_export_status(const struct pw_export_text *t, struct pw_error *err);

void pw_export_flush(struct pw_export_text *t);

void pw_export_print(struct pw_export_text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void pw_export_add(struct pw_export_text *t, const char *text);
/* In decimal, and a blank. */
void pw_export_decimal(struct pw_export_text *t, int64_t number);
/* In hexadecimal of at least so many digits, and a blank. */
void pw_export_hex(struct pw_export_text *t, uint64_t number, unsigned digits);

#endif
