/* Reductions. Numbers go up a binomial tree over the ranks to rank 0, each fold being
 * lower op upper, so that the order depends on the number of ranks only; rank 0 gives the result to
 * whoever wants it. Joining is done by the rank that has gathered all parts. */
#include <stdio.h>

#include "base/alloc.h"
#include "bundle/collect.h"
#include "bundle/fold.h"
#include "bundle/join.h"
#include "bundle/schema.h"

static ferry_status check(const collection *c, const ferry_bundle *mine,
                          ferry_bundle *const *result_out, bool wants)
{
    if (c->what < FERRY_BUNDLE_SUM || c->what > FERRY_BUNDLE_LISTS)
        return trouble(FERRY_ERR_ARG, "%s: op is %d on rank %d, expected a FERRY_BUNDLE_ operation",
                       c->call, c->what, c->rank);
    if (!mine || (wants && !result_out))
        return trouble(FERRY_ERR_ARG, "%s: %s is NULL on rank %d", c->call,
                       mine ? "result_out" : "mine", c->rank);
    return fold_is_numeric(c->what) ? fold_check(&mine->tree, c->what) : FERRY_OK;
}

/* --- numbers --- */

/* What has been combined so far on a rank. */
typedef struct partial {
    const ferry_bundle *sum; /* the caller's at first */
    ferry_bundle *own;       /* `sum`, when it is not the caller's */
    verdict verdict;
} partial;

static ferry_status combine(const collection *c, const ferry_bundle *lower, ferry_bundle *upper,
                            int peer)
{
    char sides[2][32];
    const schema_rules rules = {
        .side = {sides[0], sides[1]}, .values = SCHEMA_TEXTS, .free_dim = -1};

    snprintf(sides[0], sizeof sides[0], "rank %d", c->rank);
    snprintf(sides[1], sizeof sides[1], "rank %d", peer);
    const ferry_status st = schema_compare(&lower->tree, &upper->tree, &rules);
    return st == FERRY_OK ? fold(&lower->tree, &upper->tree, (ferry_bundle_op)c->what) : st;
}

/* Take in what a higher rank has combined. */
static ferry_status take_in(const collection *c, partial *p, int peer)
{
    ferry_bundle *got = NULL;
    ferry_status st = collect_receive(c, peer, &got);

    if (move_broken(st))
        return st;
    if (st == FERRY_OK && p->verdict.status == FERRY_OK)
        st = combine(c, p->sum, got, peer);
    verdict_add(&p->verdict, st);
    if (p->verdict.status != FERRY_OK) {
        ferry_bundle_free(got);
        return FERRY_OK;
    }
    ferry_bundle_free(p->own);
    p->sum = p->own = got;
    return FERRY_OK;
}

static ferry_status pass_on(const collection *c, partial *p, int to)
{
    encoding e = {0};
    ferry_status st = verdict_end(&p->verdict);

    if (st == FERRY_OK)
        st = move_encode(p->sum, &e);
    st = collect_send(c, &e, st, to);
    if (move_broken(st))
        return st;
    encoding_drop(&e);
    verdict_add(&p->verdict, st);
    return FERRY_OK;
}

/* In the end rank 0 has everything. */
static ferry_status climb(const collection *c, partial *p)
{
    for (int bit = 1; bit < c->size; bit <<= 1) {
        if (c->rank & bit)
            return pass_on(c, p, c->rank - bit);
        if (c->rank + bit >= c->size)
            continue;
        const ferry_status st = take_in(c, p, c->rank + bit);
        if (st != FERRY_OK)
            return st;
    }
    return FERRY_OK;
}

/* From rank 0 to the root. */
static ferry_status deliver(const collection *c, partial *p)
{
    if (c->root == 0 || (c->rank != 0 && c->rank != c->root))
        return FERRY_OK;
    if (c->rank == 0)
        return pass_on(c, p, c->root);
    ferry_bundle *got = NULL;
    const ferry_status st = collect_receive(c, 0, &got);
    if (move_broken(st))
        return st;
    verdict_add(&p->verdict, st);
    ferry_bundle_free(p->own);
    p->sum = p->own = got;
    return FERRY_OK;
}

/* The one rank that combines nothing needs a copy. */
static void own_result(partial *p)
{
    if (p->verdict.status == FERRY_OK && !p->own)
        verdict_add(&p->verdict, ferry_bundle_copy(p->sum, &p->own));
}

