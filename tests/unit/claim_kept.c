/* Verdicts that the project has measured: they are shown as of the version that measured them, and with a reason. */
#include "exp/claim/claim_kept.h"

#include "system/version.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct pw_claim_filter everything = {NULL, PW_CLAIM_KIND_COUNT, PW_VERDICT_COUNT};
static const char gain[] = "mosaic-fig08-avg", gap[] = "mosaic-fig08-ideal-gap";

/* What is said of the versions where the two claims were measured with these; NULL: by the user. */
static char *said_of(const char *first, const char *second)
{
    struct pw_claim_evidence e[] = {{.figure = "f", .version = first, .percent = 100},
                                    {.figure = "f", .version = second, .percent = 100}};
    e[0].outcome.claim = pw_claim_find(gain);
    e[1].outcome.claim = pw_claim_find(gap);
    struct pw_claim_score *scores = calloc(pw_claim_count, sizeof *scores);
    assert_non_null(scores);
    pw_claim_decide(e, 2, NULL, scores);
    struct pw_text text = {.width = 1000};
    pw_claim_show_versions(scores, &everything, &text);
    free(scores);
    return text.bytes ? text.bytes : strdup("");
}

static void expect_said(const char *first, const char *second, const char *expected)
{
    char *said = said_of(first, second);
    if (expected ? !strstr(said, expected) : *said)
        fail_msg("'%s' does not say '%s'", said, expected ? expected : "");
    free(said);
}

static void results_are_of_the_version_that_measured_them(void **state)
{
    (void)state;
    const char *now = pw_mechanisms_version();
    expect_said(NULL, NULL, NULL);
    expect_said(now, now, "not by you, with this version");
    expect_said("0123456789ab", now, "part of it with an earlier version of the simulator (0123456789ab)");
    expect_said("0123456789ab", "0123456789ab", "all of it with an earlier version of the simulator (0123456789ab)");
    expect_said("0123456789ab", "cdef01234567", "(0123456789ab, cdef01234567)");
    expect_said("0123456789ab", NULL, "all of it with an earlier version");
}

static void every_paper_has_a_reason(void **state)
{
    (void)state;
    for (size_t p = 0; pw_claim_papers[p]; p++) {
        const struct pw_claim_why *why = pw_claim_whys;
        while (why->paper && strcmp(why->paper, pw_claim_papers[p]) != 0)
            why++;
        assert_non_null(why->paper);
        assert_true(strlen(why->why) > 60);
    }
}

static void kept_results_are_evidence(void **state)
{
    (void)state;
    struct pw_claim_evidence *all;
    size_t count;
    struct pw_error err = {0};
    assert_int_equal(pw_claim_kept_evidence(&all, &count, &err), PW_OK);
    assert_true(count > 400 && count <= pw_claims_kept_count);
    for (size_t i = 0; i < count; i++) {
        const struct pw_claim_outcome *o = &all[i].outcome;
        assert_non_null(all[i].version);
        assert_in_range(all[i].percent, 1, 100);
        assert_true(o->verdict <= PW_NOT_RUN);
        for (size_t k = 0; k < o->count && o->verdict < PW_NOT_RUN; k++)
            assert_true(isfinite(o->values[k]));
        assert_true(!o->null_design[0] || o->null_verdict <= PW_NOT_RUN);
    }
    free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_of_the_version_that_measured_them),
        cmocka_unit_test(every_paper_has_a_reason),
        cmocka_unit_test(kept_results_are_evidence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
