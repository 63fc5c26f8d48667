/* Bootstrap of a linear regression: how sure are its coefficients? Rank 0 makes the data and gives them to all ranks as one bundle. Each
 * rank fits its share of the replications. The coefficients are gathered, and the sums behind the standard errors are reduced. The random
 * numbers of a replication depend on its number only, so the result is the same on any number of ranks: rank 0 does all of it alone as
 * well, and compares.
 * Run: mpiexec -n 4 ./bundle_pipeline [FILE]      saves the result in FILE; exit status 1 when the two ways differ */
#include <ferry/ferry.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 200, COLUMNS = 3, REPLICATIONS = 501, SEED = 20261130 };

static const char *const names[COLUMNS + 1] = {"const", "income", "price", "demand"};

static void must(ferry_status status)
{
    if (status == FERRY_OK)
        return;
    fprintf(stderr, "%s: %s\n", ferry_status_text(status), ferry_error_detail());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static uint64_t draw(uint64_t seed, uint64_t stream, uint64_t place)
{
    uint64_t z = seed + 0x9e3779b97f4a7c15u * (stream << 32 | place);

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static double uniform(uint64_t stream, uint64_t place)
{
    return (double)(draw(SEED, stream, place) >> 11) / 9007199254740992.0; /* 2^53 */
}

/* Solves a x = b by elimination; X'X needs no choice of pivots. b becomes x. */
static void solve(double a[COLUMNS][COLUMNS], double b[COLUMNS])
{
    for (int p = 0; p < COLUMNS; p++)
        for (int i = 0; i < COLUMNS; i++) {
            const double factor = i == p ? 0 : a[i][p] / a[p][p];
            for (int j = p; j < COLUMNS; j++)
                a[i][j] -= factor * a[p][j];
            b[i] -= factor * b[p];
        }
    for (int i = 0; i < COLUMNS; i++)
        b[i] /= a[i][i];
}

/* Least squares of rows drawn with replacement; replication 0 takes each row once. */
static void fit(const ferry_bundle *data, uint64_t replication, double b[COLUMNS])
{
    double a[COLUMNS][COLUMNS] = {{0}};
    ferry_array sample;
    uint64_t seed;

    must(ferry_path_get_uint64(data, "settings/seed", &seed));
    must(ferry_bundle_get_array(data, "sample", FERRY_TYPE_FLOAT64, &sample));
    const uint64_t n = (uint64_t)sample.shape[0];
    memset(b, 0, COLUMNS * sizeof *b);
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t row = replication ? draw(seed, replication, i) % n : i;
        const double *const x = (const double *)sample.data + row * (COLUMNS + 1);
        for (int j = 0; j < COLUMNS; j++) {
            b[j] += x[j] * x[COLUMNS];
            for (int k = 0; k < COLUMNS; k++)
                a[j][k] += x[j] * x[k];
        }
    }
    solve(a, b);
}

/* demand = 1 + 2 income - 0.5 price and noise, and the numbers of the replications, from 1. */
static ferry_bundle *make_data(void)
{
    const int64_t shape[2] = {ROWS, COLUMNS + 1}, replications = REPLICATIONS;
    double sample[ROWS][COLUMNS + 1];
    int64_t numbers[REPLICATIONS];
    ferry_bundle *data;

    for (uint64_t i = 0; i < ROWS; i++) {
        double *const x = sample[i];
        x[0] = 1;
        x[1] = 10 * uniform(1, i);
        x[2] = 4 + 2 * uniform(2, i);
        x[3] = 1 + 2 * x[1] - 0.5 * x[2] - 6;
        for (uint64_t k = 0; k < 12; k++) /* twelve uniforms less 6 are nearly normal */
            x[3] += uniform(3 + k, i);
    }
    for (int64_t i = 0; i < REPLICATIONS; i++)
        numbers[i] = i + 1;
    must(ferry_bundle_new(&data));
    must(ferry_bundle_set_array(data, "sample", FERRY_TYPE_FLOAT64, 2, shape, NULL, sample));
    must(ferry_path_set_strings(data, "sample/@/colnames", COLUMNS + 1, names, NULL));
    must(ferry_path_set_uint64(data, "settings/seed", SEED + 1));
    must(ferry_path_set_float64(data, "settings/level", 0.95));
    must(ferry_path_set_array(data, "work/replication", FERRY_TYPE_INT64, 1, &replications, NULL, numbers));
    return data;
}

/* Fits the replications of a share and puts their coefficients beside their numbers. */
static void run_share(const ferry_bundle *data, ferry_bundle *share)
{
    double fits[REPLICATIONS][COLUMNS];
    ferry_array numbers;

    must(ferry_bundle_get_array(share, "replication", FERRY_TYPE_INT64, &numbers));
    const int64_t shape[2] = {numbers.shape[0], COLUMNS};
    for (int64_t i = 0; i < shape[0]; i++)
        fit(data, (uint64_t)((const int64_t *)numbers.data)[i], fits[i]);
    must(ferry_bundle_set_array(share, "coefficients", FERRY_TYPE_FLOAT64, 2, shape, NULL, fits));
}

/* How many replications, and sums of the distances of their coefficients from the estimate, and of their squares. */
static ferry_bundle *sums_of(const ferry_bundle *data, const ferry_bundle *share)
{
    double estimate[COLUMNS], sums[2 * COLUMNS] = {0};
    const int64_t length = 2 * COLUMNS;
    ferry_bundle *bundle;
    ferry_array fits;

    fit(data, 0, estimate);
    must(ferry_bundle_get_array(share, "coefficients", FERRY_TYPE_FLOAT64, &fits));
    for (int64_t i = 0; i < fits.shape[0] * COLUMNS; i++) {
        const double distance = ((const double *)fits.data)[i] - estimate[i % COLUMNS];
        sums[i % COLUMNS] += distance;
        sums[COLUMNS + i % COLUMNS] += distance * distance;
    }
    must(ferry_bundle_new(&bundle));
    must(ferry_bundle_set_int64(bundle, "replications", fits.shape[0]));
    must(ferry_bundle_set_array(bundle, "sums", FERRY_TYPE_FLOAT64, 1, &length, NULL, sums));
    return bundle;
}

/* The bootstrap on the ranks of a context, all of which have the data. Returns replications and coefficients, at rank 0 only. */
static ferry_bundle *bootstrap(ferry_context *ctx, const ferry_bundle *data, double errors[COLUMNS])
{
    const ferry_bundle *work;
    ferry_bundle *share, *sums, *total, *fits = NULL;
    ferry_array array;
    int64_t n;

    must(ferry_bundle_get_bundle(data, "work", &work));
    must(ferry_bundle_scatter(ctx, work, FERRY_SPLIT_ROWS, 0, &share));
    run_share(data, share);
    must(ferry_bundle_reduce(ctx, share, FERRY_BUNDLE_ROWS, 0, &fits)); /* the matrices of all ranks, one below the other */
    sums = sums_of(data, share);
    must(ferry_bundle_allreduce(ctx, sums, FERRY_BUNDLE_SUM, &total));
    must(ferry_bundle_get_int64(total, "replications", &n));
    must(ferry_bundle_get_array(total, "sums", FERRY_TYPE_FLOAT64, &array));
    for (int j = 0; j < COLUMNS; j++) {
        const double *const s = array.data;
        errors[j] = sqrt((s[COLUMNS + j] - s[j] * s[j] / (double)n) / (double)(n - 1));
    }
    ferry_bundle_free(total);
    ferry_bundle_free(sums);
    ferry_bundle_free(share);
    return fits;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* A line for each coefficient: estimate, standard error, and the interval that holds the share `level` of the fits. */
static void print_table(const ferry_bundle *data, const ferry_bundle *result)
{
    double level, estimate[COLUMNS], sorted[REPLICATIONS];
    ferry_array fits, errors;
    ferry_item columns;

    fit(data, 0, estimate);
    must(ferry_path_get_float64(data, "settings/level", &level));
    must(ferry_path_item(result, "coefficients/@/colnames", &columns));
    must(ferry_bundle_get_array(result, "coefficients", FERRY_TYPE_FLOAT64, &fits));
    must(ferry_bundle_get_array(result, "errors", FERRY_TYPE_FLOAT64, &errors));
    const int64_t n = fits.shape[0], cut = (int64_t)((1 - level) / 2 * (double)n);
    printf("%-10s %10s %10s %10s %10s\n", "", "estimate", "error", "lower", "upper");
    for (int j = 0; j < COLUMNS; j++) {
        for (int64_t i = 0; i < n; i++)
            sorted[i] = ((const double *)fits.data)[i * COLUMNS + j];
        qsort(sorted, (size_t)n, sizeof *sorted, ascending);
        printf("%-10s %10.4f %10.4f %10.4f %10.4f\n", ferry_item_string(&columns, (size_t)j, NULL), estimate[j],
               ((const double *)errors.data)[j], sorted[cut], sorted[n - 1 - cut]);
    }
}

/* Does all of it on this rank alone. Coefficients must be the same bit for bit; sums are, but for their order. */
static int differs(const ferry_bundle *data, const ferry_bundle *fits, const double errors[COLUMNS])
{
    double alone[COLUMNS];
    ferry_context *self;
    char text[256] = "";

    must(ferry_context_create(MPI_COMM_SELF, NULL, &self));
    ferry_bundle *const expected = bootstrap(self, data, alone);
    int bad = !ferry_bundle_compare(fits, expected, text, sizeof text);
    for (int j = 0; j < COLUMNS; j++)
        bad |= !(fabs(errors[j] - alone[j]) <= 1e-12 * alone[j]);
    printf("one rank alone finds %s%s\n", bad ? "something else " : "the same", text);
    ferry_bundle_free(expected);
    ferry_context_free(self);
    return bad;
}

/* Keeps the result in a file, and prints what is there. */
static void keep(const ferry_bundle *data, ferry_bundle *result, const double errors[COLUMNS], const char *path)
{
    const int64_t columns = COLUMNS;
    ferry_bundle *loaded;

    must(ferry_bundle_set_array(result, "errors", FERRY_TYPE_FLOAT64, 1, &columns, NULL, errors));
    must(ferry_path_set_strings(result, "coefficients/@/colnames", COLUMNS, names, NULL));
    must(ferry_bundle_save(result, path));
    must(ferry_bundle_load(path, &loaded));
    print_table(data, loaded);
    ferry_bundle_free(loaded);
}

int main(int argc, char **argv)
{
    ferry_bundle *data = NULL, *result;
    double errors[COLUMNS];
    ferry_context *ctx;
    int rank, bad = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    must(ferry_context_create(MPI_COMM_WORLD, NULL, &ctx));
    if (rank == 0)
        data = make_data();
    must(ferry_bundle_bcast(ctx, &data, 0));
    result = bootstrap(ctx, data, errors);
    if (rank == 0) {
        bad = differs(data, result, errors);
        keep(data, result, errors, argc > 1 ? argv[1] : "bundle_pipeline.ferry");
    }
    ferry_bundle_free(result);
    ferry_bundle_free(data);
    ferry_context_free(ctx);
    MPI_Finalize();
    return bad;
}
