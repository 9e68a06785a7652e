/* Entries of uvm.advice. A name may have colons and separators of its own, as "step.cu:42" and "weights+3" do, so an
 * entry ends behind the first known advice. */
#include "uvm/advice.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    unsigned advice;
} words[] = {
    {"read-mostly", PW_ADVICE_READ_MOSTLY}, {"host", PW_ADVICE_PREFER_HOST},  {"device", PW_ADVICE_PREFER_DEVICE},
    {"accessed-by", PW_ADVICE_ACCESSED_BY}, {"prefetch", PW_ADVICE_PREFETCH},
};

enum { WORDS = sizeof words / sizeof *words };

#define SEPARATORS "+,"

const char *pw_advice_word(unsigned flag)
{
    size_t i = 0;
    while (i + 1 < WORDS && words[i].advice != flag)
        i++;
    return words[i].name;
}

enum pw_status pw_advice_check(unsigned advice, const char *what, struct pw_error *err)
{
    if (advice & PW_ADVICE_PREFER_HOST && advice & PW_ADVICE_PREFER_DEVICE)
        return pw_fail(err, PW_USER_ERROR, "memory advice for %s names two preferred locations; choose host or device",
                       what);
    return PW_OK;
}

/* The place of a name, list->count when it is not there. */
static size_t item_of(const struct pw_advice_list *list, const char *name)
{
    size_t i = 0;
    while (i < list->count && strncmp(list->items[i].name, name, PW_ADVISED_NAME_CAPACITY - 1) != 0)
        i++;
    return i;
}

static enum pw_status add(struct pw_advice_list *list, const char *name, unsigned advice, struct pw_error *err)
{
    size_t i = item_of(list, name);
    if (i == PW_MOST_ADVISED)
        return pw_fail(err, PW_USER_ERROR, "uvm.advice: more than %d allocations", PW_MOST_ADVISED);
    if (i == list->count)
        strncpy(list->items[list->count++].name, name, PW_ADVISED_NAME_CAPACITY - 1);
    list->items[i].advice |= advice;
    return pw_advice_check(list->items[i].advice, list->items[i].name, err);
}

/* The advice that a text begins with, if it ends there or at a separator; WORDS otherwise. */
static size_t word_at(const char *text)
{
    size_t length = strcspn(text, SEPARATORS), word = 0;
    while (word < WORDS && (strlen(words[word].name) != length || strncmp(words[word].name, text, length) != 0))
        word++;
    return word;
}

/* Whether what stands behind the last colon of an entry is meant as advice: a line number of a name is not, nor is what
 * follows "::". */
static bool looks_like_advice(const char *colon, const char *end)
{
    if (colon[-1] == ':')
        return false;
    for (const char *c = colon + 1; c < end; c++)
        if (*c != '-' && (*c < 'a' || *c > 'z'))
            return false;
    return true;
}

/* An entry without advice in its place, up to the next separator. */
static enum pw_status refuse(char *text, struct pw_error *err)
{
    text[strcspn(text, SEPARATORS)] = '\0';
    char *colon = strrchr(text, ':');
    if (!colon || colon == text)
        return pw_fail(err, PW_USER_ERROR, "uvm.advice: '%s' is not ALLOCATION:ADVICE, for example wall:read-mostly",
                       text);
    return pw_fail(err, PW_USER_ERROR,
                   "uvm.advice: there is no advice '%s'; choose read-mostly, host, device, accessed-by or prefetch",
                   colon + 1);
}

/* The colon before the advice of the entry that a text begins with; NULL when there is none, or another entry's only
 * because this one's advice is misspelt. */
static char *colon_of(char *text)
{
    char *last = NULL;
    for (char *c = text; *c; c++) {
        bool separates = strchr(SEPARATORS, *c) != NULL;
        if (*c == ':' && c > text && word_at(c + 1) < WORDS)
            return c;
        if (separates && last && looks_like_advice(last, c))
            return NULL;
        last = *c == ':' && c > text ? c : separates ? NULL : last;
    }
    return NULL;
}

enum pw_status pw_advice_parse(const char *text, struct pw_advice_list *out, struct pw_error *err)
{
    *out = (struct pw_advice_list){0};
    char *copy = strdup(text), *at = copy;
    if (!copy)
        return pw_fail_memory(err, "uvm.advice");
    enum pw_status status = PW_OK;
    while (status == PW_OK && *(at += strspn(at, SEPARATORS))) {
        char *colon = colon_of(at);
        if (!colon) {
            status = refuse(at, err);
            break;
        }
        *colon = '\0';
        status = add(out, at, words[word_at(colon + 1)].advice, err);
        at = colon + 1 + strcspn(colon + 1, SEPARATORS);
    }
    free(copy);
    return status;
}

static unsigned take_item(struct pw_advice_list *list, const char *name)
{
    size_t i = item_of(list, name);
    if (i == list->count)
        return 0;
    list->items[i].used = true;
    return list->items[i].advice;
}

unsigned pw_advice_take(struct pw_advice_list *list, const char *name)
{
    return take_item(list, name) | take_item(list, PW_ADVICE_FOR_ALL);
}

const char *pw_advice_unused(const struct pw_advice_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (!list->items[i].used)
            return list->items[i].name;
    return NULL;
}
