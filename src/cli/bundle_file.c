/* Files of bundles: which format one has, reading and writing. */
#include <stdio.h>
#include <string.h>

#include "cli/bundle.h"
#include "cli/file.h"
#include "cli/say.h"
#include "ferry/bundle_file.h"
#include "ferry/convert.h"

struct bundle_format {
    const char *name;
    const char *endings[2]; /* of file names */
    ferry_status (*load)(const char *path, ferry_bundle **bundle_out);
    ferry_status (*save)(const ferry_bundle *bundle, const char *path); /* NULL: read only */
};

static const bundle_format formats[] = {
    {"ferry", {".ferry", NULL}, ferry_bundle_load, ferry_bundle_save},
    {"json", {".json", NULL}, ferry_convert_load_json, ferry_convert_save_json},
    {"npz", {".npz", NULL}, ferry_convert_load_npz, ferry_convert_save_npz},
    {"xml", {".xml", ".xml.gz"}, ferry_convert_load_gretl, NULL},
};
enum { FORMATS = sizeof formats / sizeof formats[0] };

static bool ends_with(const char *file, const char *ending)
{
    const size_t length = strlen(file), bytes = ending ? strlen(ending) : 0;

    return bytes > 0 && length > bytes && strcmp(file + length - bytes, ending) == 0;
}

static bool is_format(const bundle_format *format, const char *file, const char *word)
{
    if (word)
        return strcmp(word, format->name) == 0;
    return ends_with(file, format->endings[0]) || ends_with(file, format->endings[1]);
}

int bundle_format_of(const char *file, const char *option, const char *word,
                     const bundle_format **format_out)
{
    for (int i = 0; i < FORMATS; i++)
        if (is_format(&formats[i], file, word)) {
            *format_out = &formats[i];
            return CLI_OK;
        }
    if (word)
        return complain(CLI_USAGE, "%s is \"%s\", expected ferry, json, npz or xml", option, word);
    return complain(CLI_USAGE,
                    "%s: the name tells no format, expected .ferry, .json, .npz, .xml or %s", file,
                    option);
}

const char *bundle_format_name(const bundle_format *format)
{
    return format->name;
}

int bundle_may_write(const char *file, const bundle_format *format, bool force)
{
    output target;

    if (!format->save)
        return complain(CLI_USAGE, "%s: %s is only read, expected ferry, json or npz", file,
                        format->name);
    return output_check(file, force, &target);
}

int bundle_read(const char *file, const bundle_format *format, ferry_bundle **bundle_out)
{
    return format->load(file, bundle_out) == FERRY_OK
               ? CLI_OK
               : complain(CLI_FAILURE, "%s", ferry_error_detail());
}

int bundle_write(const ferry_bundle *bundle, const char *file, const bundle_format *format)
{
    const ferry_status st = format->save(bundle, file);

    if (st == FERRY_OK)
        return CLI_OK;
    const char *const detail = ferry_error_detail();
    if (strncmp(detail, file, strlen(file)) == 0)
        return complain(CLI_FAILURE, "%s", detail);
    return complain(CLI_FAILURE, "%s: %s", file, detail);
}
