/* What demand paging did to each allocation, for people. Prefetched pages that were no use, because they left or the
 * run ended before anybody accessed them, are one column: waste. */
#include "exp/format/result.h"
#include "exp/format/table.h"

static void number_cell(struct pw_table *t, uint64_t value)
{
    char number[PW_NUMBER_CAPACITY];
    pw_format_integer(number, value);
    pw_table_cell(t, number);
}

void pw_allocation_table(const struct pw_allocation_result *allocations, size_t count, const char *heading,
                         struct pw_text *out)
{
    static const char *const columns[] = {"",           "size",    "far faults", "pages in", "prefetched",
                                          "never used", "evicted", "thrashed",   "written"};
    bool several = false;
    for (size_t i = 0; i < count; i++)
        several |= allocations[i].app > 0;
    struct pw_table t = {.columns = sizeof columns / sizeof *columns, .align = "lr", .indent = "  "};
    pw_table_heading(&t, heading);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        pw_table_cell(&t, columns[i]);
    for (size_t i = 0; i < count; i++) {
        const struct pw_allocation_result *a = &allocations[i];
        struct pw_text name = {0};
        char bytes[PW_NUMBER_CAPACITY];
        if (several)
            pw_text_print(&name, "app%u ", a->app);
        pw_text_add(&name, a->name);
        if (a->count > 1)
            pw_text_print(&name, " (%llu times)", (unsigned long long)a->count);
        pw_table_cell_printable(&t, name.bytes ? name.bytes : "");
        pw_text_free(&name);
        pw_format_bytes(bytes, (double)a->bytes);
        pw_table_cell(&t, bytes);
        number_cell(&t, a->far_faults);
        number_cell(&t, a->pages_in);
        number_cell(&t, a->pages_prefetched);
        number_cell(&t, a->prefetched_evicted + a->prefetched_resident);
        number_cell(&t, a->pages_evicted);
        number_cell(&t, a->pages_thrashed);
        number_cell(&t, a->pages_written);
    }
    pw_table_finish(&t, out);
}
