/* Ghosts with known owners become links: each rank sends every owner the list of cells that it
 * needs, in the order of its own list; both ends then cut the list into layers by the same rule. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/trouble.h"
#include "halo/mesh.h"

/* A parcel: the number of fields, bytes of each, then (index, ordinal of the ghost) for each ghost.
 */
static int64_t head_numbers(const ferry_mesh *mesh)
{
    return 1 + mesh->field_count;
}

static int by_owner(const void *a, const void *b)
{
    const mesh_ghost *const x = a, *const y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->ordinal > y->ordinal) - (x->ordinal < y->ordinal);
}

static ferry_status write_needs(const ferry_mesh *mesh, const mesh_ghost *ghosts, mesh_post *post)
{
    int64_t *counts = NULL;
    ferry_status st = alloc_zero((size_t)mesh->size, sizeof *counts, &counts);

    for (int64_t i = 0; i < mesh->ghosts && st == FERRY_OK; i++)
        counts[ghosts[i].rank] += counts[ghosts[i].rank] ? 2 : 2 + head_numbers(mesh);
    if (st == FERRY_OK)
        st = mesh_post_make(mesh->size, counts, post);
    for (int64_t i = 0; i < mesh->ghosts && st == FERRY_OK; i++) {
        const mesh_ghost *const g = &ghosts[i];
        if (i == 0 || ghosts[i - 1].rank != g->rank) {
            mesh_put(post, g->rank, mesh->field_count);
            for (int f = 0; f < mesh->field_count; f++)
                mesh_put(post, g->rank, mesh->element_bytes[f]);
        }
        mesh_put(post, g->rank, g->index);
        mesh_put(post, g->rank, g->ordinal);
    }
    alloc_free(counts);
    return st;
}

/* ---- What others need of this rank ---- */

static ferry_status check_fields(const ferry_mesh *mesh, const ferry_parcel *p)
{
    const int64_t *const head = p->data;

    if (head[0] != mesh->field_count)
        return trouble(FERRY_ERR_ARG,
                       "ferry_mesh_create: field_count is %d on rank %d but %lld on rank %d, "
                       "expected the same on all ranks",
                       mesh->field_count, mesh->rank, (long long)head[0], p->rank);
    for (int f = 0; f < mesh->field_count; f++)
        if (head[1 + f] != mesh->element_bytes[f])
            return trouble(FERRY_ERR_ARG,
                           "ferry_mesh_create: element_bytes[%d] is %lld on rank %d but %lld on "
                           "rank %d, expected the same on all ranks",
                           f, (long long)mesh->element_bytes[f], mesh->rank, (long long)head[1 + f],
                           p->rank);
    return FERRY_OK;
}

static int64_t needed(const ferry_mesh *mesh, const ferry_parcel *p)
{
    return ((int64_t)(p->bytes / sizeof(int64_t)) - head_numbers(mesh)) / 2;
}

static ferry_status check_needs(const ferry_mesh *mesh, const ferry_parcel *p)
{
    const ferry_status st = check_fields(mesh, p);

    if (st != FERRY_OK)
        return st;
    const int64_t *const pairs = (const int64_t *)p->data + head_numbers(mesh);
    for (int64_t i = 0; i < needed(mesh, p); i++)
        if (pairs[2 * i] < 0 || pairs[2 * i] >= mesh->cells)
            return trouble(
                FERRY_ERR_ARG,
                "ferry_mesh_create: ghost %lld of rank %d is cell %lld of rank %d, which "
                "has %lld cells, counted from 0",
                (long long)pairs[2 * i + 1], p->rank, (long long)pairs[2 * i], mesh->rank,
                (long long)mesh->cells);
    return FERRY_OK;
}

/* ---- Layers ---- */

/* One cell of a list that two ranks share: the index at its owner, the place at the other end. */
typedef struct entry {
    int64_t index, place;
    int64_t position; /* in the list */
    int64_t layer;    /* how many of the same index come before */
} entry;

static int by_index(const void *a, const void *b)
{
    const entry *const x = a, *const y = b;

    if (x->index != y->index)
        return x->index < y->index ? -1 : 1;
    return (x->position > y->position) - (x->position < y->position);
}

static int by_layer(const void *a, const void *b)
{
    const entry *const x = a, *const y = b;

    if (x->layer != y->layer)
        return x->layer < y->layer ? -1 : 1;
    return (x->position > y->position) - (x->position < y->position);
}

/* Put entries in the order of layers, and of the list within a layer. */
static void sort_layers(entry *entries, int64_t count)
{
    qsort(entries, (size_t)count, sizeof *entries, by_index);
    for (int64_t i = 1; i < count; i++)
        if (entries[i].index == entries[i - 1].index)
            entries[i].layer = entries[i - 1].layer + 1;
    qsort(entries, (size_t)count, sizeof *entries, by_layer);
}

/* ---- Links ---- */

/* What is made, and where the next list goes. */
typedef struct maker {
    ferry_mesh *mesh;
    entry *entries; /* of the list at hand */
    int64_t *at;
    size_t room; /* links */
} maker;

