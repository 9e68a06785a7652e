/* Tables of numbers and texts as bytes, written into room that grows and read with every length checked. */
#include "trace/bytes.h"

#include <stdlib.h>

uint64_t pw_take_varint(struct pw_bytes_in *in, uint64_t most)
{
    uint64_t number = 0;
    const uint8_t *next = in->bad ? NULL : pw_get_varint(in->at, in->end, &number);
    if (!next || number > most) {
        in->bad = true;
        return 0;
    }
    in->at = next;
    return number;
}

uint64_t pw_take_signed(struct pw_bytes_in *in)
{
    return pw_unzigzag(pw_take_varint(in, UINT64_MAX));
}

uint64_t pw_take_fixed(struct pw_bytes_in *in)
{
    if (in->bad || in->end - in->at < 8) {
        in->bad = true;
        return 0;
    }
    in->at += 8;
    return pw_load_bytes(in->at - 8, 8);
}

const char *pw_take_text(struct pw_bytes_in *in)
{
    size_t length = pw_take_varint(in, (uint64_t)(in->end - in->at));
    const uint8_t *text = in->at;
    if (in->bad || length >= (size_t)(in->end - text) || text[length] || memchr(text, 0, length)) {
        in->bad = true;
        return "";
    }
    in->at = text + length + 1;
    return (const char *)text;
}

uint8_t *pw_bytes_room(struct pw_bytes_out *out, size_t count)
{
    size_t wanted = out->used + count;
    if (wanted <= out->capacity)
        return out->bytes + out->used;
    size_t capacity = wanted < 64 ? 64 : wanted + wanted / 2;
    uint8_t *grown = out->failed ? NULL : realloc(out->bytes, capacity);
    if (!grown) {
        out->failed = true;
        return NULL;
    }
    out->bytes = grown;
    out->capacity = capacity;
    return grown + out->used;
}

void pw_add_bytes(struct pw_bytes_out *out, const void *bytes, size_t count)
{
    uint8_t *room = count ? pw_bytes_room(out, count) : NULL;
    if (!room)
        return;
    memcpy(room, bytes, count);
    out->used += count;
}

void pw_add_varint(struct pw_bytes_out *out, uint64_t number)
{
    uint8_t *room = pw_bytes_room(out, PW_VARINT_MOST);
    if (room)
        out->used += (size_t)(pw_put_varint(room, number) - room);
}

void pw_add_signed(struct pw_bytes_out *out, uint64_t difference)
{
    pw_add_varint(out, pw_zigzag(difference));
}

void pw_add_fixed(struct pw_bytes_out *out, uint64_t number)
{
    uint8_t *room = pw_bytes_room(out, 8);
    if (!room)
        return;
    pw_store_bytes(room, number, 8);
    out->used += 8;
}

void pw_add_text(struct pw_bytes_out *out, const char *text)
{
    size_t length = strlen(text);
    pw_add_varint(out, length);
    pw_add_bytes(out, text, length + 1);
}

void pw_bytes_free(struct pw_bytes_out *out)
{
    free(out->bytes);
    *out = (struct pw_bytes_out){0};
}
