/* Who owns the cell of a global number? Nobody can know all cells, so every number has a home, the
 * rank that is asked about it: owners tell the homes of their numbers, and those who need a cell
 * ask its home. A home sees all that claim a number, and so finds those with two owners or none. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/trouble.h"
#include "halo/mesh.h"

typedef struct claim {
    int64_t number, index;
    int rank;
} claim;

typedef struct claims {
    claim *list;
    size_t count;
} claims;

/* ---- Posts ---- */

void mesh_post_drop(mesh_post *post)
{
    alloc_free(post->numbers);
    alloc_free(post->next);
    alloc_free(post->parcels);
    *post = (mesh_post){0};
}

ferry_status mesh_post_make(int size, const int64_t *counts, mesh_post *post_out)
{
    mesh_post post = {0};
    int64_t total = 0;

    for (int r = 0; r < size; r++)
        total += counts[r];
    ferry_status st = alloc_zero((size_t)total, sizeof *post.numbers, &post.numbers);
    if (st == FERRY_OK)
        st = alloc_zero((size_t)size, sizeof *post.next, &post.next);
    if (st == FERRY_OK)
        st = alloc_zero((size_t)size, sizeof *post.parcels, &post.parcels);
    if (st != FERRY_OK) {
        mesh_post_drop(&post);
        return st;
    }
    int64_t *at = post.numbers;
    for (int r = 0; r < size; at += counts[r], r++) {
        post.next[r] = at;
        if (counts[r] > 0)
            post.parcels[post.count++] =
                (ferry_parcel){r, (size_t)counts[r] * sizeof *post.numbers, at};
    }
    *post_out = post;
    return FERRY_OK;
}

/* ---- Asking ---- */

static int home_of(const ferry_mesh *mesh, int64_t number)
{
    return (int)(number % mesh->size);
}

/* For each home: how many numbers are claimed, the claims (number, index), then what is asked. */
static ferry_status write_questions(const ferry_mesh *mesh, const ferry_mesh_spec *spec,
                                    const mesh_ghost *ghosts, mesh_post *post)
{
    const int64_t claimed = spec->numbers ? mesh->cells : 0;
    const int64_t asked = spec->ghost_numbers ? mesh->ghosts : 0;
    int64_t *counts = NULL, *pairs;
    ferry_status st = alloc_zero(2 * (size_t)mesh->size, sizeof *counts, &counts);

    if (st != FERRY_OK)
        return st;
    pairs = counts + mesh->size;
    for (int64_t i = 0; i < claimed; i++) {
        counts[home_of(mesh, spec->numbers[i])] += 2;
        pairs[home_of(mesh, spec->numbers[i])]++;
    }
    for (int64_t i = 0; i < asked; i++)
        counts[home_of(mesh, spec->ghost_numbers[i])]++;
    for (int r = 0; r < mesh->size; r++)
        counts[r] += counts[r] > 0;
    st = mesh_post_make(mesh->size, counts, post);
    for (int r = 0; r < mesh->size && st == FERRY_OK; r++)
        if (counts[r] > 0)
            mesh_put(post, r, pairs[r]);
    for (int64_t i = 0; i < claimed && st == FERRY_OK; i++) {
        mesh_put(post, home_of(mesh, spec->numbers[i]), spec->numbers[i]);
        mesh_put(post, home_of(mesh, spec->numbers[i]), i);
    }
    for (int64_t i = 0; i < asked && st == FERRY_OK; i++) {
        const int64_t number = spec->ghost_numbers[ghosts[i].ordinal];
        mesh_put(post, home_of(mesh, number), number);
    }
    alloc_free(counts);
    return st;
}

/* ---- At home ---- */

