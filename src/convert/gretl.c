/* From the XML that gretl's bwrite() writes to a bundle. Scalars and matrices are float64, as gretl
 * has them; "NA" is the usual NaN. A document type is refused at once, and with it every entity and
 * everything outside of the file. */
#include "convert/buffer.h"
#include "convert/number.h"
#include "convert/place.h"
#include "ferry/convert.h"

#include <errno.h>
#include <libxml/parser.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
    const char *path;
} reader;

static ferry_status wrong(const reader *r, const xmlNode *node, ferry_status status,
                          const char *what)
{
    return ferry_status_fail(status, "%.200s: line %ld: %s", r->path, xmlGetLineNo(node), what);
}

static ferry_status located(const reader *r, const xmlNode *node, ferry_status st)
{
    return st == FERRY_OK ? st : wrong(r, node, st, ferry_error_detail());
}

/* --- the tree that libxml2 gives --- */

static bool is_element(const xmlNode *node, const char *name)
{
    return node->type == XML_ELEMENT_NODE && strcmp((const char *)node->name, name) == 0;
}

/* The next element from here on, NULL at the end. */
static const xmlNode *element_from(const xmlNode *node)
{
    while (node && node->type != XML_ELEMENT_NODE)
        node = node->next;
    return node;
}

/* Attributes and contents are copies, freed with xmlFree(). */
static char *attribute(const xmlNode *node, const char *name)
{
    return (char *)xmlGetNoNsProp(node, (const xmlChar *)name);
}

static ferry_status content(const reader *r, const xmlNode *node, char **text_out)
{
    *text_out = (char *)xmlNodeGetContent(node);
    return *text_out ? FERRY_OK : wrong(r, node, FERRY_ERR_MEMORY, "out of memory");
}

/* The element of a name inside, for values that stand in one of their own. */
static ferry_status inner(const reader *r, const xmlNode *node, const char *name,
                          const xmlNode **inner_out)
{
    char what[64];

    *inner_out = element_from(node->children);
    if (*inner_out && is_element(*inner_out, name))
        return FERRY_OK;
    snprintf(what, sizeof what, "expected a <%s>", name);
    return wrong(r, node, FERRY_ERR_FORMAT, what);
}

/* A count in an attribute. */
static ferry_status count_of(const reader *r, const xmlNode *node, const char *name,
                             int64_t *count_out)
{
    char *const word = attribute(node, name), *end = word, what[96];
    const long long count = word ? strtoll(word, &end, 10) : -1;
    const bool sound = word && end != word && *end == '\0' && count >= 0 && count <= INT32_MAX;

    snprintf(what, sizeof what, "%s is \"%.30s\", expected a number of values", name,
             word ? word : "");
    xmlFree(word);
    if (!sound)
        return wrong(r, node, FERRY_ERR_FORMAT, what);
    *count_out = count;
    return FERRY_OK;
}

/* --- numbers --- */

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

/* The number at a place, and what follows it; false when there is none. */
static bool read_double(const char **at_inout, double *value_out)
{
    const char *const at = skip_blanks(*at_inout);
    const bool missing = strncmp(at, "NA", 2) == 0;
    char *end;
    const double value = missing ? 0 : strtod(at, &end);

    if (missing)
        end = (char *)at + 2;
    if (end == at || (*end && !strchr(" \t\r\n", *end)))
        return false;
    *value_out = missing || value != value ? (double)__builtin_nan("") : value;
    *at_inout = end;
    return true;
}

/* Exactly `count` numbers of a text. */
static ferry_status read_doubles(const reader *r, const xmlNode *node, size_t count,
                                 double **values_out)
{
    char *words, what[96];
    ferry_status st = content(r, node, &words);

    if (st != FERRY_OK)
        return st;
    const char *at = words;
    const bool possible = count <= strlen(words); /* before memory is taken for so many */
    double *const values = possible ? malloc((count + 1) * sizeof *values) : NULL;
    size_t found = 0;
    while (values && found < count && read_double(&at, &values[found]))
        found++;
    if (possible && !values)
        st = wrong(r, node, FERRY_ERR_MEMORY, "out of memory");
    else if (found < count || *skip_blanks(at)) {
        snprintf(what, sizeof what, "expected %zu numbers, found %zu and \"%.20s\"", count, found,
                 skip_blanks(at));
        st = wrong(r, node, FERRY_ERR_FORMAT, what);
    }
    xmlFree(words);
    if (st == FERRY_OK)
        *values_out = values;
    else
        free(values);
    return st;
}

