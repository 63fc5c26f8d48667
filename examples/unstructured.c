/* Weights wander over a graph that is spread over the ranks: in each step every node passes its weight on to its
 * neighbours, as in PageRank, or as fluxes pass faces in a finite volume scheme. A rank owns some nodes and keeps copies,
 * ghosts, of those at the other ends of its edges.    mpiexec -n 2 ./unstructured
 *
 * First the degrees are assembled: each edge is counted on one rank, at both its ends, and what ghosts have counted goes
 * to their owners. Then ghosts are filled before each step. Every rank also computes the whole graph alone, and both
 * must be the same, bit for bit: sums are taken in the order of the edges, which is the same everywhere. */
#include <ferry/ferry.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 5000, EDGES = 3 * NODES, STEPS = 50 };

/* What a rank knows. Places: first the nodes that it owns, then its ghosts. */
typedef struct graph {
    int64_t owned, ghosts, edges;
    int64_t numbers[NODES];  /* of the nodes in the whole graph, place by place */
    int64_t ends[EDGES][2];  /* places of the ends of each edge that touches a node it owns */
    int counts[EDGES];       /* whether this rank is the one that counts the edge */
    double degree[NODES], weight[2][NODES];
} graph;

static void must(ferry_status status)
{
    if (status == FERRY_OK)
        return;
    fprintf(stderr, "%s: %s\n", ferry_status_text(status), ferry_error_detail());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* --- the graph ------------------------------------------------------------------------------------------ */

static uint64_t mixed(uint64_t x)
{
    x = (x + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9u;
    return x ^ (x >> 32);
}

/* A ring, and two chords from each node to others not far away. */
static int64_t end_of(int64_t edge, int end)
{
    const int64_t a = edge % NODES;

    if (end == 0)
        return a;
    return (a + (edge < NODES ? 1 : 2 + (int64_t)(mixed((uint64_t)edge) % 60))) % NODES;
}

/* Most nodes lie in blocks, one in eight anywhere. */
static int owner_of(int64_t node, int ranks)
{
    const uint64_t dice = mixed((uint64_t)node + EDGES);

    return (int)(dice % 8 ? node * ranks / NODES : (int64_t)(dice / 8 % (uint64_t)ranks));
}

/* The place of a node; one that has none yet becomes a ghost. */
static int64_t place_of(graph *g, int64_t *places, int64_t node)
{
    if (places[node] < 0) {
        places[node] = g->owned + g->ghosts++;
        g->numbers[places[node]] = node;
    }
    return places[node];
}

static graph *make_graph(int rank, int ranks)
{
    graph *const g = calloc(1, sizeof *g);
    static int64_t places[NODES];

    if (!g)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int64_t node = 0; node < NODES; node++) {
        places[node] = owner_of(node, ranks) == rank ? g->owned : -1;
        if (places[node] >= 0)
            g->numbers[g->owned++] = node;
    }
    for (int64_t edge = 0; edge < EDGES; edge++) {
        const int64_t a = end_of(edge, 0), b = end_of(edge, 1);
        if (owner_of(a, ranks) != rank && owner_of(b, ranks) != rank)
            continue;
        g->ends[g->edges][0] = place_of(g, places, a);
        g->ends[g->edges][1] = place_of(g, places, b);
        g->counts[g->edges++] = owner_of(a, ranks) == rank;
    }
    return g;
}

/* --- the work ------------------------------------------------------------------------------------------- */

/* The library finds the owners of ghosts by their numbers. */
static ferry_mesh *make_mesh(ferry_context *ctx, const graph *g)
{
    const int64_t bytes[] = {sizeof(double)};
    const ferry_type types[] = {FERRY_TYPE_FLOAT64};
    ferry_mesh_spec spec = FERRY_MESH_SPEC_INIT;
    ferry_mesh *mesh;

    spec.cells = g->owned;
    spec.ghosts = g->ghosts;
    spec.numbers = g->numbers;
    spec.ghost_numbers = g->numbers + g->owned;
    spec.field_count = 1;
    spec.element_bytes = bytes;
    must(ferry_mesh_create(ctx, &spec, &mesh));
    must(ferry_mesh_reverse_prepare(mesh, FERRY_OP_SUM, types));
    return mesh;
}

/* Without a mesh the graph is whole. */
static void assemble_degrees(graph *g, ferry_mesh *mesh)
{
    for (int64_t i = 0; i < g->edges; i++)
        for (int end = 0; end < 2; end++)
            g->degree[g->ends[i][end]] += g->counts[i];
    if (!mesh)
        return;
    must(ferry_mesh_reverse_exchange(mesh, (void *[]){g->degree})); /* ghosts are added to their owners */
    must(ferry_mesh_exchange(mesh, (void *[]){g->degree}));         /* and get the sums */
}

static void step(const graph *g, const double *now, double *next)
{
    for (int64_t place = 0; place < g->owned + g->ghosts; place++)
        next[place] = 0.15 / NODES;
    for (int64_t i = 0; i < g->edges; i++) {
        const int64_t a = g->ends[i][0], b = g->ends[i][1];
        next[a] += 0.85 * now[b] / g->degree[b];
        next[b] += 0.85 * now[a] / g->degree[a];
    }
}

static const double *run(graph *g, ferry_mesh *mesh)
{
    assemble_degrees(g, mesh);
    for (int64_t place = 0; place < g->owned; place++)
        g->weight[0][place] = 1.0 / NODES;
    for (int i = 0; i < STEPS; i++) {
        double *const now = g->weight[i % 2];
        if (mesh)
            must(ferry_mesh_exchange(mesh, (void *[]){now}));
        step(g, now, g->weight[(i + 1) % 2]);
    }
    return g->weight[STEPS % 2];
}

int main(int argc, char **argv)
{
    ferry_context *ctx;
    int rank, ranks, wrong = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    must(ferry_context_create(MPI_COMM_WORLD, NULL, &ctx));
    graph *const mine = make_graph(rank, ranks), *const whole = make_graph(0, 1);
    ferry_mesh *const mesh = make_mesh(ctx, mine);
    const double *const weight = run(mine, mesh), *const right = run(whole, NULL);
    for (int64_t place = 0; place < mine->owned; place++)
        wrong += memcmp(&weight[place], &right[mine->numbers[place]], sizeof *weight) != 0;
    printf("rank %d: %lld nodes, %lld ghosts, after %d steps %d weights differ from those computed alone\n", rank,
           (long long)mine->owned, (long long)mine->ghosts, STEPS, wrong);
    ferry_mesh_free(mesh);
    free(mine);
    free(whole);
    ferry_context_free(ctx);
    MPI_Finalize();
    return wrong != 0;
}