static int by_number(const void *a, const void *b)
{
    const claim *const x = a, *const y = b;

    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static int64_t numbers_in(const ferry_parcel *p)
{
    return (int64_t)(p->bytes / sizeof(int64_t));
}

static ferry_status collect(const ferry_parcel *got, size_t count, claims *found)
{
    size_t total = 0;

    for (size_t i = 0; i < count; i++)
        total += (size_t)((const int64_t *)got[i].data)[0];
    const ferry_status st = alloc_zero(total, sizeof *found->list, &found->list);
    if (st != FERRY_OK)
        return st;
    for (size_t i = 0; i < count; i++) {
        const int64_t *const data = got[i].data;
        for (int64_t k = 0; k < data[0]; k++)
            found->list[found->count++] = (claim){data[1 + 2 * k], data[2 + 2 * k], got[i].rank};
    }
    if (total)
        qsort(found->list, total, sizeof *found->list, by_number);
    return FERRY_OK;
}

static ferry_status check_claims(const claims *all)
{
    for (size_t i = 1; i < all->count; i++) {
        const claim *const a = &all->list[i - 1], *const b = &all->list[i];
        if (a->number == b->number)
            return trouble(FERRY_ERR_ARG,
                           "ferry_mesh_create: the cell of number %lld is owned by rank %d "
                           "(numbers[%lld]) and by rank %d (numbers[%lld])",
                           (long long)a->number, a->rank, (long long)a->index, b->rank,
                           (long long)b->index);
    }
    return FERRY_OK;
}

static claim find(const claims *all, int64_t number)
{
    size_t low = 0, high = all->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (all->list[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < all->count && all->list[low].number == number ? all->list[low]
                                                               : (claim){number, -1, -1};
}

/* For each question: rank and index of the owner, -1 when there is none. */
static ferry_status write_answers(const ferry_mesh *mesh, const ferry_parcel *got, size_t count,
                                  mesh_post *post)
{
    claims all = {NULL, 0};
    int64_t *counts = NULL;
    ferry_status st = collect(got, count, &all);

    if (st == FERRY_OK)
        st = check_claims(&all);
    if (st == FERRY_OK)
        st = alloc_zero((size_t)mesh->size, sizeof *counts, &counts);
    for (size_t i = 0; i < count && st == FERRY_OK; i++)
        counts[got[i].rank] = 2 * (numbers_in(&got[i]) - 1 - 2 * ((const int64_t *)got[i].data)[0]);
    if (st == FERRY_OK)
        st = mesh_post_make(mesh->size, counts, post);
    for (size_t i = 0; i < count && st == FERRY_OK; i++) {
        const int64_t *const data = got[i].data;
        for (int64_t k = 1 + 2 * data[0]; k < numbers_in(&got[i]); k++) {
            const claim owner = find(&all, data[k]);
            mesh_put(post, got[i].rank, owner.rank);
            mesh_put(post, got[i].rank, owner.index);
        }
    }
    alloc_free(all.list);
    alloc_free(counts);
    return st;
}

/* ---- Reading ---- */

static ferry_status read_answers(const ferry_mesh *mesh, const ferry_mesh_spec *spec,
                                 const ferry_parcel *got, size_t count, mesh_ghost *ghosts)
{
    const int64_t **next = NULL;
    ferry_status st = alloc_zero((size_t)mesh->size, sizeof *next, &next);

    for (size_t i = 0; i < count && st == FERRY_OK; i++)
        next[got[i].rank] = got[i].data;
    for (int64_t i = 0; spec->ghost_numbers && i < mesh->ghosts && st == FERRY_OK; i++) {
        const int64_t number = spec->ghost_numbers[ghosts[i].ordinal];
        const int64_t **const answer = &next[home_of(mesh, number)];
        ghosts[i].rank = (int)*(*answer)++;
        ghosts[i].index = *(*answer)++;
        if (ghosts[i].rank < 0)
            st = trouble(FERRY_ERR_NOT_FOUND,
                         "ferry_mesh_create: ghost %lld of rank %d is the cell of number %lld, "
                         "which no rank owns",
                         (long long)ghosts[i].ordinal, mesh->rank, (long long)number);
    }
    alloc_free(next);
    return st;
}

ferry_status mesh_find_owners(const ferry_mesh *mesh, const ferry_mesh_spec *spec,
                              mesh_ghost *ghosts)
{
    mesh_post questions = {0}, answers = {0};
    ferry_parcel *asked = NULL, *told = NULL;
    size_t asked_count = 0, told_count = 0;
    ferry_status st =
        ferry_context_agree(mesh->ctx, write_questions(mesh, spec, ghosts, &questions));

    if (st == FERRY_OK)
        st =
            ferry_context_swap(mesh->ctx, questions.parcels, questions.count, &asked, &asked_count);
    if (st == FERRY_OK)
        st = ferry_context_agree(mesh->ctx, write_answers(mesh, asked, asked_count, &answers));
    if (st == FERRY_OK)
        st = ferry_context_swap(mesh->ctx, answers.parcels, answers.count, &told, &told_count);
    if (st == FERRY_OK)
        st = ferry_context_agree(mesh->ctx, read_answers(mesh, spec, told, told_count, ghosts));
    mesh_post_drop(&questions);
    mesh_post_drop(&answers);
    ferry_parcels_free(asked);
    ferry_parcels_free(told);
    return st;
}
