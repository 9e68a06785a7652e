/* Coalescing by migration, the conventional way (Mosaic, Section 4.3, Figure 6a). */
#include "vm/page_manager_internal.h"

enum pw_status pw_migrator_create(struct pw_page_manager *m, struct pw_error *err)
{
    (void)m;
    (void)err;
    return PW_OK;
}

void pw_migrator_destroy(struct pw_migrator *g)
{
    (void)g;
}

void pw_migrator_walked(struct pw_page_manager *m, pw_asid asid, pw_vpn vpn)
{
    (void)m;
    (void)asid;
    (void)vpn;
}

void pw_migrator_freed(struct pw_page_manager *m, pw_asid asid, pw_vpn first, pw_vpn outer)
{
    (void)m;
    (void)asid;
    (void)first;
    (void)outer;
}
