/* The life of a context: a private communicator, options that are the same on all ranks, and its
 * end. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/setting.h"
#include "base/size.h"
#include "base/trouble.h"
#include "context/context.h"
#include "context/nodes.h"

/* What must be the same on all ranks, as rank 0 has it. */
typedef struct handshake {
    int version;
    char routes[200];
    char nodes[200];
    uint64_t nodes_hash;
    char shared[16];
    char tune[16];
    double timeout_s;
    bool mover; /* a matter of each rank alone */
} handshake;

static ferry_status parse_timeout(double wanted, double *seconds_out)
{
    const char *const text = setting_text(SETTING_TIMEOUT);
    char *end = NULL;

    if (wanted >= 0) {
        *seconds_out = wanted;
        return FERRY_OK;
    }
    *seconds_out = strtod(text, &end);
    if (end == text || *end || !(*seconds_out >= 0) || *seconds_out > 1e9)
        return trouble(FERRY_ERR_ARG, "FERRY_TIMEOUT is \"%s\", expected seconds from 0 to 1e9",
                       text);
    return FERRY_OK;
}

static ferry_status check_tune(const char *word)
{
    if (!strcmp(word, "trial") || !strcmp(word, "file") || !strcmp(word, "off"))
        return FERRY_OK;
    return trouble(FERRY_ERR_ARG, "FERRY_TUNE is \"%s\", expected trial, file or off", word);
}

static ferry_status parse_progress(const char *option, bool *mover_out)
{
    const char *const word = option ? option : setting_text(SETTING_PROGRESS);

    *mover_out = strcmp(word, "thread") == 0;
    if (*mover_out || strcmp(word, "none") == 0)
        return FERRY_OK;
    return trouble(FERRY_ERR_ARG, "progress (FERRY_PROGRESS) is \"%.40s\", expected none or thread",
                   word);
}

static ferry_status check_options(const ferry_context_options *options)
{
    const size_t least =
        offsetof(ferry_context_options, routes); /* fields are only added at the end */

    if (options->size < least)
        return trouble(FERRY_ERR_ARG,
                       "options->size is %zu, expected %zu: start from FERRY_CONTEXT_OPTIONS_INIT",
                       options->size, sizeof *options);
    if (options->version / 100 != FERRY_VERSION / 100)
        return trouble(
            FERRY_ERR_ARG,
            "the header is version %d.%d, the library %d.%d: compile and run with the same one",
            options->version / 10000, options->version / 100 % 100, FERRY_VERSION_MAJOR,
            FERRY_VERSION_MINOR);
    return FERRY_OK;
}

/* `full` holds the defaults; what the caller's record has room for overrides them. */
static ferry_status read_options(const ferry_context_options *options, ferry_context_options *full,
                                 handshake *own)
{
    ferry_status st = FERRY_OK;

    if (options)
        st = check_options(options);
    if (options && st == FERRY_OK)
        memcpy(full, options, size_min(options->size, sizeof *full));
    const char *const routes = full->routes ? full->routes : setting_text(SETTING_ROUTE);
    const char *const nodes = full->nodes ? full->nodes : setting_text(SETTING_NODES);
    memset(own, 0, sizeof *own);
    own->version = full->version;
    own->nodes_hash = hash_bytes(HASH_START, nodes, strlen(nodes));
    snprintf(own->nodes, sizeof own->nodes, "%s", nodes);
    snprintf(own->shared, sizeof own->shared, "%s", setting_text(SETTING_SHM));
    snprintf(own->tune, sizeof own->tune, "%s", setting_text(SETTING_TUNE));
    if (st != FERRY_OK)
        return st;
    if ((size_t)snprintf(own->routes, sizeof own->routes, "%s", routes) >= sizeof own->routes)
        return trouble(FERRY_ERR_ARG,
                       "the list of routes has %zu characters, expected fewer than %zu",
                       strlen(routes), sizeof own->routes);
    st = check_tune(setting_text(SETTING_TUNE));
    if (st == FERRY_OK)
        st = parse_progress(full->progress, &own->mover);
    return st == FERRY_OK ? parse_timeout(full->timeout_s, &own->timeout_s) : st;
}

static ferry_status compare(const handshake *own, const handshake *first, int rank)
{
    if (own->version != first->version)
        return trouble(FERRY_ERR_ARG, "rank %d uses version %d of the header, rank 0 version %d",
                       rank, own->version, first->version);
    if (strcmp(own->routes, first->routes) != 0)
        return trouble(FERRY_ERR_ARG,
                       "routes (FERRY_ROUTE) are \"%.100s\" on rank %d, \"%.100s\" on rank 0",
                       own->routes, rank, first->routes);
    if (own->nodes_hash != first->nodes_hash)
        return trouble(FERRY_ERR_ARG,
                       "nodes (FERRY_NODES) are \"%.100s\" on rank %d, \"%.100s\" on rank 0",
                       own->nodes, rank, first->nodes);
    if (strcmp(own->shared, first->shared) != 0)
        return trouble(FERRY_ERR_ARG, "FERRY_SHM is \"%s\" on rank %d, \"%s\" on rank 0",
                       own->shared, rank, first->shared);
    if (strcmp(own->tune, first->tune) != 0) /* the routes chosen depend on it */
        return trouble(FERRY_ERR_ARG, "FERRY_TUNE is \"%s\" on rank %d, \"%s\" on rank 0",
                       own->tune, rank, first->tune);
    if (own->timeout_s != first->timeout_s)
        return trouble(FERRY_ERR_ARG,
                       "the timeout (FERRY_TIMEOUT) is %g s on rank %d, %g s on rank 0",
                       own->timeout_s, rank, first->timeout_s);
    return FERRY_OK;
}

