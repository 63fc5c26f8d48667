/* Results in files. A result list is kept as JSON from the start, since the parent gets it as such
 * from its jobs; CSV is printed from it. Files appear under their names when they are complete, or
 * not at all.
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/machine.h"
#include "bench/plot.h"
#include "bench/refuse.h"
#include "bench/results.h"
#include "ferry/version.h"

enum { PATH_BYTES = 4096 };

struct results {
    json_object *parts; /* a list of {"index": place, "result": object} */
};

results *results_new(void)
{
    results *const o = calloc(1, sizeof *o);

    if (o && !(o->parts = json_object_new_array())) {
        free(o);
        return NULL;
    }
    return o;
}

void results_free(results *o)
{
    if (!o)
        return;
    json_object_put(o->parts);
    free(o);
}

/* --- results as JSON -------------------------------------------------------------------------- */

/* Add a member; a value that could not be made, for want of memory, is told. */
static int put(json_object *object, const char *key, json_object *value)
{
    return !value || json_object_object_add(object, key, value) != 0;
}

/* A number with nine digits that count. */
static json_object *number(double value)
{
    char text[32];

    snprintf(text, sizeof text, "%.9g", value);
    return json_object_new_double_s(value, text);
}

static double time_of(double seconds)
{
    return seconds > 0 ? seconds : 0;
}

static bool shown(const result *r)
{
    return !r->missing && (r->kind == CONTENDER_FERRY || r->kind == CONTENDER_RIVAL ||
                           r->kind == CONTENDER_LIMIT || r->kind == CONTENDER_PART);
}

static int add_row(json_object *list, const measurement *m, const result *r)
{
    json_object *const row = json_object_new_object();
    int bad = !row;

    bad = bad || put(row, "name", json_object_new_string(r->name));
    bad = bad || put(row, "median_s", number(time_of(r->median_s)));
    bad = bad || put(row, "min_s", number(time_of(r->min_s)));
    bad = bad || put(row, "max_s", number(time_of(r->max_s)));
    bad = bad || put(row, "rounds", json_object_new_int64((int64_t)r->rounds));
    bad = bad || put(row, "bytes", json_object_new_int64((int64_t)m->bytes));
    if (!bad && r->refused)
        bad = put(row, "refused", json_object_new_boolean(true));
    if (bad || json_object_array_add(list, row) != 0)
        return json_object_put(row), 1;
    return 0;
}

/* Every rival against one row of ferry: above 1, ferry is faster; null where a time is too short to
 * tell.
 */
static json_object *ratios_to(const measurement *m, const result *row)
{
    json_object *const ratios = json_object_new_object();
    int bad = !ratios;

    for (int k = 0; k < m->result_count && !bad; ++k) {
        const result *const rival = &m->results[k];
        if (rival->kind != CONTENDER_RIVAL || rival->missing)
            continue;
        if (rival->median_s > 0 && row->median_s > 0)
            bad = put(ratios, rival->name, number(rival->median_s / row->median_s));
        else
            bad = json_object_object_add(ratios, rival->name, NULL) != 0;
    }
    if (bad) {
        json_object_put(ratios);
        return NULL;
    }
    return ratios;
}

static int put_rows(json_object *object, const measurement *m)
{
    json_object *const rows = json_object_new_array(), *const ratios = json_object_new_object();
    int bad = put(object, "results", rows) | put(object, "ratios", ratios);

    for (int k = 0; k < m->result_count && !bad; ++k) {
        const result *const r = &m->results[k];
        if (!shown(r))
            continue;
        bad = add_row(rows, m, r);
        if (!bad && r->kind == CONTENDER_FERRY)
            bad = put(ratios, r->name, ratios_to(m, r));
    }
    return bad;
}

static int put_figures(json_object *object, const measurement *m)
{
    json_object *const figures = m->figure_count > 0 ? json_object_new_object() : NULL;
    int bad = m->figure_count > 0 && put(object, m->figure_title, figures);

    for (int k = 0; k < m->figure_count && !bad; ++k)
        bad = put(figures, m->figures[k].name, number(m->figures[k].value));
    return bad;
}

/* --- rivals of jobs of their own -------------------------------------------------------------- */

