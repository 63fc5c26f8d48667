/* Steps of paths as text: "a/b/3/@/unit"; ferry/bundle_path.h tells the rules. */
#ifndef BUNDLE_STEP_H
#define BUNDLE_STEP_H

#include "base/text.h"
#include "bundle/tree.h"

/* The step "@" leads from a value to its attributes; a key that reads like it is written so. */
#define STEP_ATTRIBUTES "@"
#define STEP_LIKE_ATTRIBUTES "~2"

/* Add the step to the value with a number, or to attributes (t NULL), with a '/' before unless it
 * is the first one. */
void step_add(text_out *out, const tree *t, size_t number);

/* The steps to where a walk is, from the inside out; kept on its stack. */
typedef struct way {
    const struct way *before;
    const tree *tree; /* NULL: a step into attributes */
    size_t number;
} way;

void way_add(text_out *out, const way *to);

#endif
