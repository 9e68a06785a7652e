/* The page manager of a system: made where base pages can become large ones or are compacted. */
#ifndef PW_SYSTEM_PAGES_H
#define PW_SYSTEM_PAGES_H

#include "sim/status.h"
#include "sim/types.h"

struct pw_system;
struct pw_app;

/* After the GPU exists. */
enum pw_status pw_pages_create(struct pw_system *s, struct pw_error *err);
/* The machine is about to be taken apart: the manager hears nothing more. */
void pw_pages_destroy(struct pw_system *s);

/* Backs what is allocated and has no frames yet, in these applications' spaces in turn, or one allocation; the data comes
 * with the frames. */
enum pw_status pw_pages_back(struct pw_system *s, unsigned first_app, unsigned count, unsigned *out_failed,
                             struct pw_error *err);
enum pw_status pw_pages_back_one(struct pw_app *a, pw_vaddr base, struct pw_error *err);

/* Has the driver give up a managed allocation. Its pages go for good and all at once, so large pages are not splintered
 * for them; what is left of a large page is looked at when the allocation's addresses are freed. */
enum pw_status pw_pages_free_managed(struct pw_app *a, pw_vpn first, struct pw_error *err);

#endif
