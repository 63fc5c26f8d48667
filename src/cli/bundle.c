/* `ferry bundle VERB`: looks at files of bundles, compares, converts and checks them. A table of
 * verbs; each has its operands and options. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bundle.h"
#include "cli/option.h"
#include "cli/say.h"
#include "ferry/bundle_file.h"
#include "ferry/bundle_item.h"

/* What the command line says. */
typedef struct job {
    const char *files[2];
    const char *from, *to;
    bool force, all;
} job;

typedef struct verb {
    const char *name;
    const char *operands;
    int files;
    int (*run)(const job *job);
    const char *help;
} verb;

static int open_one(const job *job, int number, ferry_bundle **bundle_out,
                    const bundle_format **format_out)
{
    const int status = bundle_format_of(job->files[number], "--from", job->from, format_out);

    return status == CLI_OK ? bundle_read(job->files[number], *format_out, bundle_out) : status;
}

static int show(const job *job)
{
    const bundle_format *format;
    ferry_bundle *bundle;
    const int status = open_one(job, 0, &bundle, &format);

    if (status != CLI_OK)
        return status;
    const size_t bytes = ferry_bundle_print(bundle, NULL, 0) + 1;
    char *const text = malloc(bytes);
    if (text) {
        ferry_bundle_print(bundle, text, bytes);
        fputs(text, stdout);
        if (bytes > 1 && text[bytes - 2] != '\n')
            putchar('\n');
    }
    free(text);
    ferry_bundle_free(bundle);
    return text ? CLI_OK : complain(CLI_FAILURE, "no memory for %zu bytes of text", bytes);
}

/* As diff does: 1 only says that they differ, every trouble is 2. */
static int diff(const job *job)
{
    enum { SAME = CLI_OK, DIFFERENT = 1, TROUBLE = 2 };
    const bundle_format *format;
    ferry_bundle *a = NULL, *b = NULL;
    int status = open_one(job, 0, &a, &format);

    if (status == CLI_OK)
        status = open_one(job, 1, &b, &format);
    if (status != CLI_OK) {
        ferry_bundle_free(a);
        return TROUBLE;
    }
    status = ferry_bundle_equal(a, b) ? SAME : DIFFERENT;
    if (status == DIFFERENT && job->all)
        bundle_print_differences(job->files, a, b);
    else
        bundle_print_difference(a, b);
    ferry_bundle_free(a);
    ferry_bundle_free(b);
    return status;
}

static int convert(const job *job)
{
    const bundle_format *from, *to;
    ferry_bundle *bundle;
    int status = bundle_format_of(job->files[1], "--to", job->to, &to);

    if (status == CLI_OK)
        status = bundle_may_write(job->files[1], to, job->force);
    if (status == CLI_OK)
        status = open_one(job, 0, &bundle, &from);
    if (status != CLI_OK)
        return status;
    status = bundle_write(bundle, job->files[1], to);
    ferry_bundle_free(bundle);
    return status;
}

static int check(const job *job)
{
    const bundle_format *format;
    ferry_bundle *bundle;
    const int status = open_one(job, 0, &bundle, &format);

    if (status != CLI_OK)
        return status;
    bundle_print_counts(job->files[0], format, bundle);
    ferry_bundle_free(bundle);
    return CLI_OK;
}

static const verb verbs[] = {
    {"show", "FILE", 1, show, "print what is in a file, long values cut short"},
    {"diff", "A B", 2, diff, "compare bit for bit and print the first difference; 0 same, 1 not"},
    {"convert", "IN OUT", 2, convert, "write another file, of the same or another format"},
    {"check", "FILE", 1, check, "read everything and print counts, bytes and depth"},
};
enum { VERBS = sizeof verbs / sizeof verbs[0] };

static int help(cli *cli, const option_spec *options)
{
    printf("Usage: ferry bundle VERB [OPTION]... FILE...\n"
           "Look at files of bundles, compare and convert them.\n\nVerbs:\n");
    for (int i = 0; i < VERBS; i++)
        printf("  %-7s %-6s  %s\n", verbs[i].name, verbs[i].operands, verbs[i].help);
    printf("\nFormats: ferry (an image), json, npz (NumPy), xml (of gretl, only read). The end of\n"
           "a file's name tells which. A converted file appears under its name when complete.\n");
    option_help(cli, options, stdout);
    printf("\nExit status of diff: 0 same, 1 different, 2 anything else.\n");
    return CLI_OK;
}

static const verb *find_verb(const char *word)
{
    for (int i = 0; i < VERBS; i++)
        if (strcmp(verbs[i].name, word) == 0)
            return &verbs[i];
    return NULL;
}

static int unknown_verb(const char *word)
{
    const char *names[VERBS + 1] = {NULL};

    for (int i = 0; i < VERBS; i++)
        names[i] = verbs[i].name;
    const char *const near = say_nearest(word, names);
    if (near)
        return complain(CLI_USAGE, "unknown verb \"%s\", did you mean \"%s\"?", word, near);
    return complain(CLI_USAGE, "unknown verb \"%s\", expected show, diff, convert or check", word);
}

/* Options that a verb has no use for are refused, so that nobody relies on them. */
static int check_options(const verb *verb, const job *job)
{
    const bool writes = verb->run == convert;

    if (!writes && (job->to || job->force))
        return complain(CLI_USAGE, "%s has no option %s, only convert has", verb->name,
                        job->to ? "--to" : "--force");
    if (verb->run != diff && job->all)
        return complain(CLI_USAGE, "%s has no option --all, only diff has", verb->name);
    return CLI_OK;
}

int cli_bundle(cli *cli)
{
    job job = {0};
    const option_spec options[] = {
        {0, "from", "FORMAT", OPTION_TEXT, &job.from,
         "format of what is read: ferry, json, npz, xml"},
        {0, "to", "FORMAT", OPTION_TEXT, &job.to, "convert: format of OUT: ferry, json, npz"},
        {'f', "force", NULL, OPTION_FLAG, &job.force, "convert: replace OUT if it exists"},
        {'a', "all", NULL, OPTION_FLAG, &job.all, "diff: print every difference"},
        {0, NULL, NULL, OPTION_FLAG, NULL, NULL},
    };
    int at, status;

    if (!option_parse(cli, options, help, false, &at, &status))
        return status;
    if (at == cli->argc)
        return complain(CLI_USAGE, "no verb, expected show, diff, convert or check");
    const verb *const verb = find_verb(cli->argv[at]);
    if (!verb)
        return unknown_verb(cli->argv[at]);
    const int files = cli->argc - at - 1;
    if (files != verb->files)
        return complain(CLI_USAGE, "%s: %d file names, expected %d: %s", verb->name, files,
                        verb->files, verb->operands);
    for (int i = 0; i < files; i++)
        job.files[i] = cli->argv[at + 1 + i];
    status = check_options(verb, &job);
    return status == CLI_OK ? verb->run(&job) : status;
}
