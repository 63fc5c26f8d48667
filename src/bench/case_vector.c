/* Case vector: a column of a matrix goes to the partner, whose column arrives in the ghost column
 * next to it. Ranks pair up as r and r xor 1; an odd last rank is idle. */
#include <stdio.h>
#include <stdlib.h>

#include "bench/case_vector.h"
#include "bench/cases.h"
#include "bench/exchange.h"

static const case_key keys[VECTOR_KEYS] = {
    [VECTOR_ROWS] = {"rows", "16384", "rows of the column", 1, 1, INT32_MAX, {NULL}},
    [VECTOR_RUN] = {"run", "1", "elements of a row that are sent", 1, 1, INT32_MAX, {NULL}},
    [VECTOR_STRIDE] =
        {"stride", "64", "elements from row to row, at least 2 * run", 1, 2, INT32_MAX, {NULL}},
    [VECTOR_ELEMENT] = {"e", "8", "bytes of an element", 1, 1, 4096, {NULL}},
};

int vector_check(const bench_case *c, char *error, size_t bytes)
{
    const uint64_t rows = (uint64_t)c->values[VECTOR_ROWS][0],
                   run = (uint64_t)c->values[VECTOR_RUN][0];
    const uint64_t stride = (uint64_t)c->values[VECTOR_STRIDE][0];

    if (stride < 2 * run) {
        snprintf(error, bytes,
                 "%s: stride=%llu; expected at least 2 * run=%llu, for the column and its ghost",
                 c->kind->word, (unsigned long long)stride, (unsigned long long)(2 * run));
        return 1;
    }
    if (rows * run > INT32_MAX) {
        snprintf(error, bytes,
                 "%s: rows * run is %llu; expected at most %d elements, as MPI counts them",
                 c->kind->word, (unsigned long long)(rows * run), INT32_MAX);
        return 1;
    }
    return 0;
}

uint64_t vector_need(const bench_case *c, const char *rivals)
{
    const uint64_t rows = (uint64_t)c->values[VECTOR_ROWS][0],
                   run = (uint64_t)c->values[VECTOR_RUN][0];
    const uint64_t stride = (uint64_t)c->values[VECTOR_STRIDE][0],
                   element = (uint64_t)c->values[VECTOR_ELEMENT][0];

    (void)rivals;
    const uint64_t field = bytes_times(rows * stride, element);
    return bytes_times((uint64_t)c->np, exchange_need(1, field, rows * run * element));
}

/* ferry's way: one edge to the partner, one from it. */
static int compile(exchange *x)
{
    ferry_edge edges[2] = {FERRY_EDGE_INIT, FERRY_EDGE_INIT};
    ferry_layout *out = NULL, *in = NULL;
    const block *const side = &x->blocks[0];
    ferry_plan *plan = NULL;
    ferry_status st = FERRY_OK;

    if (x->message_count > 0) {
        st = exchange_layout(x, &side->send, &out);
        st = st == FERRY_OK ? exchange_layout(x, &side->recv, &in) : st;
        edges[0].from = edges[1].to = x->w->rank;
        edges[0].to = edges[1].from = x->messages[0].to;
        edges[0].source = out;
        edges[1].target = in;
    }
    st = ferry_context_agree(x->w->ctx, st);
    if (st == FERRY_OK)
        st = ferry_plan_compile(x->w->ctx, edges, x->message_count > 0 ? 2 : 0, &plan);
    ferry_layout_free(out);
    ferry_layout_free(in);
    x->carrier = plan;
    return world_ferry(x->w, st, "ferry_plan_compile");
}

static ferry_status carry(exchange *x, char *base)
{
    const ferry_status st = ferry_plan_start(x->carrier, base, base);

    return st == FERRY_OK ? ferry_plan_wait(x->carrier) : st;
}

static void describe_column(exchange *x, const bench_case *c)
{
    const size_t rows = (size_t)c->values[VECTOR_ROWS][0],
                 run = (size_t)c->values[VECTOR_RUN][0] * x->element_bytes;
    const size_t stride = (size_t)c->values[VECTOR_STRIDE][0] * x->element_bytes;
    const int partner = x->w->rank ^ 1;
    block *const side = &x->blocks[0];

    x->field_bytes = rows * stride;
    x->usual_count = 1;
    if (partner >= x->w->size)
        return;
    x->message_count = 1;
    x->messages[0].to = x->messages[0].from = partner;
    side->send_base = run;
    side->recv = (box){0, {1, rows}, {0, stride}, run};
    side->send = (box){run, {1, rows}, {0, stride}, run};
    x->source_count = 1;
    x->sources[0] = side->send;
    MPI_Type_vector((int)rows, (int)c->values[VECTOR_RUN][0], (int)c->values[VECTOR_STRIDE][0],
                    x->element, &side->send_type);
    MPI_Type_commit(&side->send_type);
    MPI_Type_dup(side->send_type, &side->recv_type);
}

static void close_vector(void *job)
{
    exchange *const x = job;

    if (!x)
        return;
    ferry_plan_free(x->carrier);
    exchange_close(x);
    free(x);
}

int vector_make(world *w, const bench_case *c, exchange **x_out)
{
    exchange *const x = exchange_new(w, (size_t)c->values[VECTOR_ELEMENT][0]);

    *x_out = x;
    if (!x)
        return 1;
    x->carry = carry;
    x->carry_name = "ferry_plan_start";
    describe_column(x, c);
    return world_agree(w, compile(x));
}

static int open_vector(world *w, const bench_case *c, measurement *m, void **job_out)
{
    exchange *x = NULL;
    int failed = vector_make(w, c, &x);

    *job_out = x;
    if (failed || exchange_open(x, m))
        return 1;
    ferry_plan_explain(x->carrier, m->explain, sizeof m->explain);
    return 0;
}

const case_kind case_vector = {
    .word = "vector",
    .help =
        "columns of a matrix between pairs of ranks, both ways, into the ghost column next to them",
    .key_count = VECTOR_KEYS,
    .least_np = 2,
    .keys = keys,
    .rivals = {"datatype", "handpack", "handpack-simd", "mpi-pack", "persistent", "neighbor", NULL},
    .check = vector_check,
    .need = vector_need,
    .open = open_vector,
    .close = close_vector,
};
