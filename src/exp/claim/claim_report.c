/* Tables and JSON of the score. */
#include "exp/claim/claim_report.h"

#include "exp/claim/claim_format.h"
#include "exp/figure/figure_report.h"
#include "exp/format/table.h"

#include <string.h>

bool pw_claim_is_shown(const struct pw_claim_score *s, const struct pw_claim_filter *filter)
{
    if (filter->kind != PW_CLAIM_KIND_COUNT && s->claim->kind != filter->kind)
        return false;
    if (filter->verdict != PW_VERDICT_COUNT && s->verdict != filter->verdict)
        return false;
    if (!filter->papers || !filter->papers[0])
        return true;
    for (const char *const *paper = filter->papers; *paper; paper++)
        if (strcmp(*paper, s->claim->paper) == 0)
            return true;
    return false;
}

struct totals {
    size_t by_verdict[PW_VERDICT_COUNT], all;
};

/* paper NULL, kind _COUNT: any. */
static struct totals count(const struct pw_claim_score *scores, const struct pw_claim_filter *filter, const char *paper,
                           enum pw_claim_kind kind)
{
    struct totals t = {0};
    for (size_t i = 0; i < pw_claim_count; i++) {
        const struct pw_claim_score *s = &scores[i];
        if (!pw_claim_is_shown(s, filter) || (paper && strcmp(paper, s->claim->paper) != 0) ||
            (kind != PW_CLAIM_KIND_COUNT && kind != s->claim->kind))
            continue;
        t.by_verdict[s->verdict]++;
        t.all++;
    }
    return t;
}

static void add_totals(struct pw_table *table, const char *paper, const char *kind, struct totals t)
{
    if (t.all == 0)
        return;
    pw_table_cell(table, paper);
    pw_table_cell(table, kind);
    for (size_t v = 0; v < PW_VERDICT_COUNT; v++)
        pw_table_print(table, "%zu", t.by_verdict[v]);
    pw_table_print(table, "%zu", t.all);
}

void pw_claim_show_totals(const struct pw_claim_score *scores, const struct pw_claim_filter *filter,
                          struct pw_text *out)
{
    struct pw_table table = {.columns = 3 + PW_VERDICT_COUNT, .align = "llr"};
    pw_table_cell(&table, "paper");
    pw_table_cell(&table, "kind");
    for (size_t v = 0; v < PW_VERDICT_COUNT; v++)
        pw_table_cell(&table, pw_verdict_names[v]);
    pw_table_cell(&table, "total");
    for (size_t p = 0; pw_claim_papers[p]; p++) {
        for (size_t k = 0; k < PW_CLAIM_KIND_COUNT; k++)
            add_totals(&table, pw_claim_papers[p], pw_claim_kind_names[k],
                       count(scores, filter, pw_claim_papers[p], (enum pw_claim_kind)k));
        add_totals(&table, pw_claim_papers[p], "all", count(scores, filter, pw_claim_papers[p], PW_CLAIM_KIND_COUNT));
    }
    add_totals(&table, "all", "all", count(scores, filter, NULL, PW_CLAIM_KIND_COUNT));
    pw_table_finish(&table, out);
}

static void add_ours(struct pw_table *table, const struct pw_claim_score *s)
{
    struct pw_text text = {0};
    const struct pw_claim_outcome *o = s->evidence ? &s->evidence->outcome : NULL;
    if (o)
        pw_claim_format_values(o, &text);
    if (s->claim->judge == PW_JUDGE_TEST && s->tests)
        pw_text_print(&text, "%zu of %zu passed", s->passed, s->tests);
    pw_table_cell(table, text.bytes ? text.bytes : "");
    pw_text_free(&text);
}

/* "mosaic/fig14 quick: holds with gpu-mmu in its place too: 0.26", "mask/fig11 full (20% of its workloads), the
 * project's with 971766c50fa0" */
static void add_figure(struct pw_table *table, const struct pw_claim_score *s)
{
    const struct pw_claim_evidence *e = s->evidence;
    bool has_reason = s->verdict == PW_NOT_RUN || s->verdict == PW_WEAK;
    struct pw_text cell = {0};
    pw_text_print(&cell, "%s %s", e->figure, pw_scope_names[e->scope]);
    if (s->figures > 1 && !has_reason)
        pw_text_print(&cell, " and %zu more", s->figures - 1);
    if (e->version && e->percent < 100)
        pw_text_print(&cell, " (%u%% of its workloads)", e->percent);
    if (e->version)
        pw_text_print(&cell, ", the project's with %s", e->version);
    if (has_reason) {
        pw_text_add(&cell, ": ");
        pw_claim_format_reason(&e->outcome, &cell);
    }
    pw_table_cell(table, cell.bytes ? cell.bytes : "");
    pw_text_free(&cell);
}