static int add_own_row(json_object *list, double bytes, const own_row *r)
{
    json_object *const row = json_object_new_object();
    int bad = !row;

    bad = bad || put(row, "name", json_object_new_string(r->name));
    bad = bad || put(row, "median_s", number(r->median_s));
    bad = bad || put(row, "min_s", number(r->min_s));
    bad = bad || put(row, "max_s", number(r->max_s));
    bad = bad || put(row, "rounds", json_object_new_int64(r->rounds));
    bad = bad || put(row, "bytes", json_object_new_int64((int64_t)bytes));
    bad = bad || put(row, "pairs", json_object_new_int(r->pairs));
    bad = bad || put(row, "note", json_object_new_string(r->note));
    if (!bad && r->refused)
        bad = put(row, "refused", json_object_new_boolean(true));
    if (bad || json_object_array_add(list, row) != 0)
        return json_object_put(row), 1;
    return 0;
}

int results_add_own(results *o, int index, double bytes, const own_row rows[], int count)
{
    json_object *const part = json_object_new_object(), *const list = json_object_new_array();
    json_object *const ferry = json_object_new_object(), *const fresh = json_object_new_object();
    int bad = !part || put(part, "index", json_object_new_int(index));

    bad |= put(part, "rows", list) | put(part, "ferry", ferry) | put(part, "ferry-fresh", fresh);
    for (int k = 0; k < count && !bad; ++k) {
        if (rows[k].missing[0])
            continue;
        bad = add_own_row(list, bytes, &rows[k]);
        bad = bad || put(ferry, rows[k].name, number(rows[k].to_ferry));
        bad = bad || put(fresh, rows[k].name, number(rows[k].to_fresh));
    }
    if (bad || json_object_array_add(o->parts, part) != 0)
        return json_object_put(part), 1;
    return 0;
}

static json_object *member(const json_object *object, const char *key)
{
    return json_object_object_get(object, key);
}

int results_find(const results *o, int index, own_row *row_inout)
{
    for (size_t k = 0; k < json_object_array_length(o->parts); ++k) {
        json_object *const part = json_object_array_get_idx(o->parts, k);
        json_object *const rows = member(member(part, "result"), "results");
        if (json_object_get_int(member(part, "index")) != index || !rows)
            continue;
        for (size_t j = 0; j < json_object_array_length(rows); ++j) {
            json_object *const row = json_object_array_get_idx(rows, j);
            if (strcmp(json_object_get_string(member(row, "name")), row_inout->name) != 0)
                continue;
            row_inout->median_s = json_object_get_double(member(row, "median_s"));
            row_inout->min_s = json_object_get_double(member(row, "min_s"));
            row_inout->max_s = json_object_get_double(member(row, "max_s"));
            row_inout->rounds = json_object_get_int64(member(row, "rounds"));
            row_inout->refused = json_object_get_boolean(member(row, "refused"));
            return 0;
        }
    }
    return 1;
}

/* Add the members of one object to another. */
static int join_objects(json_object *to, const json_object *from)
{
    int bad = 0;

    json_object_object_foreach(from, key, value) bad |= put(to, key, json_object_get(value));
    return bad;
}

/* The rows and ratios of a part without a result go to the result of the same case. */
static int join_own(json_object *result, const json_object *part)
{
    static const char *const names[] = {"ferry", "ferry-fresh"};
    json_object *const rows = member(part, "rows"), *const to = member(result, "results");
    int bad = 0;

    for (size_t k = 0; k < json_object_array_length(rows) && !bad; ++k)
        bad = json_object_array_add(to, json_object_get(json_object_array_get_idx(rows, k))) != 0;
    for (size_t k = 0; k < sizeof names / sizeof *names && !bad; ++k)
        if (member(member(result, "ratios"), names[k]))
            bad = join_objects(member(member(result, "ratios"), names[k]), member(part, names[k]));
    return bad;
}

