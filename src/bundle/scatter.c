/* Scattering: the root sends every rank a part that borrows from the whole, one after another, so
 * that no more than one part is ever packed. */
#include "bundle/collect.h"
#include "bundle/split.h"

static ferry_status check(const collection *c, const ferry_bundle *whole, const split_plan *plan,
                          ferry_bundle *const *part_out)
{
    if (!part_out)
        return trouble(FERRY_ERR_ARG, "%s: part_out is NULL on rank %d", c->call, c->rank);
    if (plan->how != FERRY_SPLIT_ROWS && plan->how != FERRY_SPLIT_COLUMNS &&
        plan->how != FERRY_SPLIT_LISTS)
        return trouble(FERRY_ERR_ARG, "%s: how is %d on rank %d, expected a FERRY_SPLIT_ word",
                       c->call, (int)plan->how, c->rank);
    if (c->rank != c->root)
        return FERRY_OK;
    if (!whole)
        return trouble(FERRY_ERR_ARG, "%s: whole is NULL at the root, rank %d", c->call, c->rank);
    return split_check(&whole->tree, plan);
}

/* Encode a part; `part` keeps what the encoding borrows. */
static ferry_status encode_part(const ferry_bundle *whole, const split_plan *plan, int number,
                                split_part *part, encoding *e)
{
    const ferry_status st = split_make(&whole->tree, plan, number, part);

    return st == FERRY_OK ? move_encode((const ferry_bundle *)part->root, e) : st;
}

static ferry_status send_part(const collection *c, const ferry_bundle *whole,
                              const split_plan *plan, int to)
{
    split_part part = {0};
    encoding e = {0};
    ferry_status st = encode_part(whole, plan, to, &part, &e);

    st = collect_send(c, &e, st, to);
    encoding_drop(&e);
    split_drop(&part);
    return st;
}

static ferry_status keep_part(const ferry_bundle *whole, const split_plan *plan, int number,
                              ferry_bundle **part_out)
{
    split_part part = {0};
    ferry_status st = split_make(&whole->tree, plan, number, &part);

    if (st == FERRY_OK)
        st = ferry_bundle_copy((const ferry_bundle *)part.root, part_out);
    split_drop(&part);
    return st;
}

/* At the root; who comes after a failure is told too. */
static ferry_status give_parts(const collection *c, const ferry_bundle *whole,
                               const split_plan *plan, ferry_bundle **part_out)
{
    verdict v = {0};

    verdict_add(&v, keep_part(whole, plan, c->rank, part_out));
    for (int to = 0; to < c->size; to++) {
        if (to == c->rank)
            continue;
        const ferry_status st = send_part(c, whole, plan, to);
        if (move_broken(st))
            return st;
        verdict_add(&v, st);
    }
    return verdict_end(&v);
}

static ferry_status scatter(const collection *c, const ferry_bundle *whole, const split_plan *plan,
                            ferry_bundle **part_out)
{
    ferry_bundle *part = NULL;
    ferry_status st = collect_open(c, check(c, whole, plan, part_out));

    if (st != FERRY_OK)
        return st;
    st =
        c->rank == c->root ? give_parts(c, whole, plan, &part) : collect_receive(c, c->root, &part);
    if (!move_broken(st))
        st = collect_agree(c, st);
    if (st == FERRY_OK)
        *part_out = part;
    else
        ferry_bundle_free(part);
    return st;
}

ferry_status ferry_bundle_scatter(ferry_context *ctx, const ferry_bundle *whole, ferry_split how,
                                  int root, ferry_bundle **part_out)
{
    collection c;
    const ferry_status st = collect_make(ctx, COLLECT_SCATTER, root, (int)how, &c);

    if (st != FERRY_OK)
        return st;
    return scatter(&c, whole, &(split_plan){how, c.size, NULL}, part_out);
}

ferry_status ferry_bundle_scatterv(ferry_context *ctx, const ferry_bundle *whole, ferry_split how,
                                   const int64_t *counts, int root, ferry_bundle **part_out)
{
    collection c;
    const ferry_status st = collect_make(ctx, COLLECT_SCATTERV, root, (int)how, &c);

    if (st != FERRY_OK)
        return st;
    if (c.rank == root && !counts)
        return collect_open(
            &c, trouble(FERRY_ERR_ARG, "%s: counts is NULL at the root, rank %d", c.call, root));
    return scatter(&c, whole, &(split_plan){how, c.size, c.rank == root ? counts : NULL}, part_out);
}
