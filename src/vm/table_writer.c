/* Entries of page tables, written as memory operations (Mosaic, Section 4.3).
 *
 * The entries of one line are written together, as one store that goes to its L2 slice beside the page walker's reads,
 * without the crossbar, and to DRAM with its line like any other. It counts as done when its slice has taken it: later
 * reads find it there. */
#include "vm/page_manager_internal.h"

/* Pages, from vpn on, whose entries lie in one line with its own; of level 3 there is only one entry per region. */
static unsigned pages_of_line(const struct pw_page_manager *m, pw_asid asid, pw_vpn vpn, unsigned level)
{
    unsigned in_line = PW_LINE_BYTES / m->wiring.spaces[asid]->table->config.entry_stride;
    return level == 3 ? 1 : in_line - (unsigned)(vpn.v % in_line);
}

void pw_write_entries(struct pw_page_manager *m, pw_asid asid, pw_vpn vpn, unsigned count, unsigned level,
                      pw_entries_taken *taken)
{
    pw_vpn outer = {vpn.v + count};
    for (unsigned n; vpn.v < outer.v; vpn.v += n) {
        n = pages_of_line(m, asid, vpn, level);
        n = n < outer.v - vpn.v ? n : (unsigned)(outer.v - vpn.v);
        m->counters[asid].table_writes++;
        if (taken)
            taken(m, asid, vpn, n, vpn.v + n == outer.v, m->wiring.events->now);
    }
}
