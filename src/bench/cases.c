/* Reading cases. Runs before any rank is started, so it knows nothing of MPI; every refusal names
 * the word, the key, what was found and what was expected. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/cases.h"
#include "bench/refuse.h"

const case_kind *const case_kinds[] = {&case_bundle,  &case_vector,    &case_halo,
                                       &case_overlap, &case_transpose, NULL};

enum { TOKEN_BYTES = 128, CASES_MAX = 1000 };

uint64_t bytes_times(uint64_t a, uint64_t b)
{
    uint64_t product = 0;

    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

uint64_t bytes_plus(uint64_t a, uint64_t b)
{
    uint64_t sum = 0;

    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* --- values ----------------------------------------------------------------------------------- */

/* A whole number with K, M or G (1024); ends at `x` or the end. NULL when it is none or too big for
 * 63 bits. */
static const char *read_number(const char *text, int64_t *value_out)
{
    static const struct {
        char letter;
        int shift;
    } units[] = {{'K', 10}, {'M', 20}, {'G', 30}};
    char *end = NULL;
    int shift = 0;

    if (*text < '0' || *text > '9')
        return NULL;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    for (size_t k = 0; k < sizeof units / sizeof *units; ++k)
        if (*end == units[k].letter) {
            shift = units[k].shift;
            ++end;
            break;
        }
    if (errno != 0 || value > INT64_MAX >> shift || (*end != '\0' && *end != 'x'))
        return NULL;
    *value_out = (int64_t)value << shift;
    return end;
}

static int read_word(const case_key *key, const char *text, int64_t *value_out)
{
    for (int k = 0; key->words[k]; ++k)
        if (strcmp(key->words[k], text) == 0) {
            *value_out = k;
            return 0;
        }
    return 1;
}

static int read_value(const case_key *key, const char *text, int64_t values_out[KEY_PARTS_MAX])
{
    if (key->parts == 0)
        return read_word(key, text, &values_out[0]);
    for (int part = 0; part < key->parts; ++part) {
        text = read_number(text, &values_out[part]);
        if (!text || values_out[part] < key->least || values_out[part] > key->most)
            return 1;
        const char expected = part + 1 < key->parts ? 'x' : '\0';
        if (*text != expected)
            return 1;
        text += expected != '\0';
    }
    return 0;
}

/* "a number from 1 to 64", "3 numbers from 1 to 8 joined by x", "bcast or sendrecv". */
static void print_expected(const case_key *key, char *text, size_t bytes)
{
    size_t used = 0;

    if (key->parts == 1)
        snprintf(text, bytes, "a number from %lld to %lld", (long long)key->least,
                 (long long)key->most);
    else if (key->parts > 1)
        snprintf(text, bytes, "%d numbers from %lld to %lld, joined by x, such as %s", key->parts,
                 (long long)key->least, (long long)key->most, key->normal);
    for (int k = 0; key->parts == 0 && key->words[k] && used < bytes; ++k)
        used += (size_t)snprintf(text + used, bytes - used, "%s%s",
                                 k == 0              ? ""
                                 : key->words[k + 1] ? ", "
                                                     : " or ",
                                 key->words[k]);
}

/* --- words ------------------------------------------------------------------------------------ */

static const case_kind *find_kind(const char *word)
{
    for (int k = 0; case_kinds[k]; ++k)
        if (strcmp(case_kinds[k]->word, word) == 0)
            return case_kinds[k];
    return NULL;
}

static void print_kinds(char *text, size_t bytes)
{
    size_t used = 0;

    for (int k = 0; case_kinds[k] && used < bytes; ++k)
        used += (size_t)snprintf(text + used, bytes - used, "%s%s",
                                 k == 0              ? ""
                                 : case_kinds[k + 1] ? ", "
                                                     : " or ",
                                 case_kinds[k]->word);
}