/* Every rank passes both collective calls here, whatever it has found so far. */
static ferry_status agree_options(ferry_context *ctx, ferry_status st, const handshake *own)
{
    handshake first = *own;

    st = context_agree(ctx, st);
    if (st != FERRY_OK)
        return st;
    st = pmpi_status(PMPI_Bcast(&first, sizeof first, MPI_BYTE, 0, ctx->comm), "MPI_Bcast");
    if (st == FERRY_OK)
        st = compare(own, &first, ctx->rank);
    return context_agree(ctx, st);
}

static ferry_status fill_comms(ferry_context *ctx)
{
    PMPI_Comm_set_errhandler(ctx->comm, MPI_ERRORS_RETURN);
    PMPI_Comm_rank(ctx->comm, &ctx->rank);
    PMPI_Comm_size(ctx->comm, &ctx->size);
    const ferry_status st =
        pmpi_status(PMPI_Comm_dup(ctx->comm, &ctx->stream_comm), "MPI_Comm_dup");
    if (st == FERRY_OK)
        PMPI_Comm_set_errhandler(ctx->stream_comm, MPI_ERRORS_RETURN);
    return st;
}

/* Memory for the context on all ranks or on none, before there is anything to agree with. Owns
 * `comm` in any case. */
static ferry_status take_context(MPI_Comm comm, ferry_context **ctx_out)
{
    ferry_context *ctx = NULL;
    const ferry_status st = alloc_zero(1, sizeof *ctx, &ctx);
    int fine = st == FERRY_OK, all_fine = 0;

    PMPI_Allreduce(&fine, &all_fine, 1, MPI_INT, MPI_MIN, comm);
    if (all_fine) {
        ctx->comm = comm;
        ctx->stream_comm = ctx->node_comm = MPI_COMM_NULL;
        *ctx_out = ctx;
        return fill_comms(ctx);
    }
    alloc_free(ctx);
    PMPI_Comm_free(&comm);
    return fine ? trouble(FERRY_ERR_MEMORY, "another rank has no memory for a context") : st;
}

static ferry_status keep_options(ferry_context *ctx, const handshake *own)
{
    ferry_status st = alloc_zero(strlen(own->routes) + 1, 1, &ctx->routes);

    if (st != FERRY_OK)
        return st;
    strcpy(ctx->routes, own->routes);
    ctx->timeout_s = own->timeout_s;
    ctx->progress_kind = own->mover ? "thread" : "none";
    ctx->simulated = strcmp(own->nodes, "mpi") == 0;
    return FERRY_OK;
}

ferry_status context_make(MPI_Comm comm, const ferry_context_options *options,
                          ferry_context **ctx_out)
{
    ferry_context_options full = FERRY_CONTEXT_OPTIONS_INIT;
    ferry_context *ctx = NULL;
    MPI_Comm own_comm = MPI_COMM_NULL;
    handshake own;
    int is_inter = 0;
    ferry_status st = pmpi_running();

    if (st != FERRY_OK)
        return st;
    if (comm == MPI_COMM_NULL)
        return trouble(FERRY_ERR_ARG, "comm is MPI_COMM_NULL");
    PMPI_Comm_test_inter(comm, &is_inter);
    if (is_inter)
        return trouble(FERRY_ERR_ARG,
                       "comm is an intercommunicator, expected an intracommunicator");
    st = pmpi_status(PMPI_Comm_dup(comm, &own_comm), "MPI_Comm_dup");
    if (st != FERRY_OK)
        return st;
    st = take_context(own_comm, &ctx);
    if (st != FERRY_OK)
        goto out;
    st = read_options(options, &full, &own);
    if (st == FERRY_OK && !ctx_out)
        st = trouble(FERRY_ERR_ARG, "ctx_out is NULL on rank %d", ctx->rank);
    st = agree_options(ctx, st, &own);
    if (st != FERRY_OK)
        goto out;
    st = context_agree(ctx, keep_options(ctx, &own));
    if (st != FERRY_OK)
        goto out;
    st = nodes_find(ctx, full.nodes);
    if (st != FERRY_OK)
        goto out;
    *ctx_out = ctx;
    ctx = NULL;
out:
    context_drop(ctx);
    return st;
}

void context_leave_mpi(ferry_context *ctx)
{
    MPI_Comm *const comms[] = {&ctx->node_comm, &ctx->stream_comm, &ctx->comm};

    if (ctx->broken != FERRY_OK) /* receives may still be posted: a new communicator of the same
                                    number would lose messages to them */
        return;
    for (size_t i = 0; i < sizeof comms / sizeof *comms; i++)
        if (*comms[i] != MPI_COMM_NULL)
            PMPI_Comm_free(comms[i]);
}

void context_drop(ferry_context *ctx)
{
    if (!ctx)
        return;
    if (!pmpi_finalized())
        context_leave_mpi(ctx);
    alloc_free(ctx->node_of);
    alloc_free(ctx->node_ranks);
    alloc_free(ctx->leaders);
    alloc_free(ctx->routes);
    if (ctx->broken == FERRY_OK)
        alloc_free(ctx); /* else MPI may still write a verdict into it */
}
