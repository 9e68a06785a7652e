/* The page manager of a node: made where base pages can become large ones or are compacted. And memory that is not
 * managed, whose data comes when it is backed. */
#ifndef PW_SYSTEM_PAGES_H
#define PW_SYSTEM_PAGES_H

#include "sim/status.h"
#include "sim/types.h"

struct pw_system;
struct pw_node;
struct pw_app;

/* After the GPU exists. */
enum pw_status pw_pages_create(struct pw_node *n, struct pw_error *err);
/* The machine is about to be taken apart: the manager hears nothing more. */
void pw_pages_destroy(struct pw_node *n);

/* Backs what is allocated and has no frames yet, in these applications' spaces in turn, or one allocation; the data
 * comes with the frames. What programs that have started over may not need is given up where frames are short. */
enum pw_status pw_pages_back(struct pw_system *s, unsigned first_app, unsigned count, unsigned *out_failed,
                             struct pw_error *err);
enum pw_status pw_pages_back_one(struct pw_app *a, pw_vaddr base, struct pw_error *err);

#endif
