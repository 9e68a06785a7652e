/* Texts by a hash of them, compared before they are taken for the same. */
#include "trace/texts.h"

#include "sim/fnv.h"
#include "sim/utf8.h"

#include <stdlib.h>
#include <string.h>

enum pw_status pw_texts_init(struct pw_texts *t, struct pw_error *err)
{
    *t = (struct pw_texts){0};
    return pw_key_map_init(&t->map, "texts of a trace", err);
}

void pw_texts_release(struct pw_texts *t)
{
    for (struct pw_text *text = t->first, *after; text; text = after) {
        after = text->after;
        free(text);
    }
    pw_key_map_release(&t->map);
    *t = (struct pw_texts){0};
}

/* Control characters, which readers refuse, become question marks. */
static void clean(char *text)
{
    for (; *text; text++)
        if (pw_utf8_is_control(text))
            *text = '?';
}

const struct pw_text *pw_texts_add(struct pw_texts *t, const char *text)
{
    uint64_t key = pw_fnv_text(PW_FNV_START, text);
    for (struct pw_text *found; (found = (struct pw_text *)pw_key_map_find(&t->map, key)); key++)
        if (!strcmp(found->text, text))
            return found;
    size_t bytes = strlen(text) + 1;
    struct pw_text *added = malloc(sizeof *added + bytes);
    if (!added)
        return NULL;
    *added = (struct pw_text){.number = t->map.count};
    memcpy(added->text, text, bytes);
    clean(added->text);
    pw_key_map_add(&t->map, &added->link, key);
    *(t->last ? &t->last->after : &t->first) = added;
    t->last = added;
    return added;
}
