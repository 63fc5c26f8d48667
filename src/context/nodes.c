/* The node map. What MPI says about shared memory is a hint: module memory tries it, and splits the
 * node when it fails. */
#include "context/nodes.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/setting.h"
#include "base/sys.h"
#include "base/trouble.h"

enum { MASK_WORDS = 64 }; /* 4096 cores */

static ferry_status parse_number(const char **text, long *number_out)
{
    char *end = NULL;

    *number_out = strtol(*text, &end, 10);
    if (end == *text || *number_out < 0 || *number_out > 1 << 30)
        return FERRY_ERR_ARG;
    *text = end;
    return FERRY_OK;
}

/* The entry of `rank` in "0,0,1,1"; every entry is read, so that all ranks find the same fault. */
static ferry_status parse_list(const char *text, int rank, int size, int *color_out)
{
    const char *at = text;
    long number = 0;

    for (int i = 0; i < size; i++) {
        if (parse_number(&at, &number) != FERRY_OK || *at != (i < size - 1 ? ',' : '\0'))
            return trouble(
                FERRY_ERR_ARG,
                "FERRY_NODES is \"%.60s\", expected auto, mpi, block:N or %d numbers, one a rank",
                text, size);
        at++;
        if (i == rank)
            *color_out = (int)number;
    }
    return FERRY_OK;
}

/* This rank and the number of ranks that the setting speaks of. */
static void ranks_of_setting(const ferry_context *ctx, bool world, int *rank_out, int *size_out)
{
    MPI_Group all = MPI_GROUP_NULL, own = MPI_GROUP_NULL;
    int translated = MPI_UNDEFINED;

    *rank_out = ctx->rank;
    *size_out = ctx->size;
    if (!world)
        return;
    PMPI_Comm_group(MPI_COMM_WORLD, &all);
    PMPI_Comm_group(ctx->comm, &own);
    PMPI_Group_translate_ranks(own, 1, &ctx->rank, all, &translated);
    if (translated != MPI_UNDEFINED) {
        *rank_out = translated;
        PMPI_Group_size(all, size_out);
    }
    PMPI_Group_free(&own);
    PMPI_Group_free(&all);
}

/* A number that is the same for the ranks of one node; -1 when MPI shall say. */
static ferry_status wanted_color(const ferry_context *ctx, const char *option, int *color_out)
{
    const char *const wanted = option ? option : setting_text(SETTING_NODES);
    const char *at = wanted + strlen("block:");
    int rank = 0, size = 0;
    long block = 0;

    ranks_of_setting(ctx, !option, &rank, &size);
    *color_out = -1;
    if (strcmp(wanted, "auto") == 0)
        return FERRY_OK;
    if (strcmp(wanted, "mpi") == 0) {
        *color_out = ctx->rank;
        return FERRY_OK;
    }
    if (strncmp(wanted, "block:", strlen("block:")) != 0)
        return parse_list(wanted, rank, size, color_out);
    if (parse_number(&at, &block) != FERRY_OK || *at || block < 1)
        return trouble(FERRY_ERR_ARG,
                       "FERRY_NODES is \"%.60s\", expected block:N with N ranks a node, N >= 1",
                       wanted);
    *color_out = rank / (int)block;
    return FERRY_OK;
}

/* Ranks of the whole job on this machine, where the launcher tells; a communicator may hold but
 * some of them. */
static int local_ranks(int at_least)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *const text = getenv(names[i]);
        const int told = text ? atoi(text) : 0;
        at_least = told > at_least ? told : at_least;
    }
    return at_least;
}

/* Spinning pays only when every rank of the machine has a core of its own. */
static ferry_status count_cores(ferry_context *ctx, MPI_Comm machine)
{
    uint64_t mask[MASK_WORDS] = {0}, all[MASK_WORDS] = {0};
    const int allowed = sys_affinity(mask, MASK_WORDS);
    const int quota = sys_cores() < allowed ? sys_cores() : 1 << 20;
    int least = 0, cores = 0;
    ferry_status st = pmpi_status(
        PMPI_Allreduce(mask, all, MASK_WORDS, MPI_UINT64_T, MPI_BOR, machine), "MPI_Allreduce");

    if (st == FERRY_OK)
        st = pmpi_status(PMPI_Allreduce(&quota, &least, 1, MPI_INT, MPI_MIN, machine),
                         "MPI_Allreduce");
    PMPI_Comm_size(machine, &ctx->machine_ranks);
    ctx->machine_ranks = local_ranks(ctx->machine_ranks);
    for (int i = 0; i < MASK_WORDS; i++)
        cores += __builtin_popcountll(all[i]);
    if (cores > least)
        cores = least;
    ctx->spins = ctx->machine_ranks <= cores;
    if (strcmp(setting_text(SETTING_WAIT), "auto") != 0)
        ctx->spins = strcmp(setting_text(SETTING_WAIT), "spin") == 0;
    return st;
}

