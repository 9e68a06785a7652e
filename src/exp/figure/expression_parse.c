/* Reads expressions: recursive descent over one line of text that may come from anybody.
 *
 *     comparison: sum [('<' | '<=' | '>' | '>=') sum]
 *     sum:        product {('+' | '-') product}
 *     product:    unary {('*' | '/') unary}
 *     unary:      '-' unary | primary
 *     primary:    NUMBER | '(' comparison ')' | FUNCTION '(' comparison ')'
 *               | METRIC                                              in a measure
 *               | MEASURE '@' VARIANT [':' 'alone'] ['[' GROUP ']']   elsewhere
 *
 * Length, nesting and size of the tree are limited, so that the recursion is bounded here and in the evaluation. */
#include "exp/figure/expression_internal.h"
#include "sim/c_locale.h"
#include "sim/option.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH_LIMIT = 2000, DEPTH_LIMIT = 64, NODE_LIMIT = 512, NAME_CAPACITY = 128, SHOWN = 200, NO_NODE = ~0U };

const char *const pw_reduction_names[REDUCTION_COUNT + 1] = {"mean", "geomean", "harmean", "median",  "min",
                                                             "max",  "sum",     "count",   "farthest"};

struct parser {
    struct pw_expression *e;
    const struct pw_expression_names *names;
    const char *at;
    unsigned depth;
    enum pw_status status;
    struct pw_error *err;
};

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Length of the name at `at`. A '-' or '.' belongs to it when more of the name follows. */
static size_t name_length(const char *at)
{
    size_t length = 0;
    while (is_name_byte(at[length]) ||
           (length > 0 && (at[length] == '-' || at[length] == '.') && is_name_byte(at[length + 1])))
        length++;
    return length;
}

bool pw_expression_is_name(const char *text)
{
    size_t length = strlen(text);
    return length > 0 && length < NAME_CAPACITY && name_length(text) == length;
}

/* Reports the first mistake; `where` is where it begins. */
static unsigned mistake(struct parser *p, const char *where, const char *format, ...)
{
    if (p->status != PW_OK)
        return NO_NODE;
    char what[512], token[32];
    va_list arguments;
    va_start(arguments, format);
    pw_c_vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    size_t length = name_length(where);
    snprintf(token, sizeof token, "%.*s", length ? (int)(length < 31 ? length : 31) : 1, where);
    const char *dots = strlen(p->e->text) > SHOWN ? "…" : "";
    if (*where)
        p->status = pw_fail(p->err, PW_USER_ERROR, "in \"%.*s%s\" at '%s': %s", SHOWN, p->e->text, dots, token, what);
    else
        p->status = pw_fail(p->err, PW_USER_ERROR, "in \"%.*s%s\" at its end: %s", SHOWN, p->e->text, dots, what);
    return NO_NODE;
}

static void skip_blanks(struct parser *p)
{
    while (is_blank(*p->at))
        p->at++;
}

static bool accept(struct parser *p, const char *token)
{
    skip_blanks(p);
    size_t length = strlen(token);
    if (strncmp(p->at, token, length) != 0)
        return false;
    p->at += length;
    return true;
}

static unsigned add_node(struct parser *p, struct node node)
{
    if (p->e->count == NODE_LIMIT)
        return mistake(p, p->at, "the expression has more than %d parts", NODE_LIMIT);
    p->e->nodes[p->e->count] = node;
    return (unsigned)p->e->count++;
}

static bool is_number(const struct parser *p, unsigned node)
{
    return node == NO_NODE || p->e->nodes[node].is_number;
}

/* Takes a name; false, with the mistake reported, when there is none. */
static bool take_name(struct parser *p, const char *what, char out[NAME_CAPACITY])
{
    skip_blanks(p);
    size_t length = name_length(p->at);
    if (length == 0 || length >= NAME_CAPACITY) {
        mistake(p, p->at, length ? "the name is too long" : "the name of a %s is missing", what);
        return false;
    }
    memcpy(out, p->at, length);
    out[length] = '\0';
    p->at += length;
    return true;
}

