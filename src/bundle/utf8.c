/* Is it UTF-8? One table says, for each first byte, how many bytes follow and where the second one
 * may lie. */
#include "bundle/utf8.h"

#include <stdint.h>
#include <string.h>

typedef struct lead {
    unsigned char first, last; /* range of first bytes */
    unsigned char more;        /* bytes that follow */
    unsigned char low, high;   /* range of the second byte; the others are 80..bf */
} lead;

static const lead leads[] = {
    {0xc2, 0xdf, 1, 0x80, 0xbf}, {0xe0, 0xe0, 2, 0xa0, 0xbf}, {0xe1, 0xec, 2, 0x80, 0xbf},
    {0xed, 0xed, 2, 0x80, 0x9f}, {0xee, 0xef, 2, 0x80, 0xbf}, {0xf0, 0xf0, 3, 0x90, 0xbf},
    {0xf1, 0xf3, 3, 0x80, 0xbf}, {0xf4, 0xf4, 3, 0x80, 0x8f},
};

static const lead *find_lead(unsigned char byte)
{
    for (size_t i = 0; i < sizeof leads / sizeof leads[0]; i++)
        if (byte >= leads[i].first && byte <= leads[i].last)
            return &leads[i];
    return NULL;
}

/* Bytes of the character at `at` that is not ASCII, 0 when it is none. */
static size_t character(const unsigned char *at, size_t left)
{
    const lead *kind = find_lead(at[0]);

    if (!kind || left <= kind->more || at[1] < kind->low || at[1] > kind->high)
        return 0;
    for (size_t i = 2; i <= kind->more; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    return kind->more + 1u;
}

/* Leading bytes that are ASCII for sure, in steps of eight. */
static size_t plain(const unsigned char *at, size_t left)
{
    size_t bytes = 0;
    uint64_t word;

    for (; left - bytes >= sizeof word; bytes += sizeof word) {
        memcpy(&word, at + bytes, sizeof word);
        if (word & 0x8080808080808080u)
            break;
    }
    return bytes;
}

bool utf8_valid(const char *text, size_t bytes)
{
    const unsigned char *at = (const unsigned char *)text;

    for (size_t i = 0; i < bytes;) {
        if (at[i] < 0x80) {
            const size_t skip = plain(at + i, bytes - i);
            i += skip ? skip : 1;
            continue;
        }
        const size_t length = character(at + i, bytes - i);
        if (length == 0)
            return false;
        i += length;
    }
    return true;
}
