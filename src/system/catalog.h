/* Machines and designs: data files that are compiled into the library, and files of the user's.
 *
 * A machine is sizes and latencies, a design a set of policy choices. configs/machines/NAME.yaml and
 * configs/designs/NAME.yaml are embedded at build time, so that the program needs no data folder. A name that contains
 * a '/' or ends in ".yaml" is read as a file. Some keys describe the file: `summary`, `aliases` (names separated by
 * spaces), `assumed` (what of the modelled hardware is a guess), `base` (the machine or design that this one changes: a
 * name, or a path relative to the file), `devices` and `nearest_to` (graphics cards: recorded_machine.h). Every other
 * key is an option. */
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

enum pw_catalog_kind { PW_CATALOG_MACHINES, PW_CATALOG_DESIGNS };

enum { PW_DESCRIPTION_CAPACITY = 512 };

/* Lays machines, joined by '+', over the options: the later wins, and each comes after what it is based on. An unknown
 * name is a user error that suggests the nearest (aliases included). */
enum pw_status pw_catalog_apply_machine(struct pw_options *o, const char *names, struct pw_error *err);

/* The same, and says in out_note (PW_DESCRIPTION_CAPACITY bytes) what one should know of the machine before trusting a
 * result: what is assumed, or that a file without a base has the program's defaults for what it does not set. */
enum pw_status pw_catalog_apply_machine_noted(struct pw_options *o, const char *names, char *out_note,
                                              struct pw_error *err);

/* Lays designs, joined by '+', over the options. Two designs that themselves set one option to different values are a
 * user error that names both, whatever their order; what a design only inherits from its base gives way to what another
 * one sets itself. out_names (capacity bytes) receives the canonical names joined by '+'. */
enum pw_status pw_catalog_apply_designs(struct pw_options *o, const char *names, char *out_names, size_t capacity,
                                        struct pw_error *err);

/* What a file says of itself; "" where it does not. */
struct pw_catalog_description {
    char summary[PW_DESCRIPTION_CAPACITY], aliases[PW_DESCRIPTION_CAPACITY], assumed[PW_DESCRIPTION_CAPACITY];
    char base[PW_DESCRIPTION_CAPACITY];
    char devices[PW_DESCRIPTION_CAPACITY], nearest_to[PW_DESCRIPTION_CAPACITY]; /* system/recorded_machine.h */
};
enum pw_status pw_catalog_describe(const struct pw_catalog_file *file, struct pw_catalog_description *out,
                                   struct pw_error *err);

/* Whether a name means a file of the user's: it has a '/' or ends in ".yaml". */
bool pw_catalog_is_path(const char *name);

/* The embedded file of this name or alias; NULL where the name is a path. */
enum pw_status pw_catalog_resolve(enum pw_catalog_kind kind, const char *name, const struct pw_catalog_file **out,
                                  struct pw_error *err);

#endif