/* A case is added only after every element of every contender was verified. */
static int put_head(json_object *object, const world *w, const bench_case *c)
{
    char text[CASE_TEXT_BYTES], version[64];
    int bad = 0;

    case_print(c, text, sizeof text);
    machine_mpi_version(version, sizeof version);
    bad |= put(object, "case", json_object_new_string(text));
    bad |= put(object, "np", json_object_new_int(w->size));
    bad |= put(object, "mpi", json_object_new_string(ferry_version_mpi()));
    bad |= put(object, "mpi_version", json_object_new_string(version));
    bad |= put(object, "cores", json_object_new_int(w->cores));
    bad |= put(object, "kernels", json_object_new_string(ferry_version_kernels()));
    bad |= put(object, "verified", json_object_new_boolean(true));
    return bad;
}

int results_add(results *o, int index, const world *w, const bench_case *c, const measurement *m)
{
    json_object *const part = json_object_new_object(), *const object = json_object_new_object();
    int bad = !part || !object;

    if (bad) {
        json_object_put(part);
        json_object_put(object);
        return 1;
    }
    bad = put(part, "index", json_object_new_int(index));
    bad |= put(part, "result", object);
    bad = bad || put_head(object, w, c) || put_rows(object, m) || put_figures(object, m);
    if (bad || json_object_array_add(o->parts, part) != 0)
        return json_object_put(part), 1;
    return 0;
}

/* --- files ------------------------------------------------------------------------------------ */

