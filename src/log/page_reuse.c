/* Counts reuse distances. The distances themselves are sim/stack_distance.c's. */
#include "log/page_reuse.h"

enum { FIRST_PAGES = 1024 };

void pw_page_reuse_release(struct pw_page_reuse *r)
{
    pw_stack_distance_release(&r->distances);
}

/* Pages are numbered as they come, so the number that is needed says how many there are; room for them doubles. */
static bool make_room(struct pw_page_reuse *r, uint32_t page)
{
    struct pw_error err;
    uint64_t pages = r->distances.pages ? r->distances.pages : FIRST_PAGES;
    while (pages <= page)
        pages *= 2;
    return pw_stack_distance_extend(&r->distances, pages, &err) == PW_OK;
}

bool pw_page_reuse_access(struct pw_page_reuse *r, uint32_t page, struct pw_reuse_counters *counters)
{
    if (page >= r->distances.pages && !make_room(r, page))
        return false;
    uint64_t distance = pw_stack_distance_touch(&r->distances, page);
    if (distance == PW_FIRST_TOUCH) {
        counters->first++;
        return true;
    }
    counters->again++;
    for (unsigned i = distance ? 64 - (unsigned)__builtin_clzll(distance) : 0; i < PW_REUSE_POINTS; i++)
        counters->below[i]++;
    return true;
}

#define BELOW(name)                                                                                                    \
    {                                                                                                                  \
        name "1", name "2", name "4", name "8", name "16", name "32", name "64", name "128", name "256", name "512",   \
            name "1024", name "2048", name "4096", name "8192", name "16384", name "32768", name "65536"               \
    }

struct names {
    const char *first, *again, *identity, *below[PW_REUSE_POINTS];
    const char *help_first, *help_again, *help_below;
};

static const struct names names_of[] = {
    {"reuse.first", "reuse.again", "reuse.first + reuse.again", BELOW("reuse.below_"),
     "Those to a page that no SM had accessed before.", "Those to a page that some SM had.",
     "Those of reuse.again with fewer other pages, than the name says, accessed on the GPU since the last access."},
    {"reuse.sm_first", "reuse.sm_again", "reuse.sm_first + reuse.sm_again", BELOW("reuse.sm_below_"),
     "Page accesses to a page that their SM had not accessed before.", "Those to a page that it had.",
     "Those of reuse.sm_again with fewer other pages, than the name says, accessed by the SM since its last access."}};

void pw_page_reuse_register(struct pw_stats *stats, bool of_sms, const struct pw_reuse_counters *counters,
                            size_t stride)
{
    const struct names *n = &names_of[of_sms];
    pw_stats_counter(stats, n->first, "accesses", n->help_first, counters, stride,
                     offsetof(struct pw_reuse_counters, first));
    pw_stats_counter(stats, n->again, "accesses", n->help_again, counters, stride,
                     offsetof(struct pw_reuse_counters, again));
    for (size_t i = 0; i < PW_REUSE_POINTS; i++)
        pw_stats_counter(stats, n->below[i], "accesses", n->help_below, counters, stride,
                         offsetof(struct pw_reuse_counters, below) + i * sizeof(uint64_t));
    pw_stats_identity(stats, "reuse.accesses", n->identity);
}
