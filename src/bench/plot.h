/* Results as a picture: time over size, drawn by gnuplot. */
#ifndef BENCH_PLOT_H
#define BENCH_PLOT_H

#include <json-c/json.h>
#include <stddef.h>

/* Whether such a picture could be drawn here: 0, or 1 with a text. */
int plot_check(const char *path, char *error, size_t bytes);

/* Draw a list of results. Either a complete file under its name, or 1 with a text. */
int plot_write(const json_object *list, const char *path, char *error, size_t bytes);

#endif