/* Position of a name in a list, or -1 with the mistake reported. */
static int find_name(struct parser *p, const char *what, const char *name, const char *const *list)
{
    for (int i = 0; list && list[i]; i++)
        if (!strcmp(list[i], name))
            return i;
    const char *near = list ? pw_suggest(name, list) : NULL;
    const char *where = p->at - strlen(name);
    if (near)
        mistake(p, where, "no such %s; did you mean '%s'?", what, near);
    else
        mistake(p, where, "no such %s%s", what, strchr(name, '-') ? " (a minus needs blanks around it)" : "");
    return -1;
}

static unsigned parse_comparison(struct parser *p);

static unsigned parse_parenthesised(struct parser *p)
{
    if (++p->depth > DEPTH_LIMIT)
        return mistake(p, p->at, "nested more than %d deep", DEPTH_LIMIT);
    unsigned inner = parse_comparison(p);
    p->depth--;
    if (inner != NO_NODE && !accept(p, ")"))
        return mistake(p, p->at, "')' is missing");
    return inner;
}

static unsigned join(struct parser *p, unsigned op, unsigned left, unsigned right);

static unsigned parse_reduction(struct parser *p, unsigned what, const char *where)
{
    if (!p->names->variants)
        return mistake(p, where, "a measure has one value per run; %s() belongs into the table or the claims",
                       pw_reduction_names[what]);
    if (++p->depth > DEPTH_LIMIT)
        return mistake(p, p->at, "nested more than %d deep", DEPTH_LIMIT);
    unsigned inner = parse_comparison(p);
    while (inner != NO_NODE && accept(p, ",")) {
        inner = join(p, OP_JOIN, inner, parse_comparison(p));
        if (inner != NO_NODE)
            p->e->nodes[inner].is_number = false;
    }
    p->depth--;
    if (inner == NO_NODE)
        return NO_NODE;
    if (!accept(p, ")"))
        return mistake(p, p->at, "')' is missing");
    if (is_number(p, inner))
        return mistake(p, where, "what is inside is one number already");
    return add_node(p, (struct node){.kind = NODE_REDUCE, .is_number = true, .inner = {.what = what, .left = inner}});
}

static unsigned parse_reference(struct parser *p, const char *name)
{
    int measure = find_name(p, "measure", name, p->names->measures);
    if (measure < 0)
        return NO_NODE;
    if (!accept(p, "@"))
        return mistake(p, p->at, "'@' and a variant have to follow the measure '%s'", name);
    char text[NAME_CAPACITY];
    int variant = take_name(p, "variant", text) ? find_name(p, "variant", text, p->names->variants) : -1;
    if (variant < 0)
        return NO_NODE;
    bool alone = accept(p, ":");
    if (alone && (!take_name(p, "kind of run", text) || strcmp(text, "alone") != 0))
        return mistake(p, p->at, "only ':alone' can follow a variant");
    int group = -1;
    if (accept(p, "[")) {
        group = take_name(p, "group", text) ? find_name(p, "group of workloads", text, p->names->groups) : -1;
        if (group < 0)
            return NO_NODE;
        if (!accept(p, "]"))
            return mistake(p, p->at, "']' is missing");
    }
    return add_node(
        p, (struct node){.kind = NODE_REFERENCE, .reference = {(size_t)measure, (size_t)variant, alone, group}});
}

size_t pw_expression_numbered_app(const char *name)
{
    size_t digits = strncmp(name, "app", 3) == 0 ? strspn(name + 3, "0123456789") : 0;
    return digits > 0 && digits <= 2 && name[3 + digits] == '.' ? 3 + digits + 1 : 0;
}

/* Whether "app1.ipc" stands for "app.ipc". */
static bool is_numbered(const char *name, const char *plain)
{
    size_t prefix = pw_expression_numbered_app(name);
    return prefix && !strncmp(plain, "app.", 4) && !strcmp(name + prefix, plain + 4);
}

static bool find_metric(struct parser *p, const char *name)
{
    for (const char *const *m = p->names->metrics; *m; m++)
        if (is_numbered(name, *m))
            return true;
    return find_name(p, "metric", name, p->names->metrics) >= 0;
}

