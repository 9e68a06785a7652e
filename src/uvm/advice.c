/* Reads uvm.advice. */
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
static size_t item_of(struct pw_advice_list *list, const char *name)
{
    size_t i = 0;
    while (i < list->count && strncmp(list->items[i].name, name, PW_ADVISED_NAME_CAPACITY - 1) != 0)
        i++;
    return i;
}

static enum pw_status add(struct pw_advice_list *list, char *text, struct pw_error *err)
{
    char *colon = strchr(text, ':');
    if (!colon || colon == text)
        return pw_fail(err, PW_USER_ERROR, "uvm.advice: '%s' is not ALLOCATION:ADVICE, for example wall:read-mostly",
                       text);
    *colon = '\0';
    size_t word = 0, i = item_of(list, text);
    while (word < WORDS && strcmp(words[word].name, colon + 1) != 0)
        word++;
    if (word == WORDS)
        return pw_fail(err, PW_USER_ERROR,
                       "uvm.advice: there is no advice '%s'; choose read-mostly, host, device, accessed-by or "
                       "prefetch",
                       colon + 1);
    if (i == PW_MOST_ADVISED)
        return pw_fail(err, PW_USER_ERROR, "uvm.advice: more than %d allocations", PW_MOST_ADVISED);
    if (i == list->count)
        strncpy(list->items[list->count++].name, text, PW_ADVISED_NAME_CAPACITY - 1);
    list->items[i].advice |= words[word].advice;
    return pw_advice_check(list->items[i].advice, list->items[i].name, err);
}

enum pw_status pw_advice_parse(const char *text, struct pw_advice_list *out, struct pw_error *err)
{
    *out = (struct pw_advice_list){0};
    char *copy = strdup(text), *rest = NULL;
    if (!copy)
        return pw_fail_memory(err, "uvm.advice");
    enum pw_status status = PW_OK;
    for (char *word = strtok_r(copy, "+", &rest); status == PW_OK && word; word = strtok_r(NULL, "+", &rest))
        status = add(out, word, err);
    free(copy);
    return status;
}

unsigned pw_advice_take(struct pw_advice_list *list, const char *name)
{
    size_t i = item_of(list, name);
    if (i == list->count)
        return 0;
    list->items[i].used = true;
    return list->items[i].advice;
}

const char *pw_advice_unused(const struct pw_advice_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (!list->items[i].used)
            return list->items[i].name;
    return NULL;
}
