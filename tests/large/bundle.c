/* A bundle whose payload is longer than 2^BITS bytes, sent and broadcast, with 2 ranks: every byte, and the memory that
 * the receiver takes. usage: mpiexec -n 2 large_bundle BITS; FERRY_ROUTE chooses the way. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "ferry/bundle.h"
#include "ferry/bundle_move.h"
#include "ferry/context.h"
#include "ferry/memory.h"

enum { PERIOD = 251, MIB = 1 << 20 };

static size_t length;
static int rank, wrong;

static void check(int holds, const char *what)
{
    if (holds)
        return;
    wrong++;
    fprintf(stderr, "rank %d: %s does not hold (%s)\n", rank, what, ferry_error_detail());
}

#define CHECK(condition) check((condition), #condition)

static ferry_bundle *make(unsigned char *data)
{
    ferry_bundle *b = NULL;

    for (size_t i = 0; i < length; i++)
        data[i] = (unsigned char)(i % PERIOD);
    CHECK(ferry_bundle_new(&b) == FERRY_OK);
    CHECK(ferry_bundle_borrow_bytes(b, "a", data, length) == FERRY_OK);
    CHECK(ferry_bundle_set_int32(b, "z", 7) == FERRY_OK);
    return b;
}

static void expect(const ferry_bundle *b)
{
    const void *data = NULL;
    size_t bytes = 0, bad = 0;
    int32_t z = 0;

    CHECK(ferry_bundle_get_bytes(b, "a", &data, &bytes) == FERRY_OK);
    CHECK(ferry_bundle_get_int32(b, "z", &z) == FERRY_OK);
    CHECK(bytes == length && z == 7);
    for (size_t i = 0; i < bytes; i++)
        bad += ((const unsigned char *)data)[i] != i % PERIOD;
    CHECK(bad == 0);
}

/* Most memory that this process has held so far, without what it shares with others. */
static size_t peak_bytes(void)
{
    char line[256];
    size_t peak = 0, shared = 0;
    FILE *const status = fopen("/proc/self/status", "r");

    while (status && fgets(line, sizeof line, status)) {
        sscanf(line, "VmHWM: %zu kB", &peak);
        sscanf(line, "RssShmem: %zu kB", &shared);
    }
    if (status)
        fclose(status);
    return (peak - shared) * 1024;
}

int main(int argc, char **argv)
{
    ferry_context *ctx = NULL;
    ferry_bundle *b = NULL;
    unsigned char *data = NULL;
    int all = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    length = ((size_t)1 << (argc > 1 ? atoi(argv[1]) : 31)) + 17;
    CHECK(ferry_context_create(MPI_COMM_WORLD, NULL, &ctx) == FERRY_OK);
    const size_t before = peak_bytes();
    if (rank == 0) {
        data = malloc(length);
        b = make(data);
        CHECK(ferry_bundle_send(ctx, b, 1, 3) == FERRY_OK);
    } else {
        ferry_message message;
        CHECK(ferry_bundle_recv(ctx, 0, FERRY_ANY_TAG, &b, &message) == FERRY_OK);
        CHECK(message.from == 0 && message.tag == 3 && message.bytes > (int64_t)length);
        expect(b);
        CHECK(peak_bytes() < before + length + 64 * (size_t)MIB);
        ferry_bundle_free(b);
        b = NULL;
        ferry_memory_trim(0);
    }
    CHECK(ferry_bundle_bcast(ctx, &b, 0) == FERRY_OK);
    if (rank == 1)
        expect(b);
    ferry_bundle_free(b);
    free(data);
    ferry_context_free(ctx);
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return all != 0;
}
