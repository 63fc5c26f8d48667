/* What ferry knows of one communicator: its ranks, which of them share a node, the options, and how
 * ranks agree. Knows nothing of routes or plans; shared memory and the engine hang on it as opaque
 * parts of higher modules. */
#ifndef CONTEXT_CONTEXT_H
#define CONTEXT_CONTEXT_H

#include <stdbool.h>

#include "base/trouble.h"
#include "ferry/context.h"
#include "mpi/pmpi.h"
#include "tune/record.h"

/* Tags on the private communicator; all below 32768, the only bound that MPI promises. */
enum {
    CONTEXT_TAG_EDGES = 1,    /* sparse exchange of plan_compile */
    CONTEXT_TAG_NOTES = 6,    /* the edges themselves */
    CONTEXT_TAG_SETUP = 2,    /* carriers made pair by pair */
    CONTEXT_TAG_CAST = 3,     /* streams: pieces of a broadcast */
    CONTEXT_TAG_SWAP = 7,     /* lengths of parcels */
    CONTEXT_TAG_PARCEL = 8,   /* parcels themselves */
    CONTEXT_TAG_ROUND = 1024, /* + channel: rounds of plans */
    CONTEXT_TAG_CHANNELS = 14336,
    CONTEXT_TAG_REPLY = CONTEXT_TAG_ROUND + CONTEXT_TAG_CHANNELS, /* + tag: receivers of streams */
    CONTEXT_TAG_REPLIES = 16384
};

struct memory_arena;
struct plan_engine;

/* What ranks tell each other to agree. */
typedef struct context_verdict {
    int mine, first; /* rank that failed, this one's and the lowest; INT_MAX: none */
    struct {
        ferry_status status;
        char text[TROUBLE_BYTES];
    } said;
} context_verdict;

/* What is known of the machine; the same on all ranks of a node. */
typedef struct context_tuning {
    tune_record record;
    enum { TUNING_BUILTIN, TUNING_FILE, TUNING_SET } origin;
    char reason[640]; /* the file, or why none is used */
} context_tuning;

/* How long a wait of setup has lasted. */
typedef struct context_patience {
    const char *call;
    unsigned looks;
    int64_t began, looked_at_peers;
} context_patience;

/* Waits that last longer look whether the ranks of the node still live, this often. Shorter ones
 * never do. */
#define CONTEXT_PEERS_NS 200000000

struct ferry_context {
    MPI_Comm comm;        /* private duplicate, errors returned; MPI_COMM_NULL once MPI has ended */
    MPI_Comm stream_comm; /* another duplicate, for the first messages of streams: there any tag is
                             the user's */
    MPI_Comm node_comm;   /* ranks of my node; MPI_COMM_NULL likewise */
    int rank, size;
    int node, node_count, node_rank, node_size;
    int *node_of;      /* node of each rank, size numbers */
    int *node_ranks;   /* ranks of my node in order, node_size numbers */
    int *leaders;      /* lowest rank of each node, node_count numbers */
    int machine_ranks; /* ranks of the communicator on this machine, whatever FERRY_NODES says */
    bool spins;        /* every rank of the machine has a core of its own */
    bool simulated; /* FERRY_NODES=mpi: waits ask MPI at every look, for there is nobody else to ask
                     */
    double timeout_s;          /* 0: none */
    const char *progress_kind; /* "none", "thread" or "node" */
    char *routes;              /* allowed, as text; "all" or a list */
    const char *shared_kind;
    char shared_reason[160];
    ferry_status broken; /* not FERRY_OK after a failure that leaves rounds unfinished */
    char broken_text[TROUBLE_BYTES]; /* what happened then */
    uint32_t channels;               /* plans made so far; the same on all ranks */
    ferry_counters counters;
    ferry_status (*progress)(
        ferry_context *ctx); /* of module plan: moves rounds on; NULL at first */
    ferry_status (*look_at_peers)(
        const ferry_context *ctx,
        const char *waited); /* of module memory: ERR_PEER_GONE when a rank of the node has ended;
                                NULL where that cannot be seen */
    context_verdict verdict;
    long long compared[2], most[2]; /* of small reductions of setup; MPI may write here after a
                                       time-out */
    double weighed[4], heaviest[4]; /* likewise */
    context_patience patience;      /* of the wait of setup at hand */
    context_tuning tuning;
    struct memory_arena *arena; /* of module memory; NULL without shared memory */
    struct plan_engine *engine; /* of module plan */
};

/* Duplicate the communicator, compare versions and options, find the nodes. Collective. */
ferry_status context_make(MPI_Comm comm, const ferry_context_options *options,
                          ferry_context **ctx_out);
void context_drop(ferry_context *ctx);

/* Free the communicators: what is left needs no MPI. */
void context_leave_mpi(ferry_context *ctx);

/* Replace the node map: ranks with the same `leader` (the lowest rank of the node, of this rank)
 * share one. Collective. */
ferry_status context_map_nodes(ferry_context *ctx, int leader);

/* Take the tuning record that FERRY_TUNE wants: one rank of the node reads the file. Collective
 * over the node, once the nodes are known. */
ferry_status context_tune(ferry_context *ctx);

static inline double context_tuned(const ferry_context *ctx, tune_item item)
{
    return ctx->tuning.record.values[item];
}

/* The status and text of the lowest rank that failed, on all ranks of the context (of the node);
 * FERRY_OK when none did. Collective. */
ferry_status context_agree(ferry_context *ctx, ferry_status status);
ferry_status context_agree_node(ferry_context *ctx, ferry_status status);

/* Wait for a request of setup while rounds move on. A failure breaks the context, and MPI may still
 * write to where the request points: memory of the caller's is abandoned then. */
ferry_status context_complete(ferry_context *ctx, MPI_Request *request, const char *call);

/* The parts of such a wait: its begin, and what is done between two looks; fails when the time is
 * over or a peer is gone. */
void context_wait_begin(ferry_context *ctx, const char *call);
ferry_status context_idle(void *context);

/* Reduce ctx->compared into ctx->most over all ranks. Collective. */
ferry_status context_reduce(ferry_context *ctx, MPI_Op op);

/* Free memory that a request of setup may point to: kept when the context is broken. */
void context_release(const ferry_context *ctx, void *memory);

/* Rank within my node, or -1 when `rank` is elsewhere. */
int context_node_rank(const ferry_context *ctx, int rank);

/* ERR_STATE with the first trouble when the context is broken; ERR_ARG when it is NULL. */
ferry_status context_usable(const ferry_context *ctx, const char *call);

/* Called in a child process, made by fork: contexts are the parent's, and no call may use one. */
void context_enter_child(void);
bool context_in_child(void);

/* From here on the context may only be freed; keeps the trouble text. Returns `status`. */
ferry_status context_break(ferry_context *ctx, ferry_status status);

/* True when the context's list of routes allows `name`. */
bool context_allows(const ferry_context *ctx, const char *name);

#endif
