/* Valid UTF-8, one character at a time. */
#include "sim/utf8.h"

#include <stdint.h>

size_t pw_utf8_length(const char *string)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *s = (const unsigned char *)string;
    size_t length = s[0] < 0x80             ? 1
                    : (s[0] & 0xe0) == 0xc0 ? 2
                    : (s[0] & 0xf0) == 0xe0 ? 3
                    : (s[0] & 0xf8) == 0xf0 ? 4
                                            : 0;
    if (length <= 1)
        return length;
    uint32_t point = s[0] & (0xffU >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        point = point << 6 | (s[i] & 0x3fU);
    }
    bool valid = point >= smallest[length] && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
    return valid ? length : 0;
}

bool pw_utf8_is_control(const char *string)
{
    const unsigned char *s = (const unsigned char *)string;
    return s[0] < ' ' || s[0] == 0x7f || (s[0] == 0xc2 && (s[1] & 0xe0) == 0x80);
}

size_t pw_utf8_printable_length(const char *string)
{
    return pw_utf8_is_control(string) ? 0 : pw_utf8_length(string);
}
