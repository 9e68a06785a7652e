/* The In-Place Coalescer (Mosaic, Section 4.3). */
#include "vm/page_manager_internal.h"

void pw_coalesce_arrived(struct pw_page_manager *m, pw_asid asid, pw_vpn first, pw_vpn outer)
{
    (void)m;
    (void)asid;
    (void)first;
    (void)outer;
}
