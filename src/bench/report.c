/* Tables for people: a line per contender, ratios to each row of ferry and to the limit. Computes
 * nothing but ratios. */
#include <stdio.h>
#include <string.h>

#include "bench/machine.h"
#include "bench/report.h"
#include "ferry/version.h"

enum { CELL_BYTES = 32, FERRY_ROWS_MAX = 4, NAME_WIDTH = 16 };

void report_job(FILE *to, const world *w)
{
    char version[64], settings[320];

    machine_mpi_version(version, sizeof version);
    machine_settings(settings, sizeof settings);
    fprintf(to, "%s %s, np=%d on %d cores, kernels %s; %s\n", ferry_version_mpi(), version, w->size,
            w->cores, ferry_version_kernels(), settings);
}

const result *report_find(const measurement *m, const char *name)
{
    for (int k = 0; k < m->result_count; ++k)
        if (strcmp(m->results[k].name, name) == 0 && !m->results[k].missing)
            return &m->results[k];
    return NULL;
}

/* Three digits that count, and a unit. */
static void print_time(char *text, size_t bytes, double seconds)
{
    static const struct {
        double least, scale;
        const char *unit;
    } units[] = {
        {1, 1, "s"},
        {1e-3, 1e3, "ms"},
        {1e-6, 1e6, "us"},
        {0, 1e9, "ns"},
    };
    size_t k = 0;

    if (seconds <= 0) {
        snprintf(text, bytes, "~0");
        return;
    }
    while (seconds < units[k].least)
        ++k;
    const double value = seconds * units[k].scale;
    snprintf(text, bytes,
             value < 9.995   ? "%.2f %s"
             : value < 99.95 ? "%.1f %s"
                             : "%.0f %s",
             value, units[k].unit);
}

static void print_ratio(char *text, size_t bytes, double above, double below)
{
    if (above <= 0 || below <= 0)
        snprintf(text, bytes, "-");
    else
        snprintf(text, bytes, above / below < 99.95 ? "%.2f" : "%.0f", above / below);
}

static void print_rate(char *text, size_t bytes, double amount, double seconds)
{
    char rate[CELL_BYTES - 3];

    if (seconds <= 0) {
        snprintf(text, bytes, "-");
        return;
    }
    machine_bytes(rate, sizeof rate, amount / seconds);
    snprintf(text, bytes, "%s/s", rate);
}

static bool hidden(const result *r)
{
    return r->kind == CONTENDER_BASELINE || r->kind == CONTENDER_ALONE ||
           r->kind == CONTENDER_ALONE_BASE;
}

static int ferry_rows(const measurement *m, const result *rows_out[FERRY_ROWS_MAX])
{
    int count = 0;

    for (int k = 0; k < m->result_count && count < FERRY_ROWS_MAX; ++k)
        if (m->results[k].kind == CONTENDER_FERRY)
            rows_out[count++] = &m->results[k];
    return count;
}

static void print_head(FILE *to, const result *const rows[], int count)
{
    fprintf(to, "  %-*s %9s %9s %9s %8s %10s %8s", NAME_WIDTH, "", "median", "min", "max", "rounds",
            "rate", "of limit");
    for (int k = 0; k < count; ++k)
        fprintf(to, "  / %s", rows[k]->name);
    fprintf(to, "\n");
}

static void print_row(FILE *to, const measurement *m, const result *r, const result *const rows[],
                      int count)
{
    const result *const limit = report_find(m, "limit");
    char median[CELL_BYTES], least[CELL_BYTES], most[CELL_BYTES], rate[CELL_BYTES],
        ratio[CELL_BYTES];

    if (r->missing) {
        fprintf(to, "  %-*s not available: %s\n", NAME_WIDTH, r->name, r->missing);
        return;
    }
    print_time(median, sizeof median, r->median_s);
    print_time(least, sizeof least, r->min_s);
    print_time(most, sizeof most, r->max_s);
    print_rate(rate, sizeof rate, hidden(r) ? 0 : m->bytes, hidden(r) ? 0 : r->median_s);
    print_ratio(ratio, sizeof ratio, limit && !hidden(r) ? limit->median_s : 0, r->median_s);
    fprintf(to, "  %-*s %9s %9s %9s %8llu %10s %8s", NAME_WIDTH, r->name, median, least, most,
            (unsigned long long)r->rounds, rate, ratio);
    for (int k = 0; k < count; ++k) {
        print_ratio(ratio, sizeof ratio, hidden(r) ? 0 : r->median_s, rows[k]->median_s);
        fprintf(to, "  %*s", (int)strlen(rows[k]->name) + 2, ratio);
    }
    fprintf(to, "  %s%s\n", r->refused ? "refused: faster than the cores can copy. " : "", r->note);
}

/* The pairs of rows that this case is about. */
static void print_ratios(FILE *to, const measurement *m, const case_ratio *ratios)
{
    const char *before = "  ratios: ";
    char ratio[CELL_BYTES];

    for (; ratios && ratios->above; ++ratios) {
        const result *const above = report_find(m, ratios->above);
        const result *const below = report_find(m, ratios->below);
        if (!above || !below)
            continue;
        print_ratio(ratio, sizeof ratio, above->median_s, below->median_s);
        fprintf(to, "%s%s / %s %s", before, ratios->above, ratios->below, ratio);
        before = ", ";
    }
    if (before[0] == ',')
        fprintf(to, "\n");
}