static ferry_status read_number(const reader *r, const xmlNode *node, double *value_out)
{
    double *values;
    const ferry_status st = read_doubles(r, node, 1, &values);

    if (st != FERRY_OK)
        return st;
    *value_out = values[0];
    free(values);
    return FERRY_OK;
}

static ferry_status read_scalar(const reader *r, const xmlNode *node, const place *at)
{
    double value;
    const ferry_status st = read_number(r, node, &value);

    return st == FERRY_OK ? located(r, node, place_scalar(at, FERRY_TYPE_FLOAT64, &value)) : st;
}

static ferry_status read_integer(const reader *r, const xmlNode *node, const place *at)
{
    double value;
    const ferry_status st = read_number(r, node, &value);

    if (st != FERRY_OK)
        return st;
    const int64_t integer = value >= -0x1p53 && value <= 0x1p53 ? (int64_t)value : 0;
    return (double)integer == value ? located(r, node, place_scalar(at, FERRY_TYPE_INT64, &integer))
                                    : wrong(r, node, FERRY_ERR_FORMAT, "expected an integer");
}

static ferry_status read_series(const reader *r, const xmlNode *node, const place *at)
{
    double *values;
    int64_t count;
    ferry_status st = count_of(r, node, "size", &count);

    if (st == FERRY_OK)
        st = read_doubles(r, node, (size_t)count, &values);
    if (st != FERRY_OK)
        return st;
    st = located(r, node, place_array(at, FERRY_TYPE_FLOAT64, 1, &count, false, values));
    free(values);
    return st;
}

/* Numbers of series: how many there are, then each. */
static ferry_status read_list_element(const reader *r, const xmlNode *node, const place *at)
{
    char *words, *end;
    ferry_status st = content(r, node, &words);

    if (st != FERRY_OK)
        return st;
    const long long said = strtoll(words, &end, 10);
    int64_t count = said > 0 && (size_t)said <= strlen(words) ? said : 0;
    int32_t *const members = calloc((size_t)count + 1, sizeof *members);
    bool sound = members && end != words && said == count;
    for (int64_t i = 0; i < count && sound; i++) {
        const char *const from = skip_blanks(end);
        const long long member = strtoll(from, &end, 10);
        sound = end != from && member >= INT32_MIN && member <= INT32_MAX;
        if (sound)
            members[i] = (int32_t)member;
    }
    if (!members)
        st = wrong(r, node, FERRY_ERR_MEMORY, "out of memory");
    else if (!sound || *skip_blanks(end))
        st = wrong(r, node, FERRY_ERR_FORMAT, "expected a number of series, and so many numbers");
    else
        st = located(r, node, place_array(at, FERRY_TYPE_INT32, 1, &count, false, members));
    free(members);
    xmlFree(words);
    return st;
}

static ferry_status read_list(const reader *r, const xmlNode *node, const place *at)
{
    const xmlNode *list;
    const ferry_status st = inner(r, node, "list", &list);

    return st == FERRY_OK ? read_list_element(r, list, at) : st;
}

/* --- strings --- */

static ferry_status read_string(const reader *r, const xmlNode *node, const place *at)
{
    char *words;
    ferry_status st = content(r, node, &words);

    if (st != FERRY_OK)
        return st;
    st = located(r, node, place_string(at, words, strlen(words)));
    xmlFree(words);
    return st;
}

/* Names that gretl writes with blanks between them: an array of strings when there are as many as
 * wanted, else (a name had a blank) the text as it is. */
static ferry_status put_names(const place *at, char *names, int64_t wanted)
{
    const size_t most = strlen(names) / 2 + 1;
    const char **const words = malloc(most * sizeof *words);
    size_t *const lengths = malloc(most * sizeof *lengths);
    size_t count = 0;
    ferry_status st =
        words && lengths ? FERRY_OK : ferry_status_fail(FERRY_ERR_MEMORY, "out of memory");

    for (const char *word = names; st == FERRY_OK && *(word = skip_blanks(word));) {
        words[count] = word;
        lengths[count] = strcspn(word, " \t\r\n");
        word += lengths[count++];
    }
    if (st == FERRY_OK)
        st = count == (size_t)wanted ? place_strings(at, count, words, lengths)
                                     : place_string(at, names, strlen(names));
    free(words);
    free(lengths);
    return st;
}