static ferry_status number_nodes(ferry_context *ctx, const int *leader_of)
{
    ferry_status st = alloc_resize((size_t)ctx->size, sizeof(int), &ctx->node_of);

    if (st == FERRY_OK)
        st = alloc_resize((size_t)ctx->size, sizeof(int), &ctx->leaders);
    if (st == FERRY_OK)
        st = alloc_resize((size_t)ctx->size, sizeof(int), &ctx->node_ranks);
    if (st != FERRY_OK)
        return st;
    ctx->node_count = ctx->node_size = 0;
    for (int rank = 0; rank < ctx->size; rank++) {
        if (leader_of[rank] == rank)
            ctx->leaders[ctx->node_count++] = rank;
        ctx->node_of[rank] =
            leader_of[rank] == rank ? ctx->node_count - 1 : ctx->node_of[leader_of[rank]];
        if (leader_of[rank] != leader_of[ctx->rank])
            continue;
        if (rank == ctx->rank)
            ctx->node_rank = ctx->node_size;
        ctx->node_ranks[ctx->node_size++] = rank;
    }
    ctx->node = ctx->node_of[ctx->rank];
    return FERRY_OK;
}

ferry_status context_map_nodes(ferry_context *ctx, int leader)
{
    int *leader_of = NULL;
    ferry_status st =
        context_agree(ctx, alloc_zero((size_t)ctx->size, sizeof *leader_of, &leader_of));

    if (st != FERRY_OK)
        goto out;
    st = pmpi_status(PMPI_Allgather(&leader, 1, MPI_INT, leader_of, 1, MPI_INT, ctx->comm),
                     "MPI_Allgather");
    if (st == FERRY_OK)
        st = number_nodes(ctx, leader_of);
    st = context_agree(ctx, st);
    if (st != FERRY_OK)
        goto out;
    if (ctx->node_comm != MPI_COMM_NULL)
        PMPI_Comm_free(&ctx->node_comm);
    st = pmpi_status(PMPI_Comm_split(ctx->comm, leader, ctx->rank, &ctx->node_comm),
                     "MPI_Comm_split");
out:
    alloc_free(leader_of);
    return st;
}

ferry_status nodes_find(ferry_context *ctx, const char *wanted)
{
    MPI_Comm machine = MPI_COMM_NULL, group = MPI_COMM_NULL;
    int color = -1, leader = ctx->rank;
    ferry_status st = context_agree(ctx, wanted_color(ctx, wanted, &color));

    if (st != FERRY_OK)
        return st;
    st = pmpi_status(
        PMPI_Comm_split_type(ctx->comm, MPI_COMM_TYPE_SHARED, ctx->rank, MPI_INFO_NULL, &machine),
        "MPI_Comm_split_type");
    if (st == FERRY_OK)
        st = count_cores(ctx, machine);
    if (st == FERRY_OK)
        st = pmpi_status(PMPI_Comm_split(machine, color < 0 ? 0 : color, ctx->rank, &group),
                         "MPI_Comm_split");
    if (st == FERRY_OK)
        st = pmpi_status(PMPI_Allreduce(&ctx->rank, &leader, 1, MPI_INT, MPI_MIN, group),
                         "MPI_Allreduce");
    if (group != MPI_COMM_NULL)
        PMPI_Comm_free(&group);
    if (machine != MPI_COMM_NULL)
        PMPI_Comm_free(&machine);
    return st == FERRY_OK ? context_map_nodes(ctx, leader) : st;
}

int context_node_rank(const ferry_context *ctx, int rank)
{
    int low = 0, high = ctx->node_size;

    while (low < high) {
        const int middle = (low + high) / 2;
        if (ctx->node_ranks[middle] < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < ctx->node_size && ctx->node_ranks[low] == rank ? low : -1;
}
