/* Random: with each page that faulted comes one other, drawn from the absent pages of its 2 MiB block (UVM, Sec. 3.1).
 *
 * Pages that come with the same request are drawn without replacement, so that each faulted page gets one of its own as
 * long as there are any. */
#include "policy/prefetch/prefetch_policy.h"

struct state {
    struct pw_random *random;
};

static enum pw_status init(void *state, const struct pw_policy_setup *setup, struct pw_error *err)
{
    (void)err;
    const struct pw_prefetch_environment *environment = setup->environment;
    ((struct state *)state)->random = environment->random;
    return PW_OK;
}

/* The n-th page of the set, which has more than n. */
static unsigned nth_page(const struct pw_page_mask *m, unsigned n)
{
    unsigned i = 0, count;
    while (n >= (count = (unsigned)__builtin_popcountll(m->words[i]))) {
        n -= count;
        i++;
    }
    uint64_t word = m->words[i];
    while (n--)
        word &= word - 1;
    return i * 64 + (unsigned)__builtin_ctzll(word);
}

static void choose(void *state, const struct pw_prefetch_view *view, struct pw_page_mask *out)
{
    struct pw_random *random = ((struct state *)state)->random;
    struct pw_page_mask absent = pw_mask_without(view->exists, &view->resident);
    absent = pw_mask_without(absent, &view->faulted);
    unsigned left = pw_mask_count(&absent);
    for (unsigned wanted = pw_mask_count(&view->faulted); wanted && left; wanted--, left--) {
        unsigned page = nth_page(&absent, (unsigned)pw_random_below(random, left));
        pw_mask_add(out, page);
        pw_mask_remove(&absent, page);
    }
}

extern const struct pw_prefetch_policy pw_prefetch_policy_random;
const struct pw_prefetch_policy pw_prefetch_policy_random = {
    .head = {.name = "random",
             .summary = "one random page of the 2 MiB block with each page that faulted",
             .state_bytes = sizeof(struct state),
             .init = init},
    .extent = pw_prefetch_extent_plain,
    .choose = choose,
};
