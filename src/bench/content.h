/* What the case bundle carries: matrices of doubles, or many small entries three levels deep. The
 * payload alone lies in one block, as a message of plain bytes would hold it; containers are filled
 * from it and compared with it. Known by formula, so that every rank can tell what is right. Knows
 * neither MPI nor any container. */
#ifndef BENCH_CONTENT_H
#define BENCH_CONTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    CONTENT_STRING_BYTES = 20,
    CONTENT_SIDE = 3, /* small matrices have so many rows and columns */
    CONTENT_KEY_BYTES = 32,
    CONTENT_LEAF = 20,     /* small entries in an innermost container */
    CONTENT_SECTION = 200, /* and in a container of the level above */
};

/* Either `count` matrices of rows x columns, or `small` entries. */
typedef struct content {
    size_t count, rows, columns;
    size_t small; /* a multiple of 4; 0: matrices */
} content;

typedef enum content_type { CONTENT_SCALAR, CONTENT_STRING, CONTENT_MATRIX } content_type;

/* A small entry: in two of four a scalar, then a string, then a matrix. */
typedef struct content_entry {
    content_type type;
    size_t offset; /* of its value in the payload, in bytes */
    char key[CONTENT_KEY_BYTES];
} content_entry;

/* Sizes of the payload: doubles come first, then the strings. */
size_t content_doubles(const content *c);
size_t content_strings(const content *c);
size_t content_bytes(const content *c);

/* Values that can be wrong: doubles and strings. */
size_t content_values(const content *c);

/* The payload of rank `rank` in a round. */
void content_fill(const content *c, void *payload, uint64_t rank, uint64_t round);

/* How many values of a payload are not those of that rank and round. */
size_t content_wrong(const content *c, const void *payload, uint64_t rank, uint64_t round);

/* The same for `count` doubles from place `first` on, and for the string at a place. */
size_t content_wrong_doubles(const double *data, size_t first, size_t count, uint64_t rank,
                             uint64_t round);
bool content_string_is(const char *text, size_t index, uint64_t rank, uint64_t round);

/* The value of a double. */
double content_double(uint64_t rank, uint64_t index, uint64_t round);

/* The small entry at a place, 0 .. small - 1. */
content_entry content_small(const content *c, size_t index);

/* Names of matrices, and of the containers that hold a small entry. */
void content_key(char text[CONTENT_KEY_BYTES], char letter, size_t index);

#ifdef __cplusplus
}
#endif

#endif
