/* The text of a tuning record: see record.h. Every line is wanted, in the order of the table, and
 * a last line tells that nothing is missing. */
#include "tune/record.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, LINE_BYTES = 256, PARTS = 1000 /* of a number that are kept */ };

const tune_field tune_fields[TUNE_COUNT] = {
#define TUNE_X(id, name, value, least, most, unit, help)                                           \
  [TUNE_##id] = {name, unit, help, value, least, most},
    TUNE_LIST(TUNE_X)
#undef TUNE_X
};

static const char first_line[] = "ferry tuning record, version 1", last_line[] = "end";

void tune_builtin(tune_record *record_out)
{
    for (int i = 0; i < TUNE_COUNT; i++)
        record_out->values[i] = tune_fields[i].value;
}

bool tune_fits(tune_item item, double value)
{
    const tune_field *const field = &tune_fields[item];

    if (!(value >= field->least && value <= field->most)) /* false for what is no number, too */
        return false;
    if (item == TUNE_SLOT_BYTES)
        return (uint64_t)value % PAGE == 0 && value == (double)(uint64_t)value;
    return strcmp(field->unit, "ns") == 0 || value == (double)(uint64_t)value;
}

static uint64_t parts_of(double value)
{
    return (uint64_t)(value * PARTS + 0.5);
}

double tune_rounded(double value)
{
    return (double)parts_of(value) / PARTS;
}

/* By hand, because the C library writes and reads a comma in some locales. */
static void print_number(const char *name, double value, text_out *out)
{
    const uint64_t parts = parts_of(value);

    text_add(out, "%s %" PRIu64 ".%03" PRIu64 "\n", name, parts / PARTS, parts % PARTS);
}

void tune_print(const tune_record *record, const char *machine, text_out *out)
{
    text_add(out, "%s\nmachine %s\n", first_line, machine);
    for (int i = 0; i < TUNE_COUNT; i++)
        print_number(tune_fields[i].name, record->values[i], out);
    text_add(out, "%s\n", last_line);
}

/* What is left of a text, and where one is. */
typedef struct reader {
    const char *at, *end;
    int line;
    char *why;
    size_t why_bytes;
} reader;

static bool refuse(const reader *r, const char *found, const char *expected)
{
    snprintf(r->why, r->why_bytes, "line %d is \"%.60s\", expected %s", r->line, found, expected);
    return false;
}

/* The next line without its end; control characters are no part of one. */
static bool next_line(reader *r, char line_out[LINE_BYTES])
{
    const size_t left = (size_t)(r->end - r->at);
    const char *const stop = memchr(r->at, '\n', left);
    const size_t length = stop ? (size_t)(stop - r->at) : left;
    size_t i = 0;

    r->line++;
    for (; i < length && i < LINE_BYTES - 1; i++)
        line_out[i] = (unsigned char)r->at[i] < ' ' ? '?' : r->at[i];
    line_out[i] = '\0';
    if (!stop)
        return refuse(r, line_out, "a whole line");
    r->at = stop + 1;
    return i == length || refuse(r, line_out, "a shorter line");
}

static bool expect(reader *r, const char *expected)
{
    char line[LINE_BYTES];

    return next_line(r, line) && (strcmp(line, expected) == 0 || refuse(r, line, expected));
}

/* Up to nine digits, a point, three digits. */
static bool number_of(const char *text, double *value_out)
{
    static const char digits[] = "0123456789";
    const size_t whole = strspn(text, digits);

    if (whole < 1 || whole > 9 || text[whole] != '.')
        return false;
    const char *const rest = text + whole + 1;
    if (strspn(rest, digits) != 3 || rest[3] != '\0')
        return false;
    *value_out = (double)(strtoul(text, NULL, 10) * PARTS + strtoul(rest, NULL, 10)) / PARTS;
    return true;
}

static bool read_field(reader *r, tune_item item, double *value_out)
{
    const tune_field *const field = &tune_fields[item];
    const size_t length = strlen(field->name);
    char line[LINE_BYTES], expected[160];

    if (!next_line(r, line))
        return false;
    if (strncmp(line, field->name, length) == 0 && line[length] == ' ' &&
        number_of(line + length + 1, value_out) && tune_fits(item, *value_out))
        return true;
    snprintf(expected, sizeof expected, "\"%s\" and a number from %g to %g", field->name,
             field->least, field->most);
    return refuse(r, line, expected);
}

bool tune_parse(const char *text, size_t bytes, const char *machine, tune_record *record_out,
                char *why, size_t why_bytes)
{
    reader r = {.at = text, .end = text + bytes, .why = why, .why_bytes = why_bytes};
    char machine_line[LINE_BYTES];
    tune_record record;

    snprintf(machine_line, sizeof machine_line, "machine %s", machine);
    if (!expect(&r, first_line) || !expect(&r, machine_line))
        return false;
    for (int i = 0; i < TUNE_COUNT; i++)
        if (!read_field(&r, (tune_item)i, &record.values[i]))
            return false;
    if (!expect(&r, last_line))
        return false;
    if (r.at != r.end) {
        r.line++;
        return refuse(&r, "", "the end of the file");
    }
    *record_out = record;
    return true;
}