static ferry_status fold_all(const collection *c, partial *p)
{
    const ferry_status st = climb(c, p);

    if (st != FERRY_OK)
        return st;
    if (c->rank == 0)
        own_result(p);
    return FERRY_OK;
}

/* --- joining --- */

static ferry_status join_parts(const collection *c, const ferry_list *parts, ferry_bundle **out)
{
    const ferry_bundle *part;
    const tree **trees;
    ferry_status st = alloc_zero((size_t)c->size, sizeof(tree *), &trees);

    if (st != FERRY_OK)
        return st;
    for (size_t i = 0; i < (size_t)c->size && st == FERRY_OK; i++) {
        st = ferry_list_get_bundle(parts, i, &part);
        trees[i] = &part->tree;
    }
    if (st == FERRY_OK)
        st = join(trees, (size_t)c->size, (ferry_bundle_op)c->what, out);
    alloc_free(trees);
    return st;
}

/* --- both --- */

/* One call on one rank. */
typedef struct job {
    collection c;
    partial p;
    encoding e;        /* joining, not at the root */
    ferry_list *parts; /* joining, at the root */
    bool to_all;
} job;

/* What can fail before the others wait for this rank. */
static ferry_status prepare(job *j, ferry_bundle *const *result_out)
{
    const ferry_status st = check(&j->c, j->p.sum, result_out, j->to_all || j->c.rank == j->c.root);

    if (st != FERRY_OK || fold_is_numeric((ferry_bundle_op)j->c.what))
        return st;
    return j->c.rank == j->c.root ? ferry_list_new(&j->parts) : move_encode(j->p.sum, &j->e);
}

/* The result comes to the root. */
static ferry_status combine_all(job *j)
{
    const bool joins = !fold_is_numeric((ferry_bundle_op)j->c.what);
    ferry_status st =
        joins ? collect_parts(&j->c, j->p.sum, &j->e, j->parts) : fold_all(&j->c, &j->p);

    if (move_broken(st))
        return st;
    if (!joins)
        return deliver(&j->c, &j->p);
    if (st == FERRY_OK && j->parts)
        st = join_parts(&j->c, j->parts, &j->p.own);
    verdict_add(&j->p.verdict, st);
    return FERRY_OK;
}

/* From the root to all. */
static ferry_status spread(job *j)
{
    ferry_bundle *got = NULL;
    encoding e = {0};
    partial *const p = &j->p;
    const bool is_root = j->c.rank == j->c.root;

    if (is_root && p->verdict.status == FERRY_OK)
        verdict_add(&p->verdict, move_encode(p->own, &e));
    const ferry_status st = collect_bcast(&j->c, j->c.root, &e, verdict_end(&p->verdict), &got);
    if (move_broken(st))
        return st;
    encoding_drop(&e);
    verdict_add(&p->verdict, st);
    if (!is_root) {
        ferry_bundle_free(p->own);
        p->own = got;
    }
    return FERRY_OK;
}

static ferry_status run(job *j)
{
    ferry_status st = combine_all(j);

    if (st == FERRY_OK && j->to_all)
        st = spread(j);
    return st == FERRY_OK ? collect_agree(&j->c, verdict_end(&j->p.verdict)) : st;
}

static ferry_status reduce(job *j, const ferry_bundle *mine, ferry_bundle **result_out)
{
    j->p = (partial){.sum = mine};
    ferry_status st = collect_open(&j->c, prepare(j, result_out));

    if (st == FERRY_OK)
        st = run(j);
    if (!move_broken(st))
        encoding_drop(&j->e);
    ferry_list_free(j->parts);
    if (st == FERRY_OK && (j->to_all || j->c.rank == j->c.root))
        *result_out = j->p.own;
    else
        ferry_bundle_free(j->p.own);
    return st;
}

ferry_status ferry_bundle_reduce(ferry_context *ctx, const ferry_bundle *mine, ferry_bundle_op op,
                                 int root, ferry_bundle **result_out)
{
    job j = {0};
    const ferry_status st = collect_make(ctx, COLLECT_REDUCE, root, (int)op, &j.c);

    return st == FERRY_OK ? reduce(&j, mine, result_out) : st;
}

ferry_status ferry_bundle_allreduce(ferry_context *ctx, const ferry_bundle *mine,
                                    ferry_bundle_op op, ferry_bundle **result_out)
{
    job j = {.to_all = true};
    const ferry_status st = collect_make(ctx, COLLECT_ALLREDUCE, 0, (int)op, &j.c);

    return st == FERRY_OK ? reduce(&j, mine, result_out) : st;
}