/* --- matrices --- */

/* Names of rows and columns, and dates, go to the attributes of the matrix. */
static ferry_status put_facts(const reader *r, const xmlNode *node, const place *at, int64_t rows,
                              int64_t columns)
{
    const struct {
        const char *name;
        int64_t wanted; /* strings; -1: an integer */
    } facts[] = {{"rownames", rows}, {"colnames", columns}, {"t1", -1}, {"t2", -1}};
    ferry_status st = FERRY_OK;

    for (size_t i = 0; i < sizeof facts / sizeof facts[0] && st == FERRY_OK; i++) {
        char *const text = attribute(node, facts[i].name);
        place inside = {.key = facts[i].name};
        if (!text)
            continue;
        const int64_t number = strtoll(text, NULL, 10);
        st = place_attributes(at, &inside.bundle);
        if (st == FERRY_OK)
            st = facts[i].wanted < 0 ? place_scalar(&inside, FERRY_TYPE_INT64, &number)
                                     : put_names(&inside, text, facts[i].wanted);
        xmlFree(text);
    }
    return located(r, node, st);
}

/* gretl keeps the parts of complex numbers as rows of their own: real parts of a row, then the
 * imaginary ones. From rows, as they are written, to columns, as gretl has them in memory. */
static void arrange(const double *written, double *columns_out, size_t rows, size_t columns,
                    size_t parts)
{
    for (size_t row = 0; row < rows * parts; row++)
        for (size_t column = 0; column < columns; column++)
            columns_out[column * rows * parts + row] = written[row * columns + column];
}

static ferry_status put_matrix(const reader *r, const xmlNode *node, const place *at,
                               const int64_t shape[2], bool is_complex)
{
    const size_t parts = is_complex ? 2 : 1, count = (size_t)shape[0] * (size_t)shape[1] * parts;
    double *written, *columns;
    ferry_status st = read_doubles(r, node, count, &written);

    if (st != FERRY_OK)
        return st;
    columns = malloc((count + 1) * sizeof *columns);
    if (columns) {
        arrange(written, columns, (size_t)shape[0], (size_t)shape[1], parts);
        st = located(r, node,
                     place_array(at, is_complex ? FERRY_TYPE_COMPLEX128 : FERRY_TYPE_FLOAT64, 2,
                                 shape, true, columns));
    } else {
        st = wrong(r, node, FERRY_ERR_MEMORY, "out of memory");
    }
    free(columns);
    free(written);
    return st;
}

static ferry_status read_matrix_element(const reader *r, const xmlNode *node, const place *at)
{
    char *const word = attribute(node, "complex");
    const bool is_complex = word && strcmp(word, "1") == 0;
    int64_t shape[2];
    ferry_status st = count_of(r, node, "rows", &shape[0]);

    xmlFree(word);
    if (st == FERRY_OK)
        st = count_of(r, node, "cols", &shape[1]);
    if (st == FERRY_OK)
        st = put_matrix(r, node, at, shape, is_complex);
    return st == FERRY_OK ? put_facts(r, node, at, shape[0], shape[1]) : st;
}

static ferry_status read_matrix(const reader *r, const xmlNode *node, const place *at)
{
    const xmlNode *matrix;
    const ferry_status st = inner(r, node, "gretl-matrix", &matrix);

    return st == FERRY_OK ? read_matrix_element(r, matrix, at) : st;
}

/* --- bundles and arrays --- */

static ferry_status read_members(const reader *r, const xmlNode *node, ferry_bundle *bundle);

static ferry_status read_bundle_element(const reader *r, const xmlNode *node, const place *at)
{
    ferry_bundle *child;
    const ferry_status st = located(r, node, place_bundle(at, &child));

    return st == FERRY_OK ? read_members(r, node, child) : st;
}

static ferry_status read_bundle(const reader *r, const xmlNode *node, const place *at)
{
    const xmlNode *bundle;
    const ferry_status st = inner(r, node, "gretl-bundle", &bundle);

    return st == FERRY_OK ? read_bundle_element(r, bundle, at) : st;
}

