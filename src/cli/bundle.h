/* `ferry bundle`: what its verbs share. No ranks are started, one process does it all. */
#ifndef CLI_BUNDLE_H
#define CLI_BUNDLE_H

#include "cli/cli.h"
#include "ferry/bundle.h"

/* A format of files: "ferry", "json", "npz", "xml". */
typedef struct bundle_format bundle_format;

/* The format that `word` names, or, when it is NULL, that the end of the file's name does. An exit
 * status, with a complaint that begins with `option` or with the file's name. */
int bundle_format_of(const char *file, const char *option, const char *word,
                     const bundle_format **format_out);
const char *bundle_format_name(const bundle_format *format);

/* A file may be replaced with `force` only; formats that are only read are refused. */
int bundle_may_write(const char *file, const bundle_format *format, bool force);

int bundle_read(const char *file, const bundle_format *format, ferry_bundle **bundle_out);
int bundle_write(const ferry_bundle *bundle, const char *file, const bundle_format *format);

/* Print what a bundle holds: values by type, bytes, depth. */
void bundle_print_counts(const char *file, const bundle_format *format, const ferry_bundle *bundle);

/* Print where two bundles differ first, or everywhere. */
void bundle_print_difference(const ferry_bundle *a, const ferry_bundle *b);
void bundle_print_differences(const char *const names[2], const ferry_bundle *a,
                              const ferry_bundle *b);

#endif
