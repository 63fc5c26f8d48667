/* Matrices as XML through libxml2. Knows nothing of MPI. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libxml/parser.h>
#include <libxml/tree.h>
#include <libxml/xmlwriter.h>

#include "bench/xml.h"

static int write_row(xmlTextWriterPtr writer, const double *row, size_t columns)
{
    char number[XML_NUMBER_BYTES + 8];

    for (size_t k = 0; k < columns; ++k) {
        snprintf(number, sizeof number, "%.17g%c", row[k], k + 1 < columns ? ' ' : '\n');
        if (xmlTextWriterWriteRaw(writer, BAD_CAST number) < 0)
            return 1;
    }
    return 0;
}

static int write_matrix(xmlTextWriterPtr writer, const double *data, const xml_shape *shape,
                        size_t index)
{
    int bad = xmlTextWriterStartElement(writer, BAD_CAST "matrix") < 0;

    bad |= xmlTextWriterWriteFormatAttribute(writer, BAD_CAST "name", "m%zu", index) < 0;
    bad |= xmlTextWriterWriteFormatAttribute(writer, BAD_CAST "rows", "%zu", shape->rows) < 0;
    bad |= xmlTextWriterWriteFormatAttribute(writer, BAD_CAST "columns", "%zu", shape->columns) < 0;
    for (size_t row = 0; row < shape->rows && !bad; ++row)
        bad = write_row(writer, data + row * shape->columns, shape->columns);
    return bad || xmlTextWriterEndElement(writer) < 0;
}

static int write_document(xmlBufferPtr buffer, const double *data, const xml_shape *shape)
{
    xmlTextWriterPtr writer = xmlNewTextWriterMemory(buffer, 0);
    int bad = !writer || xmlTextWriterStartDocument(writer, NULL, "UTF-8", NULL) < 0 ||
              xmlTextWriterStartElement(writer, BAD_CAST "bundle") < 0;

    for (size_t k = 0; k < shape->count && !bad; ++k)
        bad = write_matrix(writer, data + k * shape->rows * shape->columns, shape, k);
    bad = bad || xmlTextWriterEndElement(writer) < 0 || xmlTextWriterEndDocument(writer) < 0;
    if (writer)
        xmlFreeTextWriter(writer);
    return bad;
}

int xml_write(const double *data, const xml_shape *shape, char **text_out, size_t *bytes_out)
{
    xmlBufferPtr buffer = xmlBufferCreate();
    int bad = 0;

    if (!buffer)
        return 1;
    xmlBufferSetAllocationScheme(buffer, XML_BUFFER_ALLOC_DOUBLEIT);
    bad = write_document(buffer, data, shape);
    if (!bad) {
        *bytes_out = (size_t)xmlBufferLength(buffer);
        *text_out = (char *)xmlBufferDetach(buffer);
        bad = !*text_out;
    }
    xmlBufferFree(buffer);
    return bad;
}

static size_t attribute(xmlNodePtr node, const char *name)
{
    xmlChar *const text = xmlGetProp(node, BAD_CAST name);
    const size_t value = text ? strtoull((const char *)text, NULL, 10) : 0;

    xmlFree(text);
    return value;
}

static int read_matrix(xmlNodePtr node, const xml_shape *shape, double *data)
{
    const size_t elements = shape->rows * shape->columns;
    int bad =
        attribute(node, "rows") != shape->rows || attribute(node, "columns") != shape->columns;
    xmlChar *const text = xmlNodeGetContent(node);
    const char *at = (const char *)text;

    bad |= !at;
    for (size_t k = 0; k < elements && !bad; ++k) {
        char *end = NULL;
        data[k] = strtod(at, &end);
        bad = end == at;
        at = end;
    }
    xmlFree(text);
    return bad;
}

static int read_document(xmlDocPtr document, const xml_shape *shape, double *data)
{
    const size_t elements = shape->rows * shape->columns;
    xmlNodePtr const root = xmlDocGetRootElement(document);
    size_t found = 0;

    for (xmlNodePtr node = root ? root->children : NULL; node; node = node->next) {
        if (node->type != XML_ELEMENT_NODE)
            continue;
        if (found == shape->count || read_matrix(node, shape, data + found * elements))
            return 1;
        ++found;
    }
    return found != shape->count;
}

int xml_read(const char *text, size_t bytes, const xml_shape *shape, double **data_out)
{
    /* Silent: the caller tells what failed. */
    const int parsing = XML_PARSE_HUGE | XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING;

    if (bytes > INT_MAX)
        return 1;
    double *const data = malloc(shape->count * shape->rows * shape->columns * sizeof *data);
    xmlDocPtr document = data ? xmlReadMemory(text, (int)bytes, NULL, NULL, parsing) : NULL;
    const int bad = !document || read_document(document, shape, data);

    xmlFreeDoc(document);
    if (bad) {
        free(data);
        return 1;
    }
    *data_out = data;
    return 0;
}