static void print_keys(const case_kind *kind, char *text, size_t bytes)
{
    size_t used = 0;

    for (int k = 0; k < kind->key_count && used < bytes; ++k)
        used += (size_t)snprintf(text + used, bytes - used, "%s, ", kind->keys[k].name);
    if (used < bytes)
        snprintf(text + used, bytes - used, "or np");
}

/* The state of reading: the cases so far, and which keys of the last word were given. */
typedef struct reader {
    case_list *list;
    int first;                /* case of the last word; lists of values make more of it */
    bool given[KEYS_MAX + 1]; /* np comes last */
    char *error;
    size_t bytes;
} reader;

static int start_case(reader *r, const char *word)
{
    char kinds[128];
    const case_kind *const kind = find_kind(word);

    if (!kind) {
        print_kinds(kinds, sizeof kinds);
        return refuse(r->error, r->bytes, "unknown case \"%.60s\"; expected %s", word, kinds);
    }
    bench_case *const items = realloc(r->list->items, ((size_t)r->list->count + 1) * sizeof *items);
    if (!items)
        return refuse(r->error, r->bytes, "no memory for %d cases", r->list->count + 1);
    r->list->items = items;
    r->first = r->list->count;
    bench_case *const c = &items[r->list->count++];
    *c = (bench_case){.kind = kind};
    memset(r->given, 0, sizeof r->given);
    for (int k = 0; k < kind->key_count; ++k)
        if (kind->keys[k].normal)
            read_value(&kind->keys[k], kind->keys[k].normal, c->values[k]);
    return 0;
}

static int find_key(const case_kind *kind, const char *name)
{
    for (int k = 0; k < kind->key_count; ++k)
        if (strcmp(kind->keys[k].name, name) == 0)
            return k;
    return strcmp(name, "np") == 0 ? KEYS_MAX : -1;
}

/* Give a key to a case. */
static int set_value(const reader *r, bench_case *c, int at, const char *text)
{
    static const case_key np_key = {"np", "2", "", 1, 1, BENCH_NP_MAX, {NULL}};
    const case_key *const key = at == KEYS_MAX ? &np_key : &c->kind->keys[at];
    int64_t np[KEY_PARTS_MAX] = {0};
    char expected[256];

    if (read_value(key, text, at == KEYS_MAX ? np : c->values[at])) {
        print_expected(key, expected, sizeof expected);
        return refuse(r->error, r->bytes, "%s: %s=%.60s; expected %s", c->kind->word, key->name,
                      text, expected);
    }
    c->given |= at == KEYS_MAX ? 0 : 1u << at;
    c->np = at == KEYS_MAX ? (int)np[0] : c->np;
    return 0;
}

/* Make `times` cases of each that the last word began, side by side. */
static int repeat_cases(reader *r, int times)
{
    case_list *const list = r->list;
    const int count = list->count - r->first;

    if (list->count + count * (times - 1) > CASES_MAX)
        return refuse(r->error, r->bytes, "these are %d cases; expected at most %d",
                      list->count + count * (times - 1), CASES_MAX);
    bench_case *const items =
        realloc(list->items, (size_t)(r->first + count * times) * sizeof *items);
    if (!items)
        return refuse(r->error, r->bytes, "no memory for %d cases", r->first + count * times);
    for (int k = count - 1; k >= 0; --k)
        for (int j = times - 1; j >= 0; --j)
            items[r->first + k * times + j] = items[r->first + k];
    list->items = items;
    list->count = r->first + count * times;
    return 0;
}