/* A device or a pipe is written in place; there is nothing to keep whole. */
static bool in_place(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static void folder_of(const char *path, char folder[PATH_BYTES])
{
    const char *const slash = strrchr(path, '/');
    const size_t length = slash ? (size_t)(slash - path) : 0;

    if (!slash)
        snprintf(folder, PATH_BYTES, ".");
    else
        snprintf(folder, PATH_BYTES, "%.*s", length > 0 ? (int)length : 1, path);
}

int results_check(const char *path, char *error, size_t bytes)
{
    char folder[PATH_BYTES];
    struct stat st;

    if (!path[0] || strlen(path) >= PATH_BYTES - 32)
        return refuse(error, bytes, "output \"%.60s\"; expected the name of a file", path);
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return refuse(error, bytes, "output %.200s is a folder; expected the name of a file", path);
    if (in_place(path))
        return access(path, W_OK) == 0
                   ? 0
                   : refuse(error, bytes, "output %.200s: %s", path, strerror(errno));
    folder_of(path, folder);
    if (access(folder, W_OK | X_OK) != 0)
        return refuse(error, bytes, "output %.200s cannot be written: %s", path, strerror(errno));
    return 0;
}

static int write_all(FILE *file, const char *text, size_t length)
{
    int bad = fwrite(text, 1, length, file) != length;

    bad |= fflush(file) != 0;
    return (fclose(file) != 0) | bad;
}

/* Either a complete file under its name, or none. */
static int write_file(const char *path, const char *text, size_t length, char *error, size_t bytes)
{
    char draft[PATH_BYTES];
    const bool direct = in_place(path);

    snprintf(draft, sizeof draft, direct ? "%s" : "%s.%ld.partial", path, (long)getpid());
    FILE *file = fopen(draft, "we");
    if (!file)
        return refuse(error, bytes, "output %.200s cannot be written: %s", path, strerror(errno));
    int bad = write_all(file, text, length);
    if (!bad && !direct)
        bad = rename(draft, path) != 0;
    if (!bad)
        return 0;
    refuse(error, bytes, "output %.200s cannot be written: %s", path, strerror(errno));
    if (!direct)
        unlink(draft);
    return 1;
}

static int write_json(json_object *object, const char *path, char *error, size_t bytes)
{
    size_t length = 0;
    const char *const text = json_object_to_json_string_length(
        object, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE,
        &length);
    char *const lined = text ? malloc(length + 1) : NULL;

    if (!lined)
        return refuse(error, bytes, "output %.200s: no memory for its text", path);
    memcpy(lined, text, length);
    lined[length] = '\n';
    const int bad = write_file(path, lined, length + 1, error, bytes);
    free(lined);
    return bad;
}

int results_write_part(const results *o, const char *path, char *error, size_t bytes)
{
    return write_json(o->parts, path, error, bytes);
}

int results_read_part(results *o, const char *path, char *error, size_t bytes)
{
    json_object *const read = json_object_from_file(path);
    const size_t count =
        read && json_object_is_type(read, json_type_array) ? json_object_array_length(read) : 0;
    int bad = 0;

    if (count == 0) {
        json_object_put(read);
        return refuse(error, bytes, "a job left no results (%.200s)", path);
    }
    for (size_t k = 0; k < count && !bad; ++k)
        bad = json_object_array_add(o->parts,
                                    json_object_get(json_object_array_get_idx(read, k))) != 0;
    json_object_put(read);
    return bad ? refuse(error, bytes, "no memory for the results of a job") : 0;
}

static int by_index(const void *a, const void *b)
{
    json_object *const x = *(json_object *const *)a, *const y = *(json_object *const *)b;
    const int i = json_object_get_int(json_object_object_get(x, "index"));
    const int j = json_object_get_int(json_object_object_get(y, "index"));

    return (i > j) - (i < j);
}

static int add_results(const results *o, json_object *list)
{
    int bad = 0;

    for (size_t k = 0; k < json_object_array_length(o->parts) && !bad; ++k) {
        json_object *const result = member(json_object_array_get_idx(o->parts, k), "result");
        bad = result && json_object_array_add(list, json_object_get(result)) != 0;
    }
    return bad;
}

/* The list holds the results of cases 0, 1, ... then. */
static int add_own(const results *o, json_object *list)
{
    int bad = 0;

    for (size_t k = 0; k < json_object_array_length(o->parts) && !bad; ++k) {
        json_object *const part = json_object_array_get_idx(o->parts, k);
        const size_t index = (size_t)json_object_get_int(member(part, "index"));
        if (!member(part, "result") && index < json_object_array_length(list))
            bad = join_own(json_object_array_get_idx(list, index), part);
    }
    return bad;
}

/* The results alone, in the order of the cases; NULL when memory ran out. */
static json_object *result_list(const results *o)
{
    json_object *const list = json_object_new_array();
    int bad = !list;

    json_object_array_sort(o->parts, by_index);
    bad = bad || add_results(o, list) || add_own(o, list);
    if (bad) {
        json_object_put(list);
        return NULL;
    }
    return list;
}

static const char *text_of(const json_object *object, const char *key)
{
    return json_object_get_string(json_object_object_get(object, key));
}

static void print_csv_rows(FILE *to, const json_object *object)
{
    json_object *const rows = json_object_object_get(object, "results");

    for (size_t k = 0; k < json_object_array_length(rows); ++k) {
        json_object *const row = json_object_array_get_idx(rows, k);
        const bool refused = json_object_get_boolean(json_object_object_get(row, "refused"));
        fprintf(to, "%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%s,%d\n", text_of(object, "case"),
                text_of(object, "np"), text_of(object, "mpi"), text_of(object, "mpi_version"),
                text_of(object, "cores"), text_of(row, "name"), text_of(row, "median_s"),
                text_of(row, "min_s"), text_of(row, "max_s"), text_of(row, "rounds"),
                text_of(row, "bytes"), refused);
    }
}

/* No value holds a comma or a quote: names are ours, cases are letters, digits, blanks, = and x. */
static int write_csv(const json_object *list, const char *path, char *error, size_t bytes)
{
    char *text = NULL;
    size_t length = 0;
    FILE *const memory = open_memstream(&text, &length);

    if (!memory)
        return refuse(error, bytes, "output %.200s: no memory for its text", path);
    fprintf(memory,
            "case,np,mpi,mpi_version,cores,name,median_s,min_s,max_s,rounds,bytes,refused\n");
    for (size_t k = 0; k < json_object_array_length(list); ++k)
        print_csv_rows(memory, json_object_array_get_idx(list, k));
    int bad = ferror(memory);
    bad |= fclose(memory) != 0;
    bad = bad ? refuse(error, bytes, "output %.200s: no memory for its text", path)
              : write_file(path, text, length, error, bytes);
    free(text);
    return bad;
}

int results_write(const results *o, const bench_options *options, char *error, size_t bytes)
{
    json_object *const list = result_list(o);
    int bad = 0;

    if (!list)
        return refuse(error, bytes, "no memory for the list of results");
    if (options->json)
        bad = write_json(list, options->json, error, bytes);
    if (options->csv && !bad)
        bad = write_csv(list, options->csv, error, bytes);
    if (options->plot && !bad)
        bad = plot_write(list, options->plot, error, bytes);
    json_object_put(list);
    return bad;
}
