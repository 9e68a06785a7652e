/* Memory instructions one at a time (sm.serial): all SMs, and with them all applications, have their turn. */
#include "timed.h"

enum { MOST_APPS = 4, WARPS = 4 };

/* Instructions of which the next one is always ready. */
static void load_and_store(struct pw_warp *w, struct timed *t)
{
    for (uint64_t i = 0; i < t->n[0]; i++) {
        timed_load(w, t, (w->cta_index * t->n[0] + i) * PW_LINE_BYTES);
        timed_store(w, t, (w->cta_index * t->n[0] + i) * PW_LINE_BYTES);
    }
}

/* n[1]: how often it has started. Ends a run in which it starts over while others get nowhere. */
static void count_starts(struct pw_host *h, struct timed *t)
{
    t->a = pw_alloc(h, "a", 1 << 20, 1);
    if (++t->n[1] > 8)
        *(bool *)t->data = true;
    timed_launch(h, t);
}

static void equal_applications_end_together(void **state)
{
    (void)state;
    for (unsigned count = 2; count <= MOST_APPS; count++) {
        bool starved = false;
        struct timed apps[MOST_APPS];
        for (unsigned k = 0; k < count; k++)
            apps[k] = (struct timed){.body = count_starts,
                                     .kernel = load_and_store,
                                     .ctas = 2,
                                     .threads = WARPS * PW_WARP_LANES,
                                     .n = {100},
                                     .data = &starved};
        for (unsigned k = 1; k < count; k++)
            apps[0].neighbours[k - 1] = &apps[k];
        apps[0].sets[0] = "sm.serial=on";
        apps[0].spec.interrupted = &starved;
        timed_run(&apps[0]);
        pw_cycle first = PW_NEVER, last = 0;
        for (unsigned k = 0; k < count; k++) {
            pw_cycle end = apps[0].system->apps[k].end;
            first = end < first ? end : first;
            last = end > last ? end : last;
        }
        assert_true(last - first <= last / 100);
        timed_end(&apps[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_applications_end_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