static ferry_status add_link(maker *m, mesh_link link, const entry *entries)
{
    ferry_mesh *const mesh = m->mesh;
    const bool own = link.rank == mesh->rank;

    if (mesh->link_count == m->room) {
        const size_t room = 2 * m->room + 8;
        const ferry_status st = alloc_resize(room, sizeof *mesh->links, &mesh->links);
        if (st != FERRY_OK)
            return st;
        m->room = room;
    }
    link.cells = m->at;
    for (int64_t i = 0; i < link.count; i++)
        *m->at++ = link.gives ? entries[i].index : entries[i].place;
    link.sources = own ? m->at : NULL;
    for (int64_t i = 0; own && i < link.count; i++)
        *m->at++ = entries[i].index;
    mesh->links[mesh->link_count++] = link;
    return FERRY_OK;
}

/* The entries are a list shared with `rank`. */
static ferry_status add_links(maker *m, int rank, bool gives, int64_t count)
{
    ferry_status st = FERRY_OK;

    sort_layers(m->entries, count);
    for (int64_t i = 0, n; i < count && st == FERRY_OK; i += n) {
        for (n = 1; i + n < count && m->entries[i + n].layer == m->entries[i].layer; n++)
            continue;
        st = add_link(
            m,
            (mesh_link){
                .rank = rank, .layer = (int)m->entries[i].layer, .gives = gives, .count = n},
            &m->entries[i]);
    }
    return st;
}

static ferry_status add_taken(maker *m, const mesh_ghost *ghosts, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        m->entries[i] = (entry){.index = ghosts[i].index, .place = ghosts[i].place, .position = i};
    return add_links(m, ghosts[0].rank, false, count);
}

static ferry_status add_given(maker *m, const ferry_parcel *p)
{
    const int64_t *const pairs = (const int64_t *)p->data + head_numbers(m->mesh);
    const int64_t count = needed(m->mesh, p);

    for (int64_t i = 0; i < count; i++)
        m->entries[i] = (entry){.index = pairs[2 * i], .position = i};
    return add_links(m, p->rank, true, count);
}

static int64_t same_owner(const mesh_ghost *first, int64_t count)
{
    int64_t same = 1;

    while (same < count && first[same].rank == first->rank)
        same++;
    return same;
}

/* Room for all lists, and for the longest one. */
static ferry_status take_room(maker *m, const mesh_ghost *ghosts, const ferry_parcel *got,
                              size_t count)
{
    ferry_mesh *const mesh = m->mesh;
    int64_t numbers = mesh->ghosts, longest = mesh->ghosts;

    for (int64_t i = 0; i < mesh->ghosts; i++)
        numbers += ghosts[i].rank == mesh->rank;
    for (size_t i = 0; i < count; i++) {
        const int64_t one = needed(mesh, &got[i]);
        numbers += got[i].rank == mesh->rank ? 0 : one;
        longest = one > longest ? one : longest;
    }
    ferry_status st = alloc_zero((size_t)longest, sizeof *m->entries, &m->entries);
    if (st == FERRY_OK)
        st = alloc_zero((size_t)numbers, sizeof *mesh->lists, &mesh->lists);
    m->at = mesh->lists;
    mesh->list_numbers = (size_t)numbers;
    return st;
}

/* Both lists are in the order of ranks. */
static ferry_status fill_links(ferry_mesh *mesh, const mesh_ghost *ghosts, const ferry_parcel *got,
                               size_t count)
{
    maker m = {.mesh = mesh};
    size_t k = 0;
    ferry_status st = FERRY_OK;

    for (size_t i = 0; i < count && st == FERRY_OK; i++)
        st = check_needs(mesh, &got[i]);
    if (st == FERRY_OK)
        st = take_room(&m, ghosts, got, count);
    for (int64_t i = 0; (i < mesh->ghosts || k < count) && st == FERRY_OK;) {
        const int taker = k < count ? got[k].rank : mesh->size;
        const int owner = i < mesh->ghosts ? ghosts[i].rank : mesh->size;
        if (owner <= taker) {
            const int64_t same = same_owner(&ghosts[i], mesh->ghosts - i);
            st = add_taken(&m, &ghosts[i], same);
            i += same;
        } else {
            if (taker != mesh->rank) /* whose links have both ends already */
                st = add_given(&m, &got[k]);
            k++;
        }
    }
    alloc_free(m.entries);
    return st;
}

ferry_status mesh_make_links(ferry_mesh *mesh, mesh_ghost *ghosts)
{
    mesh_post needs = {0};
    ferry_parcel *got = NULL;
    size_t count = 0;

    if (mesh->ghosts)
        qsort(ghosts, (size_t)mesh->ghosts, sizeof *ghosts, by_owner);
    ferry_status st = ferry_context_agree(mesh->ctx, write_needs(mesh, ghosts, &needs));
    if (st == FERRY_OK)
        st = ferry_context_swap(mesh->ctx, needs.parcels, needs.count, &got, &count);
    if (st == FERRY_OK)
        st = ferry_context_agree(mesh->ctx, fill_links(mesh, ghosts, got, count));
    mesh_post_drop(&needs);
    ferry_parcels_free(got);
    return st;
}
