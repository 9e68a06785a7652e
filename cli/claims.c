/* pagewalk claims: what the papers say, and how much of it comes out here. */
#include "command.h"

#include "exp/claim/claim_evidence.h"
#include "exp/claim/claim_kept.h"
#include "open_store.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char default_log[] = "build-test/outcomes.csv";
/* The stores that are looked for, in this order: that of `pagewalk reproduce`, and that of scripts/quickstart. */
static const char *const default_dbs[] = {"pagewalk.db", "results/quickstart/pagewalk.db", NULL};

struct arguments {
    const char *db, *log, *verdict, *kind, *json;
    bool why, list, tests, project;
};

/* What decides rows that figures decide: runs of a store, or what the project has measured. */
struct findings {
    struct pw_claim_evidence *items;
    size_t count;
    const char *store; /* NULL: the project's */
};

static const struct pw_cli_flag flags[] = {
    {0, "why", PW_CLI_SWITCH, offsetof(struct arguments, why), NULL,
     "a line per paper: its score, and why results differ from the paper's"},
    {0, "list", PW_CLI_SWITCH, offsetof(struct arguments, list), NULL,
     "a line per claim: the paper's value, ours, the verdict, what decided it"},
    {0, "tests", PW_CLI_SWITCH, offsetof(struct arguments, tests), NULL,
     "which tests name which mechanism and config rows, which rows have none, and which are not modelled"},
    {0, "json", PW_CLI_TEXT, offsetof(struct arguments, json), "FILE|-", "write one JSON array, an object per claim"},
    {0, "verdict", PW_CLI_TEXT, offsetof(struct arguments, verdict), "V",
     "only claims with this verdict: holds, weak, differs, not-run, not-modelled, out-of-scope"},
    {0, "kind", PW_CLI_TEXT, offsetof(struct arguments, kind), "K",
     "only headline, number, trend, mechanism, config or context"},
    {0, "project", PW_CLI_SWITCH, offsetof(struct arguments, project), NULL,
     "what the project has measured, even if you have runs of your own"},
    {0, "db", PW_CLI_TEXT, offsetof(struct arguments, db), "FILE",
     "the result store (default pagewalk.db, or that of scripts/quickstart; without either, the project's results)"},
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
static enum pw_status read_store(const char *db, struct findings *out, struct pw_error *err)
{
    struct pw_store *store;
    out->store = db;
    if (access(db, F_OK) != 0)
        return PW_OK;
    enum pw_status status = pw_cli_open_store(db, PW_STORE_READ, &store, err);
    if (status != PW_OK)
        return status;
    status = pw_claim_evidence_collect(store, &out->items, &out->count, err);
    pw_store_close(store);
    return status;
}

static bool decides_something(const struct findings *f)
{
    for (size_t i = 0; i < f->count; i++)
        if (f->items[i].outcome.verdict <= PW_DIFFERS)
            return true;
    return false;
}

/* The runs of the store that is given, or of the first that decides anything; else the project's results. */
static enum pw_status find(const struct arguments *a, struct findings *out, struct pw_error *err)
{
    if (a->db)
        return read_store(a->db, out, err);
    for (const char *const *db = default_dbs; *db && !a->project; db++) {
        enum pw_status status = read_store(*db, out, err);
        if (status != PW_OK || decides_something(out))
            return status;
        free(out->items);
        *out = (struct findings){0};
    }
    return pw_claim_kept_evidence(&out->items, &out->count, err);
}

/* The score, what it rests on, and why it is what it is. */
static void show_score(const struct findings *f, const struct pw_claim_score *scores,
                       const struct pw_claim_filter *filter, struct pw_text *out)
{
    pw_claim_show_totals(scores, filter, out);
    pw_text_add(out, "\n");
    if (f->store)
        pw_text_print(out, "From the runs in %s; what the project has measured: pagewalk claims --project\n", f->store);
    else
        pw_claim_show_versions(scores, filter, out);
    pw_text_prose(out, 0, 0,
                  "holds: agrees with the paper by the rule of its row. weak: agrees, but with a design that does "
                  "nothing in its place too. Rules: docs/claims.md; mechanisms and configurations are decided by "
                  "scripts/test.");
    pw_text_add(out, "\n");
    pw_claim_show_why(scores, filter, out);
}

struct view {
    const struct arguments *arguments;
    const struct findings *findings;
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
    else if (v->arguments->why)
        pw_claim_show_why(v->scores, v->filter, out);
    else
        show_score(v->findings, v->scores, v->filter, out);
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
    if (a.why + a.list + a.tests + (a.json != NULL) > 1)
        return pw_cli_fail(PW_USER_ERROR, "claims takes one of --why, --list, --tests and --json");
    if (a.db && a.project)
        return pw_cli_fail(PW_USER_ERROR, "claims takes one of --db and --project");
    exit_code = pw_cli_check_json(a.json);
    if (exit_code != PW_OK)
        return exit_code;
    struct pw_test_log log = {0};
    struct findings found = {0};
    struct pw_claim_score *scores = calloc(pw_claim_count, sizeof *scores);
    enum pw_status status = scores ? PW_OK : pw_fail_memory(&err, "the claims");
    if (status == PW_OK)
        status = read_log(a.log, &log, &err);
    if (status == PW_OK)
        status = find(&a, &found, &err);
    if (status == PW_OK) {
        pw_claim_decide(found.items, found.count, &log, scores);
        exit_code = pw_cli_show(a.json, fill, &(struct view){&a, &found, scores, &filter});
    }
    free(scores);
    free(found.items);
    pw_test_log_release(&log);
    return status == PW_OK ? exit_code : pw_cli_report(&err);
}

const struct pw_cli_command pw_cli_claims_command = {
    .name = "claims",
    .usage = "[flags] [PAPER...]",
    .summary = "say which statements of the papers hold here",
    .details =
        "Papers are mosaic, mask, compression, uvm and gmmu-bypass; without one, all. Headlines, numbers and trends\n"
        "are decided by figures: by your runs (`pagewalk reproduce`), or else by what the project has measured, which\n"
        "is shown with the version that measured it. Mechanisms and configurations are decided by tests that name "
        "them\n"
        "(`scripts/test`). What holds with a design's baseline in its place too, or cannot fail, is \"weak\" and does "
        "not\n"
        "count as holding. What was not run stays \"not run\"; what the simulator leaves out is \"not modelled\", "
        "whatever\n"
        "passes; context cannot be decided by simulation. The rules are in docs/claims.md.",
    .flags = flags,
    .run = claims,
};
