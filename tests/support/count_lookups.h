/* Put before a source of the simulator (-include), counts how often that source asks the page table. */
#ifndef PW_TESTS_COUNT_LOOKUPS_H
#define PW_TESTS_COUNT_LOOKUPS_H

#include "vm/page_table.h"

extern unsigned long lookups_counted;

static inline struct pw_translation count_lookup(const struct pw_page_table *t, pw_vpn vpn)
{
    lookups_counted++;
    return pw_page_table_lookup(t, vpn);
}

#define pw_page_table_lookup count_lookup

static inline unsigned count_walk(const struct pw_page_table *t, pw_vpn vpn, pw_paddr out_reads[PW_TABLE_LEVELS],
                                  struct pw_translation *out)
{
    lookups_counted += out != NULL;
    return pw_page_table_walk(t, vpn, out_reads, out);
}

#define pw_page_table_walk count_walk

static inline bool count_comparison(const struct pw_page_table *t, pw_vpn vpn, pw_pfn word)
{
    lookups_counted++;
    return pw_page_table_has_word(t, vpn, word);
}

#define pw_page_table_has_word count_comparison

#endif
