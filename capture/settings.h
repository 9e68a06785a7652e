/* The options of pagewalk-capture.
 *
 * The program hands them to the library inside the recorded process as one text, options separated by newlines, in the
 * variable PW_CAPTURE_VARIABLE of the environment; the library reads it by the same rows. */
#ifndef PW_CAPTURE_SETTINGS_H
#define PW_CAPTURE_SETTINGS_H

#include "sim/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PW_CAPTURE_VARIABLE "PAGEWALK_CAPTURE"

struct pw_capture_settings {
    const char *output;  /* file; never NULL when valid */
    const char *kernels; /* extended regular expression; NULL: all */
    uint64_t skip;       /* launches whose kernel matches */
    uint64_t count;      /* of them, after that; UINT64_MAX: all */
    uint32_t sample;     /* one CTA in so many */
    uint64_t limit;      /* bytes of the trace after which no further launch is recorded; 0: none */
    uint64_t ring;       /* bytes */
    bool paused;         /* until the program says so */
    bool shared;         /* record where warps access shared and local memory */
    bool names;          /* name allocations by NVTX ranges and places in the program */
    bool compare;        /* run the program once without being recorded, for its time */
    bool help;
    const char *program; /* for the trace's origin; "" */
};

void pw_capture_settings_init(struct pw_capture_settings *s);

/* Options of a command line up to `--` or the first word that is none; *out_used words are options. */
enum pw_status pw_capture_settings_parse(struct pw_capture_settings *s, int count, char *const words[], int *out_used,
                                         struct pw_error *err);

/* The same as a text, and back. The text is cut to pieces and must outlast the settings. */
enum pw_status pw_capture_settings_write(const struct pw_capture_settings *s, char *out, size_t bytes,
                                         struct pw_error *err);
enum pw_status pw_capture_settings_read(struct pw_capture_settings *s, char *text, struct pw_error *err);

/* One line per option. */
extern const char pw_capture_usage[];

#endif
