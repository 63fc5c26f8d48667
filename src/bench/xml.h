/* Matrices as XML, the way programs ship nested containers today: numbers as text with 17
 * significant digits. */
#ifndef BENCH_XML_H
#define BENCH_XML_H

#include <stddef.h>

/* `count` matrices of rows x columns doubles, one after another. */
typedef struct xml_shape {
    size_t count, rows, columns;
} xml_shape;

/* Bytes of text that a number may need, markup included. */
enum { XML_NUMBER_BYTES = 26 };

/* Write a document; free() the text. 0, or 1 when libxml2 failed. */
int xml_write(const double *data, const xml_shape *shape, char **text_out, size_t *bytes_out);

/* Parse a document into newly allocated matrices; free() them. 0, or 1 when it is not a document of
 * this shape. */
int xml_read(const char *text, size_t bytes, const xml_shape *shape, double **data_out);

#endif
