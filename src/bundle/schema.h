/* Do two trees fit together? Finds the first place where they do not, and says what each side has.
 * Knows nothing of who sent what: the sides have names. */
#ifndef BUNDLE_SCHEMA_H
#define BUNDLE_SCHEMA_H

#include "bundle/step.h"

/* How much of the values must be the same. Keys, their order, types, and which values have
 * attributes always are; the attributes themselves whole, except with SCHEMA_LENGTHS. */
typedef enum schema_values {
    SCHEMA_LENGTHS, /* shapes, and lengths of strings and bytes */
    SCHEMA_TEXTS,   /* shapes; strings and bytes whole */
    SCHEMA_ALL      /* everything but what is free */
} schema_values;

typedef struct schema_rules {
    const char *side[2]; /* such as "rank 3" */
    schema_values values;
    int free_dim;    /* arrays that have this dimension may differ in its extent, and in values;
                        negative: none */
    bool free_lists; /* lists that are in no other list may differ */
} schema_rules;

/* FERRY_ERR_TYPE: another key or type; FERRY_ERR_SHAPE: the rest. */
ferry_status schema_compare(const tree *a, const tree *b, const schema_rules *rules);

/* The way to a value, for texts of failures. */
enum { SCHEMA_WAY_BYTES = 160 };
const char *schema_way(const way *to, char text[SCHEMA_WAY_BYTES]);

#endif
