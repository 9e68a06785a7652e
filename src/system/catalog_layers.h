/* The files of the machines or designs of a run: those named, and those that they are based on. */
#ifndef PW_SYSTEM_CATALOG_LAYERS_H
#define PW_SYSTEM_CATALOG_LAYERS_H

#include "system/catalog.h"

#include <sys/stat.h>

enum {
    PW_LAYERS_NAMED = 16,
    PW_LAYERS_DEPTH = 8,
    PW_LAYERS_LIMIT = PW_LAYERS_NAMED * PW_LAYERS_DEPTH,
    PW_NO_BASE = PW_LAYERS_LIMIT
};

/* What a file sets. */
struct pw_layer_setting {
    char *key, *value;
    int line;
};

struct pw_layer {
    char *name;                             /* canonical: of the embedded file, or the path as given */
    char *path;                             /* of the file, for messages and origins */
    const struct pw_catalog_file *embedded; /* NULL: a file of the user's */
    struct stat identity;                   /* of that file */
    struct pw_layer_setting *settings;
    size_t count, capacity;
    char *base_name, *assumed; /* or NULL */
    int base_line;
    unsigned base; /* its layer, or PW_NO_BASE */
    bool named;    /* in the run; otherwise it is there as a base only */
    bool is_base;  /* another layer's */
    bool opening;  /* its base is being read */
    bool laid;
};

struct pw_layers {
    enum pw_catalog_kind kind;
    struct pw_layer rows[PW_LAYERS_LIMIT];
    unsigned count;
    unsigned named[PW_LAYERS_NAMED]; /* in the order given */
    unsigned named_count;
};

/* Reads everything that is named. On PW_OK *out is the caller's to release. */
enum pw_status pw_layers_open(enum pw_catalog_kind kind, const char *names, struct pw_layers **out,
                              struct pw_error *err);
void pw_layers_release(struct pw_layers *l);

#endif
