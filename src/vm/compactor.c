/* Splintering and compaction (Mosaic, Section 4.4). */
#include "vm/page_manager_internal.h"

void pw_splinter(struct pw_page_manager *m, pw_asid asid, pw_vpn vpn)
{
    (void)m;
    (void)asid;
    (void)vpn;
}

void pw_compact_region(struct pw_page_manager *m, pw_asid asid, pw_vpn vpn)
{
    (void)m;
    (void)asid;
    (void)vpn;
}

bool pw_compact_make_room(struct pw_page_manager *m, pw_asid asid, bool whole_region)
{
    (void)m;
    (void)asid;
    (void)whole_region;
    return false;
}

void pw_pause_sms(struct pw_page_manager *m, pw_asid asid, uint64_t cycles)
{
    (void)m;
    (void)asid;
    (void)cycles;
}