/* All <string> inside, as one value. */
static ferry_status read_strings(const reader *r, const xmlNode *node, size_t count,
                                 const place *at)
{
    char **const texts = calloc(count + 1, sizeof *texts);
    size_t found = 0;
    ferry_status st = texts ? FERRY_OK : wrong(r, node, FERRY_ERR_MEMORY, "out of memory");

    for (const xmlNode *one = element_from(node->children); one && st == FERRY_OK;
         one = element_from(one->next)) {
        if (found == count || !is_element(one, "string"))
            st = wrong(r, one, FERRY_ERR_FORMAT, "expected a <string>, as many as the length says");
        else
            st = content(r, one, &texts[found++]);
    }
    if (st == FERRY_OK && found < count)
        st = wrong(r, node, FERRY_ERR_FORMAT, "fewer strings than the length says");
    if (st == FERRY_OK)
        st = located(r, node, place_strings(at, count, (const char *const *)texts, NULL));
    for (size_t i = 0; i < found; i++)
        xmlFree(texts[i]);
    free(texts);
    return st;
}

static ferry_status read_array_element(const reader *r, const xmlNode *node, const place *at);

/* What an array of gretl may hold, besides strings. */
static const struct {
    const char *type, *element;
    ferry_status (*read)(const reader *r, const xmlNode *node, const place *at);
} kinds[] = {
    {"matrices", "gretl-matrix", read_matrix_element},
    {"bundles", "gretl-bundle", read_bundle_element},
    {"lists", "list", read_list_element},
    {"arrays", "gretl-array", read_array_element},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static ferry_status read_elements(const reader *r, const xmlNode *node, int kind, size_t count,
                                  const place *at)
{
    place inside = {0};
    size_t found = 0;
    ferry_status st = located(r, node, place_list(at, &inside.list));

    for (const xmlNode *one = element_from(node->children); one && st == FERRY_OK;
         one = element_from(one->next), found++)
        st = is_element(one, kinds[kind].element)
                 ? kinds[kind].read(r, one, &inside)
                 : wrong(r, one, FERRY_ERR_FORMAT, "an element of another type than the array's");
    if (st == FERRY_OK && found != count)
        st = wrong(r, node, FERRY_ERR_FORMAT, "not as many elements as the length says");
    return st;
}

static ferry_status read_array_element(const reader *r, const xmlNode *node, const place *at)
{
    char *const type = attribute(node, "type");
    int64_t count;
    int kind = 0;
    ferry_status st = count_of(r, node, "length", &count);

    while (kind < KINDS && (!type || strcmp(type, kinds[kind].type) != 0))
        kind++;
    if (st == FERRY_OK && kind < KINDS)
        st = read_elements(r, node, kind, (size_t)count, at);
    else if (st == FERRY_OK && type && strcmp(type, "strings") == 0)
        st = read_strings(r, node, (size_t)count, at);
    else if (st == FERRY_OK)
        st = wrong(r, node, FERRY_ERR_TYPE, "an array of a type that is not known");
    xmlFree(type);
    return st;
}

static ferry_status read_array(const reader *r, const xmlNode *node, const place *at)
{
    const xmlNode *array;
    const ferry_status st = inner(r, node, "gretl-array", &array);

    return st == FERRY_OK ? read_array_element(r, array, at) : st;
}

static const struct {
    const char *type;
    ferry_status (*read)(const reader *r, const xmlNode *node, const place *at);
} types[] = {
    {"scalar", read_scalar}, {"int", read_integer},   {"unsigned int", read_integer},
    {"string", read_string}, {"matrix", read_matrix}, {"series", read_series},
    {"bundle", read_bundle}, {"array", read_array},   {"list", read_list},
};
enum { TYPES = sizeof types / sizeof types[0] };

static ferry_status read_typed(const reader *r, const xmlNode *node, const char *type,
                               const place *at)
{
    char what[128];

    for (int i = 0; i < TYPES; i++)
        if (type && strcmp(type, types[i].type) == 0)
            return types[i].read(r, node, at);
    snprintf(what, sizeof what, "\"%.40s\" has the type \"%.40s\", which is not known", at->key,
             type ? type : "");
    return wrong(r, node, FERRY_ERR_TYPE, what);
}

static ferry_status put_note(const place *at, const char *note)
{
    place inside = {.key = "note"};
    const ferry_status st = place_attributes(at, &inside.bundle);

    return st == FERRY_OK ? place_string(&inside, note, strlen(note)) : st;
}

static ferry_status read_item(const reader *r, const xmlNode *node, ferry_bundle *bundle)
{
    char *const key = attribute(node, "key"), *const type = attribute(node, "type"),
                *const note = attribute(node, "note");
    const place at = {.bundle = bundle, .key = key};
    const size_t before = ferry_bundle_count(bundle);
    ferry_status st = key ? read_typed(r, node, type, &at)
                          : wrong(r, node, FERRY_ERR_FORMAT, "a value without a key");

    if (st == FERRY_OK && ferry_bundle_count(bundle) == before)
        st = wrong(r, node, FERRY_ERR_FORMAT, "a key for the second time");
    if (st == FERRY_OK && note)
        st = located(r, node, put_note(&at, note));
    xmlFree(key);
    xmlFree(type);
    xmlFree(note);
    return st;
}

static ferry_status read_members(const reader *r, const xmlNode *node, ferry_bundle *bundle)
{
    ferry_status st = FERRY_OK;

    for (const xmlNode *item = element_from(node->children); item && st == FERRY_OK;
         item = element_from(item->next))
        st = is_element(item, "bundled-item")
                 ? read_item(r, item, bundle)
                 : wrong(r, item, FERRY_ERR_FORMAT, "expected a <bundled-item>");
    return st;
}

/* --- the document --- */

/* A document type: nothing of gretl's has one, and entities begin there. */
static void refuse_type(void *user, const xmlChar *name, const xmlChar *id, const xmlChar *system)
{
    (void)name;
    (void)id;
    (void)system;
    ((xmlParserCtxt *)user)->_private = user; /* marks the refusal */
    xmlStopParser(user);
}

static ferry_status parse(const reader *r, xmlParserCtxt *context, xmlDoc **document_out)
{
    context->sax->internalSubset = refuse_type;
    context->sax->externalSubset = refuse_type;
    *document_out = xmlCtxtReadFile(context, r->path, NULL,
                                    XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING |
                                        XML_PARSE_HUGE | XML_PARSE_NOCDATA);
    if (context->_private)
        return ferry_status_fail(FERRY_ERR_FORMAT, "%.300s: a document type, expected none",
                                 r->path);
    if (*document_out)
        return FERRY_OK;
    const xmlError *const error = xmlCtxtGetLastError(context);
    if (!error)
        return ferry_status_fail(FERRY_ERR_FORMAT, "%.300s: no XML", r->path);
    const char *const text = error->message ? error->message : "no XML";
    if (error->code == XML_ERR_NO_MEMORY)
        return ferry_status_fail(FERRY_ERR_MEMORY, "%.300s: out of memory", r->path);
    return ferry_status_fail(FERRY_ERR_FORMAT, "%.200s: line %d: %.*s", r->path, error->line,
                             (int)strcspn(text, "\n"), text);
}

static ferry_status read_document(const reader *r, const xmlDoc *document, ferry_bundle *bundle)
{
    const xmlNode *const root = element_from(document->children);
    const number_locale locale = number_begin();
    ferry_status st;

    if (root && is_element(root, "gretl-bundle"))
        st = read_members(r, root, bundle);
    else
        st = ferry_status_fail(FERRY_ERR_FORMAT, "%.300s: expected a <gretl-bundle>", r->path);
    number_end(locale);
    return st;
}

ferry_status ferry_convert_load_gretl(const char *path, ferry_bundle **bundle_out)
{
    const reader r = {.path = path};
    xmlDoc *document = NULL;
    ferry_bundle *bundle = NULL;
    ferry_status st =
        bundle_out ? file_check(path) : ferry_status_fail(FERRY_ERR_ARG, "bundle_out is NULL");

    if (st != FERRY_OK)
        return st;
    xmlParserCtxt *const context = xmlNewParserCtxt();
    if (!context)
        return ferry_status_fail(FERRY_ERR_MEMORY, "%.300s: out of memory", path);
    st = parse(&r, context, &document);
    if (st == FERRY_OK)
        st = ferry_bundle_new(&bundle);
    if (st == FERRY_OK)
        st = read_document(&r, document, bundle);
    xmlFreeDoc(document);
    xmlFreeParserCtxt(context);
    if (st != FERRY_OK) {
        ferry_bundle_free(bundle);
        return st;
    }
    *bundle_out = bundle;
    return FERRY_OK;
}