/* Numbers that the case has computed. */
static void print_figures(FILE *to, const measurement *m)
{
    for (int k = 0; k < m->figure_count; ++k) {
        if (k == 0)
            fprintf(to, "  %s: ", m->figure_title);
        fprintf(to, "%s%s %.2f", k == 0 ? "" : ", ", m->figures[k].name, m->figures[k].value);
    }
    if (m->figure_count > 0)
        fprintf(to, "\n");
}

void report_case(FILE *to, const world *w, const bench_case *c, const measurement *m, bool verbose)
{
    const result *rows[FERRY_ROWS_MAX];
    const int count = ferry_rows(m, rows);
    char text[CASE_TEXT_BYTES], amount[CELL_BYTES];

    case_print(c, text, sizeof text);
    machine_bytes(amount, sizeof amount, m->bytes);
    fprintf(to, "\n%s np=%d: %s arrive in a round, every element verified\n", text, w->size,
            amount);
    print_head(to, rows, count);
    for (int k = 0; k < m->result_count; ++k)
        if (verbose || !hidden(&m->results[k]))
            print_row(to, m, &m->results[k], rows, count);
    print_ratios(to, m, c->kind->ratios);
    print_figures(to, m);
    if (verbose && m->explain[0])
        fprintf(to, "%s%s", m->explain, m->explain[strlen(m->explain) - 1] == '\n' ? "" : "\n");
    fflush(to);
}

/* --- rivals of jobs of their own -------------------------------------------------------------- */

static void print_own_row(FILE *to, double bytes, const own_row *r)
{
    char median[CELL_BYTES], least[CELL_BYTES], most[CELL_BYTES], rate[CELL_BYTES],
        ratio[CELL_BYTES], pairs[CELL_BYTES];

    if (r->missing[0]) {
        fprintf(to, "  %-*s not available: %s\n", NAME_WIDTH, r->name, r->missing);
        return;
    }
    print_time(median, sizeof median, r->median_s);
    print_time(least, sizeof least, r->min_s);
    print_time(most, sizeof most, r->max_s);
    print_rate(rate, sizeof rate, bytes, r->median_s);
    snprintf(pairs, sizeof pairs, r->pairs ? "%d" : "one job", r->pairs);
    fprintf(to, "  %-*s %9s %9s %9s %8s %10s", NAME_WIDTH, r->name, median, least, most, pairs,
            rate);
    print_ratio(ratio, sizeof ratio, r->to_ferry, 1);
    fprintf(to, "  %*s", (int)strlen("/ ferry"), ratio);
    print_ratio(ratio, sizeof ratio, r->to_fresh, 1);
    fprintf(to, "  %*s", (int)strlen("/ ferry-fresh"), ratio);
    fprintf(to, "  %s%s\n", r->refused ? "refused: faster than the cores can copy. " : "", r->note);
}

/* A ratio of medians of pairs; 0 when these rows have none. */
static double own_ratio(const case_ratio *wanted, const own_row rows[], int count)
{
    for (int k = 0; k < count; ++k) {
        if (rows[k].missing[0] || strcmp(rows[k].name, wanted->above) != 0)
            continue;
        if (strcmp(wanted->below, "ferry") == 0)
            return rows[k].to_ferry;
        if (strcmp(wanted->below, "ferry-fresh") == 0)
            return rows[k].to_fresh;
    }
    return 0;
}

static void print_own_ratios(FILE *to, const case_ratio *ratios, const own_row rows[], int count)
{
    const char *before = "  ratios: ";
    char text[CELL_BYTES];

    for (; ratios && ratios->above; ++ratios) {
        const double ratio = own_ratio(ratios, rows, count);
        if (ratio <= 0)
            continue;
        print_ratio(text, sizeof text, ratio, 1);
        fprintf(to, "%s%s / %s %s", before, ratios->above, ratios->below, text);
        before = ", ";
    }
    if (before[0] == ',')
        fprintf(to, "\n");
}

void report_own(FILE *to, const bench_case *c, double bytes, const own_row ferry[2],
                const own_row rows[], int count)
{
    char text[CASE_TEXT_BYTES];

    case_print(c, text, sizeof text);
    fprintf(to, "\n%s np=%d: rivals in jobs of their own, verified; medians of pairs with ferry\n",
            text, c->np);
    fprintf(to, "  %-*s %9s %9s %9s %8s %10s  / ferry  / ferry-fresh\n", NAME_WIDTH, "", "median",
            "min", "max", "pairs", "rate");
    for (int k = 0; k < 2; ++k)
        if (ferry[k].pairs > 0)
            print_own_row(to, bytes, &ferry[k]);
    for (int k = 0; k < count; ++k)
        print_own_row(to, bytes, &rows[k]);
    print_own_ratios(to, c->kind->ratios, rows, count);
    fflush(to);
}
