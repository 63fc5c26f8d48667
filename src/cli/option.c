/* The parser is glibc's getopt_long, fed from tables; the messages are ours, because every error
 * has to be one line and argp's are two. Knows nothing of what the options mean. */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli/option.h"
#include "cli/say.h"

enum { LONG_ONLY = 256 }; /* getopt's value of option i without a letter is LONG_ONLY + i */

/* A subcommand's options and the common ones, in one list. */
typedef struct option_list {
    option_spec spec[OPTION_MAX];
    int count;
} option_list;

static void join(cli *cli, const option_spec *own, option_list *list_out)
{
    const option_spec common[] = {
        {'q', "quiet", NULL, OPTION_FLAG, &cli->quiet, "say nothing but results and errors"},
        {'v', "verbose", NULL, OPTION_FLAG, &cli->verbose, "say more"},
        {0, "color", "WHEN", OPTION_COLOUR, NULL,
         "auto (default: on a terminal unless NO_COLOR is set), always, never"},
        {'h', "help", NULL, OPTION_FLAG, &cli->help, "show this help"},
        {'V', "version", NULL, OPTION_FLAG, &cli->version, "show the version"},
    };

    list_out->count = 0;
    for (; own->name; own++)
        list_out->spec[list_out->count++] = *own;
    for (size_t i = 0; i < sizeof common / sizeof common[0]; i++)
        list_out->spec[list_out->count++] = common[i];
}

/* getopt's two descriptions of the list. */
static void describe(const option_list *list, bool stop_early, struct option *names_out,
                     char *letters_out)
{
    if (stop_early)
        *letters_out++ = '+';
    *letters_out++ = ':'; /* a missing argument is told from an unknown option */
    for (int i = 0; i < list->count; i++) {
        const option_spec *spec = &list->spec[i];
        names_out[i] = (struct option){spec->name, spec->argument ? required_argument : no_argument,
                                       NULL, spec->letter ? spec->letter : LONG_ONLY + i};
        if (!spec->letter)
            continue;
        *letters_out++ = spec->letter;
        if (spec->argument)
            *letters_out++ = ':';
    }
    names_out[list->count] = (struct option){0};
    *letters_out = '\0';
}

static const option_spec *find(const option_list *list, int value)
{
    for (int i = 0; i < list->count; i++)
        if (value == (list->spec[i].letter ? list->spec[i].letter : LONG_ONLY + i))
            return &list->spec[i];
    return NULL;
}

static int bad_long(const option_list *list, const char *word)
{
    const char *names[OPTION_MAX + 1] = {NULL};
    const size_t length = strcspn(word + 2, "=");
    char name[64];
    int used = 0;

    snprintf(name, sizeof name, "%.*s", (int)(length < 60 ? length : 60), word + 2);
    for (int i = 0; i < list->count; i++) {
        if (!strcmp(list->spec[i].name, name))
            return complain(CLI_USAGE, "option --%s takes no argument, but \"%s\" was given", name,
                            word);
        if (list->spec[i].help)
            names[used++] = list->spec[i].name;
    }
    const char *near = say_nearest(name, names);
    if (near)
        return complain(CLI_USAGE, "unknown option --%s, did you mean --%s?", name, near);
    return complain(CLI_USAGE,
                    "unknown or ambiguous option --%s, expected one of those that --help lists",
                    name);
}

static int bad_option(const option_list *list, int value, char *const *argv)
{
    const option_spec *spec = optopt ? find(list, optopt) : NULL;

    if (value == ':' && spec)
        return complain(CLI_USAGE, "option --%s needs an argument, expected %s", spec->name,
                        spec->argument);
    if (optopt && !spec)
        return complain(CLI_USAGE, "unknown option -%c, expected one of those that --help lists",
                        optopt);
    return bad_long(list, argv[optind - 1]);
}

bool option_count(const char *text, int *count_out)
{
    char *end;

    errno = 0;
    const long value = strtol(text, &end, 10);
    if (end == text || *end || errno || value < 1 || value > CLI_NP_MAX)
        return false;
    *count_out = (int)value;
    return true;
}

static int apply(const option_spec *spec, const char *argument)
{
    switch (spec->kind) {
    case OPTION_FLAG:
        *(bool *)spec->target = true;
        return CLI_OK;
    case OPTION_TEXT:
        *(const char **)spec->target = argument;
        return CLI_OK;
    case OPTION_COUNT:
        if (option_count(argument, spec->target))
            return CLI_OK;
        return complain(CLI_USAGE, "--%s is \"%s\", expected a number from 1 to %d", spec->name,
                        argument, CLI_NP_MAX);
    case OPTION_COLOUR:
        if (say_colour(argument))
            return CLI_OK;
        return complain(CLI_USAGE, "--%s is \"%s\", expected auto, always or never", spec->name,
                        argument);
    }
    return CLI_FAILURE;
}

bool option_parse(cli *cli, const option_spec *own, option_usage *usage, bool stop_early,
                  int *operands_out, int *status_out)
{
    struct option names[OPTION_MAX + 1];
    char letters[2 * OPTION_MAX + 3];
    option_list list;
    int status = CLI_OK;

    join(cli, own, &list);
    describe(&list, stop_early, names, letters);
    opterr = 0;
    optind = 0; /* glibc: start anew, the program's own options were parsed before */
    for (int value; status == CLI_OK &&
                    (value = getopt_long(cli->argc, cli->argv, letters, names, NULL)) != -1;) {
        const option_spec *spec = value == '?' || value == ':' ? NULL : find(&list, value);
        status = spec ? apply(spec, optarg) : bad_option(&list, value, cli->argv);
    }
    *operands_out = optind;
    const bool asked = status == CLI_OK && (cli->help || cli->version);
    if (asked)
        status = cli->help ? usage(cli, own) : cli_version();
    *status_out = status;
    return status == CLI_OK && !asked;
}

void option_help(cli *cli, const option_spec *own, FILE *to)
{
    option_list list;

    join(cli, own, &list);
    fprintf(to, "\nOptions:\n");
    for (int i = 0; i < list.count; i++) {
        const option_spec *spec = &list.spec[i];
        char left[48];
        if (!spec->help)
            continue;
        snprintf(left, sizeof left, "%c%c%s--%s%s%s", spec->letter ? '-' : ' ',
                 spec->letter ? spec->letter : ' ', spec->letter ? ", " : "  ", spec->name,
                 spec->argument ? "=" : "", spec->argument ? spec->argument : "");
        fprintf(to, "  %-20s  %s\n", left, spec->help);
    }
}
