/* From what figures and tests have said to one verdict per claim. */
#include "exp/claim/claim_report.h"

#include <string.h>

const char *const pw_claim_papers[] = {"mosaic", "mask", "compression", "uvm", "gmmu-bypass", NULL};

const struct pw_claim_test *pw_claim_first_test(const char *id)
{
    const struct pw_claim_test *t = pw_claim_tests;
    while (t->id && strcmp(t->id, id) != 0)
        t++;
    return t;
}

/* The outcomes of a program are neighbours: the first of them, and how many. */
static const struct pw_test_outcome *outcomes_of(const struct pw_test_log *log, const char *test, size_t *out_count)
{
    size_t low = 0, high = log->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(log->outcomes[middle].test, test) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    size_t end = low;
    while (end < log->count && strcmp(log->outcomes[end].test, test) == 0)
        end++;
    *out_count = end - low;
    return log->outcomes + low;
}

/* Of a case that has no outcome of its own, the program's says that it never got there. A name that occurs more than
 * once has passed when all have. PW_TEST_SKIPPED: nothing is known. */
static enum pw_test_result result_of(const struct pw_test_log *log, const struct pw_claim_test *t)
{
    size_t count, passed = 0, own = 0;
    const struct pw_test_outcome *outcomes = outcomes_of(log, t->test, &count);
    bool program_failed = false;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(outcomes[i].name, "*") == 0)
            program_failed |= outcomes[i].result == PW_TEST_FAILED;
        if (strcmp(outcomes[i].name, t->name) != 0)
            continue;
        if (outcomes[i].result == PW_TEST_FAILED)
            return PW_TEST_FAILED;
        own++;
        passed += outcomes[i].result == PW_TEST_PASSED;
    }
    if (own == 0)
        return program_failed ? PW_TEST_FAILED : PW_TEST_SKIPPED;
    return passed == own ? PW_TEST_PASSED : PW_TEST_SKIPPED;
}

static void decide_by_tests(const struct pw_test_log *log, struct pw_claim_score *s)
{
    for (const struct pw_claim_test *t = pw_claim_first_test(s->claim->id); t->id && strcmp(t->id, s->claim->id) == 0;
         t++) {
        enum pw_test_result result = log ? result_of(log, t) : PW_TEST_SKIPPED;
        s->tests++;
        s->passed += result == PW_TEST_PASSED;
        s->failed += result == PW_TEST_FAILED;
    }
    if (s->failed)
        s->verdict = PW_DIFFERS;
    else if (s->tests && s->passed == s->tests)
        s->verdict = PW_HOLDS;
}

/* A figure whose runs are missing says nothing. Of those that say something a full one is worth more than a quick one;
 * among equals one that differs is worth more than a weak one and that more than one that holds, so that it is the one
 * shown. */
static bool is_better(const struct pw_claim_evidence *e, const struct pw_claim_evidence *than)
{
    if (!than || than->outcome.verdict == PW_NOT_RUN)
        return true;
    if (e->scope != than->scope)
        return e->scope == PW_FULL;
    return e->outcome.verdict > than->outcome.verdict;
}

static void decide_by_figure(const struct pw_claim_evidence *e, struct pw_claim_score *s)
{
    if (!pw_claim_is_for_figures(s->claim))
        return;
    if (e->outcome.verdict > PW_DIFFERS) { /* of one that waits for its null design the reason is shown */
        if (!s->evidence && e->outcome.awaits_null)
            s->evidence = e;
        return;
    }
    if (!s->figures || e->scope == s->evidence->scope)
        s->figures++;
    else if (e->scope == PW_FULL)
        s->figures = 1;
    if (!is_better(e, s->evidence))
        return;
    s->evidence = e;
    s->verdict = e->outcome.verdict;
}

void pw_claim_decide(const struct pw_claim_evidence *evidence, size_t count, const struct pw_test_log *log,
                     struct pw_claim_score *out_scores)
{
    for (size_t i = 0; i < pw_claim_count; i++) {
        struct pw_claim_score *s = &out_scores[i];
        *s = (struct pw_claim_score){.claim = &pw_claims[i], .verdict = PW_NOT_RUN};
        if (s->claim->judge == PW_JUDGE_NONE)
            s->verdict = PW_OUT_OF_SCOPE;
        if (s->claim->judge == PW_JUDGE_NOT_MODELLED)
            s->verdict = PW_NOT_MODELLED;
        if (s->claim->judge == PW_JUDGE_TEST)
            decide_by_tests(log, s);
    }
    for (size_t i = 0; i < count; i++)
        if (evidence[i].outcome.claim)
            decide_by_figure(&evidence[i], &out_scores[evidence[i].outcome.claim - pw_claims]);
}
