/* Texts, each kept once and without control characters: names of kernels come again with every launch. */
#ifndef PW_TRACE_TEXTS_H
#define PW_TRACE_TEXTS_H

#include "sim/key_map.h"

struct pw_text {
    struct pw_key_link link; /* first; its key is a hash of the text, or where that is taken, the next number */
    struct pw_text *after;   /* in the order in which they came */
    uint32_t number;         /* from 0 */
    char text[];
};

struct pw_texts {
    struct pw_key_map map;
    struct pw_text *first, *last;
};

enum pw_status pw_texts_init(struct pw_texts *t, struct pw_error *err);
void pw_texts_release(struct pw_texts *t);

/* The copy of a text that is kept; NULL when memory is out. */
const struct pw_text *pw_texts_add(struct pw_texts *t, const char *text);

#endif
