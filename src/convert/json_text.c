/* JSON text as a reader steps through it: words, strings and numbers by the grammar of RFC 8259,
 * and failures that name line and byte. Knows nothing of what becomes of them. */
#include "convert/json_text.h"

#include <string.h>

/* --- failures --- */

ferry_status json_fail(const json_text *r, const char *where, ferry_status status, const char *what)
{
    size_t line = 1;

    for (const char *c = r->begin; c < where; c++)
        line += *c == '\n';
    return ferry_status_fail(status, "JSON, line %zu, byte %zu: %s", line,
                             (size_t)(where - r->begin), what);
}

ferry_status json_wrong(const json_text *r, const char *where, const char *what)
{
    return json_fail(r, where, FERRY_ERR_FORMAT, what);
}

ferry_status json_located(const json_text *r, const char *where, ferry_status st)
{
    return st == FERRY_OK ? st : json_fail(r, where, st, ferry_error_detail());
}

/* --- words --- */

char json_peek(json_text *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\r' || *r->at == '\t'))
        r->at++;
    return r->at < r->end ? *r->at : '\0';
}

bool json_take(json_text *r, char wanted)
{
    if (json_peek(r) != wanted)
        return false;
    r->at++;
    return true;
}

bool json_take_word(json_text *r, const char *word)
{
    const size_t bytes = strlen(word);

    if ((size_t)(r->end - r->at) < bytes || memcmp(r->at, word, bytes) != 0)
        return false;
    r->at += bytes;
    return true;
}

ferry_status json_expect(json_text *r, char wanted, const char *what)
{
    return json_take(r, wanted)
               ? FERRY_OK
               : json_wrong(r, r->at, r->at == r->end ? "the text ends too early" : what);
}

/* Four hexadecimal digits; -1 for others. */
static int hex4(const json_text *r, const char *at)
{
    int code = 0;

    if (r->end - at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        static const char digits[] = "0123456789abcdef0123456789ABCDEF";
        const char *const digit = memchr(digits, at[i], sizeof digits - 1);
        if (!digit)
            return -1;
        code = code << 4 | (int)((digit - digits) & 15);
    }
    return code;
}

static void add_utf8(buffer *t, uint32_t code)
{
    const char low = (char)(0x80 | (code & 0x3f)), second = (char)(0x80 | (code >> 6 & 0x3f)),
               third = (char)(0x80 | (code >> 12 & 0x3f));

    if (code < 0x80)
        buffer_add(t, (const char[]){(char)code}, 1);
    else if (code < 0x800)
        buffer_add(t, (const char[]){(char)(0xc0 | code >> 6), low}, 2);
    else if (code < 0x10000)
        buffer_add(t, (const char[]){(char)(0xe0 | code >> 12), second, low}, 3);
    else
        buffer_add(t, (const char[]){(char)(0xf0 | code >> 18), third, second, low}, 4);
}

/* \uXXXX, or two of them that are one character; the json_text stands behind the 'u'. */
static ferry_status read_unicode(json_text *r, buffer *into)
{
    const char *const from = r->at - 2;
    const int high = hex4(r, r->at);
    uint32_t code = (uint32_t)high;

    if (high < 0)
        return json_wrong(r, from, "\\u without four hexadecimal digits");
    r->at += 4;
    if (high >= 0xd800 && high < 0xe000) {
        const int low = json_take_word(r, "\\u") ? hex4(r, r->at) : -1;
        if (high >= 0xdc00 || low < 0xdc00 || low >= 0xe000)
            return json_wrong(r, from, "half of a surrogate pair");
        r->at += 4;
        code = 0x10000 + (((uint32_t)high & 0x3ff) << 10 | ((uint32_t)low & 0x3ff));
    }
    add_utf8(into, code);
    return FERRY_OK;
}

static ferry_status read_escape(json_text *r, buffer *into)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    const char letter = r->at + 1 < r->end ? r->at[1] : '\0';
    const char *const found = letter ? strchr(letters, letter) : NULL;

    if (!found && letter != 'u')
        return json_wrong(r, r->at, "a backslash before a character that needs none");
    r->at += 2;
    if (!found)
        return read_unicode(r, into);
    buffer_add(into, meant + (found - letters), 1);
    return FERRY_OK;
}

ferry_status json_read_string(json_text *r, buffer *into)
{
    const char *const begin = r->at;
    ferry_status st = json_expect(r, '"', "expected a string");

    while (st == FERRY_OK) {
        const char *const from = r->at;
        while (r->at < r->end && *r->at != '"' && *r->at != '\\' && (unsigned char)*r->at >= 0x20)
            r->at++;
        buffer_add(into, from, (size_t)(r->at - from));
        if (r->at == r->end)
            return json_wrong(r, begin, "a string without an end");
        if (*r->at == '"')
            break;
        st = *r->at == '\\' ? read_escape(r, into)
                            : json_wrong(r, r->at, "a control character in a string, expected \\u");
    }
    if (st != FERRY_OK)
        return st;
    r->at++;
    return into->failed ? json_fail(r, begin, FERRY_ERR_MEMORY, "out of memory") : FERRY_OK;
}

static bool is_digit(const json_text *r)
{
    return r->at < r->end && *r->at >= '0' && *r->at <= '9';
}

static bool take_digits(json_text *r)
{
    if (!is_digit(r))
        return false;
    while (is_digit(r))
        r->at++;
    return true;
}

ferry_status json_scan_number(json_text *r, const char **begin_out, bool *real_out)
{
    json_peek(r);
    const char *const begin = r->at;
    bool sound, real = false;
    json_take_word(r, "-");
    sound = json_take_word(r, "0") || take_digits(r);
    if (sound && json_take_word(r, ".")) {
        real = true;
        sound = take_digits(r);
    }
    if (sound && (json_take_word(r, "e") || json_take_word(r, "E"))) {
        real = true;
        if (!json_take_word(r, "-"))
            json_take_word(r, "+");
        sound = take_digits(r);
    }
    if (!sound || is_digit(r))
        return json_wrong(r, begin,
                          r->at == r->end ? "the text ends too early" : "expected a value");
    *begin_out = begin;
    *real_out = real;
    return FERRY_OK;
}
