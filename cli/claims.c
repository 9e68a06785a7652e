/* pagewalk claims: what the papers say, and how much of it comes out here. */
#include "command.h"

#include "exp/claim/claim_evidence.h"
#include "open_store.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char default_db[] = "pagewalk.db", default_log[] = "build-test/outcomes.csv";

struct arguments {
    const char *db, *log, *verdict, *kind, *json;
    bool list, tests;
};

static const struct pw_cli_flag flags[] = {
    {0, "list", PW_CLI_SWITCH, offsetof(struct arguments, list), NULL,
     "a line per claim: the paper's value, ours, the verdict, what decided it"},
    {0, "tests", PW_CLI_SWITCH, offsetof(struct arguments, tests), NULL,
     "which tests name which mechanism and config rows, which rows have none, and which are not modelled"},
    {0, "json", PW_CLI_TEXT, offsetof(struct arguments, json), "FILE|-", "write one JSON array, an object per claim"},
    {0, "verdict", PW_CLI_TEXT, offsetof(struct arguments, verdict), "V",
     "only claims with this verdict: holds, weak, differs, not-run, not-modelled, out-of-scope"},
    {0, "kind", PW_CLI_TEXT, offsetof(struct arguments, kind), "K",
     "only headline, number, trend, mechanism, config or context"},
    {0, "db", PW_CLI_TEXT, offsetof(struct arguments, db), "FILE", "the result store (default pagewalk.db)"},
    {0, "tests-log", PW_CLI_TEXT, offsetof(struct arguments, log), "FILE",
     "outcomes of the tests (default build-test/outcomes.csv, which scripts/test writes)"},
    {.name = NULL},
};

static bool check_papers(int count, char **names, int *out_status)
{
    for (int i = 0; i < count; i++) {
        size_t p = 0;
        while (pw_claim_papers[p] && strcmp(pw_claim_papers[p], names[i]) != 0)
            p++;
        if (!pw_claim_papers[p]) {
            *out_status = pw_cli_unknown("paper", names[i], pw_claim_papers, "pagewalk help claims");
            return false;
        }
    }
    return true;
}

/* The place of a word in a list that ends with NULL; `count` when it was not given, negative when it is none of
 * them. */
static int choose(const char *what, const char *word, const char *const *names, int count, int *out_status)
{
    if (!word)
        return count;
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], word) == 0)
            return i;
    *out_status = pw_cli_unknown(what, word, names, "pagewalk help claims");
    return -1;
}

static bool read_filter(const struct arguments *a, int rest, char **names, struct pw_claim_filter *out, int *out_status)
{
    static const char *const verdicts[] = {"holds", "weak", "differs", "not-run", "not-modelled", "out-of-scope", NULL};
    const char *kinds[PW_CLAIM_KIND_COUNT + 1] = {NULL};
    for (size_t i = 0; i < PW_CLAIM_KIND_COUNT; i++)
        kinds[i] = pw_claim_kind_names[i];
    int kind = choose("kind of claim", a->kind, kinds, PW_CLAIM_KIND_COUNT, out_status);
    if (kind < 0)
        return false;
    int verdict = choose("verdict", a->verdict, verdicts, PW_VERDICT_COUNT, out_status);
    if (verdict < 0)
        return false;
    *out = (struct pw_claim_filter){(const char *const *)names, (enum pw_claim_kind)kind, (enum pw_verdict)verdict};
    return check_papers(rest, names, out_status);
}

static enum pw_status read_log(const char *given, struct pw_test_log *out, struct pw_error *err)
{
    if (!given && access(default_log, F_OK) != 0)
        return PW_OK;
    return pw_test_log_read(given ? given : default_log, out, err);
}

/* A store that does not exist has no runs: nothing is found. */
static enum pw_status read_store(const char *db, struct pw_claim_evidence **out, size_t *out_count,
                                 struct pw_error *err)
{
    struct pw_store *store;
    if (access(db, F_OK) != 0)
        return PW_OK;
    enum pw_status status = pw_cli_open_store(db, PW_STORE_READ, &store, err);
    if (status != PW_OK)
        return status;
    status = pw_claim_evidence_collect(store, out, out_count, err);
    pw_store_close(store);
    return status;
}

struct view {
    const struct arguments *arguments;
    const struct pw_claim_score *scores;
    const struct pw_claim_filter *filter;
};

static enum pw_status fill(void *context, bool json, struct pw_text *out, struct pw_error *err)
{
    const struct view *v = context;
    if (json)
        pw_claim_show_json(v->scores, v->filter, out);
    else if (v->arguments->tests)
        pw_claim_show_tests(v->scores, v->filter, out);
    else if (v->arguments->list)
        pw_claim_show_list(v->scores, v->filter, out);
    else
        pw_claim_show_totals(v->scores, v->filter, out);
    return pw_text_finish(out, err);
}

static int claims(const struct pw_cli_command *self, int argc, char **argv)
{
    struct arguments a = {0};
    struct pw_claim_filter filter;
    struct pw_error err = {0};
    int rest, exit_code = 0;
    if (!pw_cli_parse(self, argc, argv, &a, &rest, &exit_code))
        return exit_code;
    argv[rest] = NULL;
    if (!read_filter(&a, rest, argv, &filter, &exit_code))
        return exit_code;
    if (a.list + a.tests + (a.json != NULL) > 1)
        return pw_cli_fail(PW_USER_ERROR, "claims takes one of --list, --tests and --json");
    exit_code = pw_cli_check_json(a.json);
    if (exit_code != PW_OK)
        return exit_code;
    struct pw_test_log log = {0};
    struct pw_claim_evidence *evidence = NULL;
    size_t count = 0;
    struct pw_claim_score *scores = calloc(pw_claim_count, sizeof *scores);
    enum pw_status status = scores ? PW_OK : pw_fail_memory(&err, "the claims");
    if (status == PW_OK)
        status = read_log(a.log, &log, &err);
    if (status == PW_OK)
        status = read_store(a.db ? a.db : default_db, &evidence, &count, &err);
    if (status == PW_OK) {
        pw_claim_decide(evidence, count, &log, scores);
        exit_code = pw_cli_show(a.json, fill, &(struct view){&a, scores, &filter});
    }
    free(scores);
    free(evidence);
    pw_test_log_release(&log);
    return status == PW_OK ? exit_code : pw_cli_report(&err);
}

const struct pw_cli_command pw_cli_claims_command = {
    .name = "claims",
    .usage = "[flags] [PAPER...]",
    .summary = "say which statements of the papers hold here",
    .details =
        "Papers are mosaic, mask, compression, uvm and gmmu-bypass; without one, all. Headlines, numbers and trends\n"
        "are decided by figures (`pagewalk reproduce`), mechanisms and configurations by tests that name them\n"
        "(`scripts/test`). What holds with a design's baseline in its place too, or cannot fail, is \"weak\" and does "
        "not\n"
        "count as holding. What was not run stays \"not run\"; what the simulator leaves out is \"not modelled\", "
        "whatever\n"
        "passes; context cannot be decided by simulation. The rules are in docs/claims.md.",
    .flags = flags,
    .run = claims,
};