static unsigned parse_metric(struct parser *p, const char *name)
{
    if (p->names->metrics && !find_metric(p, name))
        return NO_NODE;
    unsigned at = add_node(p, (struct node){.kind = NODE_METRIC, .is_number = true});
    if (at == NO_NODE)
        return NO_NODE;
    struct node *node = &p->e->nodes[at];
    node->metric = strdup(name);
    if (node->metric)
        return at;
    p->status = pw_fail_memory(p->err, "an expression");
    return NO_NODE;
}

static unsigned parse_named(struct parser *p)
{
    const char *where = p->at;
    char name[NAME_CAPACITY];
    if (!take_name(p, "measure", name))
        return NO_NODE;
    skip_blanks(p);
    if (*p->at == '(') {
        for (unsigned i = 0; i < REDUCTION_COUNT; i++)
            if (!strcmp(name, pw_reduction_names[i])) {
                p->at++;
                return parse_reduction(p, i, where);
            }
        const char *near = pw_suggest(name, pw_reduction_names);
        return mistake(p, where, "no such function; did you mean '%s'?", near ? near : "mean");
    }
    p->at = where + strlen(name);
    return p->names->variants ? parse_reference(p, name) : parse_metric(p, name);
}

/* Digits, a fraction, an exponent. strtod alone would also take "inf", "nan" and hexadecimal digits. */
static unsigned parse_number(struct parser *p)
{
    const char *where = p->at, *c = p->at;
    while (is_digit(*c))
        c++;
    if (*c == '.' && is_digit(c[1]))
        for (c++; is_digit(*c);)
            c++;
    if ((*c == 'e' || *c == 'E') && (is_digit(c[1]) || ((c[1] == '-' || c[1] == '+') && is_digit(c[2]))))
        for (c += 2; is_digit(*c);)
            c++;
    char text[64];
    size_t length = (size_t)(c - where);
    if (length >= sizeof text || is_name_byte(*c))
        return mistake(p, where, "not a number; the name of a measure begins with a letter");
    memcpy(text, where, length);
    text[length] = '\0';
    double value = pw_c_strtod(text, NULL);
    if (!(value < 1e300))
        return mistake(p, where, "the number is too large");
    p->at = c;
    return add_node(p, (struct node){.kind = NODE_NUMBER, .is_number = true, .number = value});
}

static unsigned parse_unary(struct parser *p)
{
    if (accept(p, "-")) {
        if (++p->depth > DEPTH_LIMIT)
            return mistake(p, p->at, "nested more than %d deep", DEPTH_LIMIT);
        unsigned inner = parse_unary(p);
        p->depth--;
        if (inner == NO_NODE)
            return NO_NODE;
        return add_node(p,
                        (struct node){.kind = NODE_NEGATE, .is_number = is_number(p, inner), .inner = {.left = inner}});
    }
    if (accept(p, "("))
        return parse_parenthesised(p);
    if (is_digit(*p->at))
        return parse_number(p);
    if (is_name_byte(*p->at))
        return parse_named(p);
    return mistake(p, p->at, "a number, a name or '(' is missing");
}

static unsigned join(struct parser *p, unsigned op, unsigned left, unsigned right)
{
    if (left == NO_NODE || right == NO_NODE)
        return NO_NODE;
    return add_node(p, (struct node){.kind = NODE_BINARY,
                                     .is_number = is_number(p, left) && is_number(p, right),
                                     .inner = {.what = op, .left = left, .right = right}});
}

static unsigned parse_product(struct parser *p)
{
    unsigned left = parse_unary(p);
    while (left != NO_NODE) {
        if (accept(p, "*"))
            left = join(p, OP_MULTIPLY, left, parse_unary(p));
        else if (accept(p, "/"))
            left = join(p, OP_DIVIDE, left, parse_unary(p));
        else
            break;
    }
    return left;
}

static unsigned parse_sum(struct parser *p)
{
    unsigned left = parse_product(p);
    while (left != NO_NODE) {
        if (accept(p, "+"))
            left = join(p, OP_ADD, left, parse_product(p));
        else if (accept(p, "-"))
            left = join(p, OP_SUBTRACT, left, parse_product(p));
        else
            break;
    }
    return left;
}

