#include "base/json_text.h"

/* Length of the UTF-8 character at `c` (shortest form, no surrogate, at most U+10FFFF), else 0. */
static int character(const unsigned char *c)
{
    if (c[0] < 0x80)
        return 1;
    int length = c[0] >= 0xc2 && c[0] < 0xe0 ? 2 : c[0] >= 0xe0 && c[0] < 0xf0 ? 3 : 4;
    if (c[0] < 0xc2 || c[0] > 0xf4)
        return 0;
    for (int i = 1; i < length; i++)
        if ((c[i] & 0xc0) != 0x80)
            return 0;
    if ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] > 0x9f) ||
        (c[0] == 0xf0 && c[1] < 0x90) || (c[0] == 0xf4 && c[1] > 0x8f))
        return 0;
    return length;
}

/* Names are the user's bytes; JSON is UTF-8. What is not becomes U+FFFD. */
void ix_put_json_string(FILE *f, const char *text)
{
    fputc('"', f);
    for (const unsigned char *c = (const unsigned char *)text; c && *c;) {
        int length = character(c);
        if (length == 0)
            fputs("\\ufffd", f);
        else if (*c == '"' || *c == '\\')
            fprintf(f, "\\%c", *c);
        else if (*c < 0x20 || *c == 0x7f)
            fprintf(f, "\\u%04x", *c);
        else
            fwrite(c, 1, (size_t)length, f);
        c += length ? length : 1;
    }
    fputc('"', f);
}