static void add_decided_by(struct pw_table *table, const struct pw_claim_score *s)
{
    const struct pw_claim_test *t;
    if (s->claim->judge == PW_JUDGE_NONE) {
        pw_table_cell(table, "context");
    } else if (s->claim->judge == PW_JUDGE_NOT_MODELLED) {
        pw_table_cell(table, s->claim->reason);
    } else if (s->claim->judge != PW_JUDGE_TEST) {
        if (s->evidence)
            add_figure(table, s);
        else
            pw_table_cell(table, "no figure");
    } else if (s->tests == 0) {
        pw_table_cell(table, "no test");
    } else {
        t = pw_claim_first_test(s->claim->id);
        if (s->tests == 1)
            pw_table_print(table, "%s: %s", t->test, t->name);
        else
            pw_table_print(table, "%s: %s and %zu more", t->test, t->name, s->tests - 1);
    }
}

void pw_claim_show_list(const struct pw_claim_score *scores, const struct pw_claim_filter *filter, struct pw_text *out)
{
    static const char *const headings[] = {"id", "where", "paper", "ours", "verdict", "decided by"};
    struct pw_table table = {.columns = sizeof headings / sizeof *headings, .align = "l"};
    for (size_t i = 0; i < table.columns; i++)
        pw_table_cell(&table, headings[i]);
    for (size_t i = 0; i < pw_claim_count; i++) {
        const struct pw_claim_score *s = &scores[i];
        if (!pw_claim_is_shown(s, filter))
            continue;
        pw_table_cell(&table, s->claim->id);
        pw_table_cell(&table, s->claim->where);
        pw_table_print(&table, "%s%s%s", s->claim->value, s->claim->value[0] && s->claim->unit[0] ? " " : "",
                       s->claim->value[0] ? s->claim->unit : "");
        add_ours(&table, s);
        pw_table_cell(&table, pw_verdict_shown(s->verdict, out->colour));
        add_decided_by(&table, s);
    }
    pw_table_finish(&table, out);
}

static bool is_for_tests(const struct pw_claim_score *s, const struct pw_claim_filter *filter)
{
    return s->claim->judge == PW_JUDGE_TEST && pw_claim_is_shown(s, filter);
}

/* The mechanism and config rows that are not modelled, with their reasons; nothing where there are none. */
static void show_not_modelled(const struct pw_claim_score *scores, const struct pw_claim_filter *filter,
                              struct pw_text *out)
{
    struct pw_table table = {.columns = 2, .align = "l"};
    size_t count = 0;
    for (size_t i = 0; i < pw_claim_count; i++) {
        const struct pw_claim *c = scores[i].claim;
        bool for_tests = c->kind == PW_CLAIM_MECHANISM || c->kind == PW_CLAIM_CONFIG;
        if (!for_tests || c->judge != PW_JUDGE_NOT_MODELLED || !pw_claim_is_shown(&scores[i], filter))
            continue;
        pw_table_cell(&table, c->id);
        pw_table_cell(&table, c->reason);
        count++;
    }
    if (count)
        pw_text_print(out, "\n%zu are not modelled:\n\n", count);
    pw_table_finish(&table, out);
}

void pw_claim_show_tests(const struct pw_claim_score *scores, const struct pw_claim_filter *filter, struct pw_text *out)
{
    struct pw_table table = {.columns = 3, .align = "l"};
    size_t all = 0, named = 0;
    for (size_t i = 0; i < pw_claim_count; i++) {
        if (!is_for_tests(&scores[i], filter))
            continue;
        const char *id = scores[i].claim->id;
        all++;
        named += scores[i].tests > 0;
        for (const struct pw_claim_test *t = pw_claim_first_test(id); t->id && strcmp(t->id, id) == 0; t++) {
            pw_table_cell(&table, id);
            pw_table_cell(&table, t->test);
            pw_table_cell(&table, t->name);
        }
    }
    pw_text_print(out, "%zu of %zu mechanism and config rows %s named by tests:\n\n", named, all,
                  pw_counted(named, "is", "are"));
    pw_table_finish(&table, out);
    pw_text_print(out, "\n%zu %s not:\n\n", all - named, pw_counted(all - named, "is", "are"));
    table = (struct pw_table){.columns = 3, .align = "l"};
    for (size_t i = 0; i < pw_claim_count; i++) {
        if (!is_for_tests(&scores[i], filter) || scores[i].tests)
            continue;
        pw_table_cell(&table, scores[i].claim->id);
        pw_table_cell(&table, pw_claim_kind_names[scores[i].claim->kind]);
        pw_table_cell(&table, scores[i].claim->where);
    }
    pw_table_finish(&table, out);
    show_not_modelled(scores, filter, out);
}