/* "rows=1K,2K,4K" stands for three cases. */
static int set_key(reader *r, const char *name, char *text)
{
    const case_kind *const kind = r->list->items[r->first].kind;
    const int at = find_key(kind, name);
    char expected[256];
    int times = 1;

    if (at < 0) {
        print_keys(kind, expected, sizeof expected);
        return refuse(r->error, r->bytes, "%s: unknown key \"%.60s\"; expected %s", kind->word,
                      name, expected);
    }
    if (r->given[at])
        return refuse(r->error, r->bytes, "%s: %s is given twice; expected once", kind->word, name);
    r->given[at] = true;
    for (const char *comma = text; (comma = strchr(comma, ',')) != NULL; ++comma)
        ++times;
    if (times > 1 && repeat_cases(r, times))
        return 1;
    for (int k = 0; k < times; ++k) {
        char *const end = text + strcspn(text, ",");
        const bool last = *end == '\0';
        *end = '\0';
        for (int j = r->first + k; j < r->list->count; j += times)
            if (set_value(r, &r->list->items[j], at, text))
                return 1;
        text = last ? end : end + 1;
    }
    return 0;
}

static int read_token(reader *r, char *token)
{
    char *const equals = strchr(token, '=');
    char kinds[128];

    if (!equals)
        return start_case(r, token);
    if (r->list->count == 0) {
        print_kinds(kinds, sizeof kinds);
        return refuse(r->error, r->bytes, "\"%.60s\" comes before any case; expected %s first",
                      token, kinds);
    }
    *equals = '\0';
    return set_key(r, token, equals + 1);
}

/* One argument of the command line may hold several words. */
static int read_argument(reader *r, const char *argument)
{
    static const char blanks[] = " \t\n";

    for (const char *at = argument + strspn(argument, blanks); *at; at += strspn(at, blanks)) {
        char token[TOKEN_BYTES];
        const size_t length = strcspn(at, blanks);
        if (length >= sizeof token)
            return refuse(r->error, r->bytes,
                          "the word \"%.40s...\" has %zu characters; expected fewer than %d", at,
                          length, TOKEN_BYTES);
        memcpy(token, at, length);
        token[length] = '\0';
        if (read_token(r, token))
            return 1;
        at += length;
    }
    return 0;
}

int case_list_read(const bench_options *options, case_list *list_out, char *error, size_t bytes)
{
    reader r = {.list = list_out, .error = error, .bytes = bytes};
    const int inside = options->ranks > 0 && !options->part;
    const int np = options->np > 0 ? options->np : inside ? options->ranks : BENCH_NP_DEFAULT;
    char kinds[128];

    *list_out = (case_list){NULL, 0};
    for (int k = 0; k < options->word_count; ++k)
        if (read_argument(&r, options->words[k]))
            return 1;
    if (list_out->count == 0) {
        print_kinds(kinds, sizeof kinds);
        return refuse(error, bytes, "no case is given; expected %s", kinds);
    }
    for (int k = 0; k < list_out->count; ++k)
        if (list_out->items[k].np == 0)
            list_out->items[k].np = np;
    return 0;
}

void case_list_drop(case_list *list)
{
    free(list->items);
    *list = (case_list){NULL, 0};
}

void case_print(const bench_case *c, char *text, size_t bytes)
{
    size_t used = (size_t)snprintf(text, bytes, "%s", c->kind->word);

    for (int k = 0; k < c->kind->key_count && used < bytes; ++k) {
        const case_key *const key = &c->kind->keys[k];
        if (c->kind->shows && !c->kind->shows(c, k))
            continue;
        used += (size_t)snprintf(text + used, bytes - used, " %s=", key->name);
        if (key->parts == 0 && used < bytes)
            used += (size_t)snprintf(text + used, bytes - used, "%s", key->words[c->values[k][0]]);
        for (int part = 0; part < key->parts && used < bytes; ++part)
            used += (size_t)snprintf(text + used, bytes - used, "%s%lld", part ? "x" : "",
                                     (long long)c->values[k][part]);
    }
}

bool case_wants(const char *rivals, const char *name)
{
    const size_t length = strlen(name);

    if (!rivals || strcmp(rivals, "all") == 0)
        return true;
    for (const char *at = rivals; *at; at += strcspn(at, ",")) {
        at += *at == ',';
        if (strcspn(at, ",") == length && strncmp(at, name, length) == 0)
            return true;
    }
    return false;
}
