/* Machines and designs: data files that are compiled into the library, and files of the user's.
 *
 * A machine is sizes and latencies, a design a set of policy choices. configs/machines/NAME.yaml and
 * configs/designs/NAME.yaml are embedded at build time, so that the program needs no data folder. A name that contains
 * a '/' or ends in ".yaml" is read as a file. The keys `summary` and `aliases` (names separated by spaces) describe
 * the file; every other key is an option. */
#ifndef PW_SYSTEM_CATALOG_H
#define PW_SYSTEM_CATALOG_H

#include "sim/option.h"

struct pw_catalog_file {
    const char *name;
    const char *path; /* for messages: "configs/machines/mosaic.yaml" */
    const char *text;
    size_t length;
};

/* Sorted by name; the last one has a NULL name. Generated. */
extern const struct pw_catalog_file pw_machine_files[];
extern const struct pw_catalog_file pw_design_files[];

/* Lays a machine over the options. An unknown name is a user error that suggests the nearest (aliases included). */
enum pw_status pw_catalog_apply_machine(struct pw_options *o, const char *name, struct pw_error *err);

/* Lays designs, joined by '+', over the options. Two designs that set one option to different values are a user error
 * that names both. out_names (capacity bytes) receives the canonical names joined by '+'. */
enum pw_status pw_catalog_apply_designs(struct pw_options *o, const char *names, char *out_names, size_t capacity,
                                        struct pw_error *err);

/* Reads summary and aliases of an embedded file. */
enum pw_status pw_catalog_describe(const struct pw_catalog_file *file, char *summary, size_t summary_capacity,
                                   char *aliases, size_t aliases_capacity, struct pw_error *err);

#endif