/* -1 when no comparison follows. */
static int accept_comparison(struct parser *p)
{
    if (accept(p, "<="))
        return OP_LESS_EQUAL;
    if (accept(p, ">="))
        return OP_GREATER_EQUAL;
    if (accept(p, "<"))
        return OP_LESS;
    return accept(p, ">") ? OP_GREATER : -1;
}

static unsigned parse_comparison(struct parser *p)
{
    unsigned left = parse_sum(p);
    int op = left == NO_NODE ? -1 : accept_comparison(p);
    if (op < 0)
        return left;
    left = join(p, (unsigned)op, left, parse_sum(p));
    const char *where = p->at;
    if (left != NO_NODE && accept_comparison(p) >= 0)
        return mistake(p, where, "comparisons cannot follow one another; use parentheses");
    return left;
}

static bool names_a_run(const struct pw_expression *e)
{
    for (size_t i = 0; i < e->count; i++)
        if (e->nodes[i].kind == NODE_REFERENCE || e->nodes[i].kind == NODE_METRIC)
            return true;
    return false;
}

static void parse_whole(struct parser *p)
{
    p->e->root = parse_comparison(p);
    skip_blanks(p);
    if (p->status == PW_OK && *p->at)
        mistake(p, p->at, "an operator or the end has to come here");
    if (p->status == PW_OK && !names_a_run(p->e))
        mistake(p, p->at, "no %s is named: a constant cannot stand in for a run",
                p->names->variants ? "measure" : "metric");
}

enum pw_status pw_expression_parse(const char *text, const struct pw_expression_names *names,
                                   struct pw_expression **out, struct pw_error *err)
{
    *out = NULL;
    if (strlen(text) > LENGTH_LIMIT)
        return pw_fail(err, PW_USER_ERROR, "the expression \"%.40s…\" is longer than %d bytes", text, LENGTH_LIMIT);
    struct pw_expression *e = calloc(1, sizeof *e);
    if (!e)
        return pw_fail_memory(err, "an expression");
    e->text = strdup(text);
    e->nodes = calloc(NODE_LIMIT, sizeof *e->nodes);
    struct parser p = {.e = e, .names = names, .at = e->text, .status = PW_OK, .err = err};
    if (!e->text || !e->nodes)
        p.status = pw_fail_memory(err, "an expression");
    else
        parse_whole(&p);
    if (p.status != PW_OK) {
        pw_expression_free(e);
        return p.status;
    }
    struct node *fitting = realloc(e->nodes, e->count * sizeof *e->nodes);
    e->nodes = fitting ? fitting : e->nodes;
    *out = e;
    return PW_OK;
}

void pw_expression_free(struct pw_expression *e)
{
    if (!e)
        return;
    for (size_t i = 0; i < e->count; i++)
        if (e->nodes[i].kind == NODE_METRIC)
            free(e->nodes[i].metric);
    free(e->nodes);
    free(e->text);
    free(e);
}

bool pw_expression_is_number(const struct pw_expression *e)
{
    return e->nodes[e->root].is_number;
}

void pw_expression_references(const struct pw_expression *e, pw_expression_visit *visit, void *context)
{
    for (size_t i = 0; i < e->count; i++)
        if (e->nodes[i].kind == NODE_REFERENCE)
            visit(context, e->nodes[i].reference.measure, e->nodes[i].reference.variant, e->nodes[i].reference.alone,
                  e->nodes[i].reference.group);
}

bool pw_expression_uses(const struct pw_expression *e, const char *metric)
{
    size_t length = strlen(metric);
    bool prefix = length > 0 && metric[length - 1] == '.';
    for (size_t i = 0; i < e->count; i++)
        if (e->nodes[i].kind == NODE_METRIC &&
            (prefix ? !strncmp(e->nodes[i].metric, metric, length)
                    : !strcmp(e->nodes[i].metric, metric) || is_numbered(e->nodes[i].metric, metric)))
            return true;
    return false;
}
