/* Inside of an unstructured halo. A link is a list of local indices that go to, or come from, one
 * rank; both ends hold lists of one length in one order. A cell that one rank keeps several times,
 * as periodic meshes need it, is in several links, the layers, so that the places of one link are
 * all different, in either direction. */
#ifndef HALO_MESH_H
#define HALO_MESH_H

#include <stdbool.h>

#include "ferry/context.h"
#include "ferry/halo_unstructured.h"
#include "halo/reverse.h"

typedef struct mesh_link {
    int rank, layer;
    bool gives;
    int64_t count;
    const int64_t *cells;   /* local indices: what is given, or where it goes */
    const int64_t *sources; /* of a link of this rank to itself: what is given */
} mesh_link;

struct ferry_mesh {
    ferry_context *ctx;
    ferry_plan *plan;
    halo_reverse reverse;
    int rank, size, field_count;
    int64_t cells, ghosts;
    int64_t element_bytes[FERRY_PLAN_MAX_BUFFERS];
    mesh_link *links; /* by rank; what comes before what goes, then by layer */
    size_t link_count;
    int64_t *lists; /* that the links point into */
    size_t list_numbers;
};

/* A ghost while the mesh is made. */
typedef struct mesh_ghost {
    int rank; /* its owner, and the index there; known at once or found by number */
    int64_t index, place;
    int64_t ordinal; /* in the caller's lists */
} mesh_ghost;

/* mesh_spec.c: check a spec, fill a zeroed mesh and its ghosts (to be freed); not collective. */
ferry_status mesh_read_spec(const ferry_mesh_spec *spec, ferry_mesh *mesh, mesh_ghost **ghosts_out);

/* mesh_owners.c: find the owners of ghosts that are named by number. Collective, agreed. */
ferry_status mesh_find_owners(const ferry_mesh *mesh, const ferry_mesh_spec *spec,
                              mesh_ghost *ghosts);

/* mesh_links.c: tell owners what is needed of them, fill the links. Sorts the ghosts. Collective,
 * agreed. */
ferry_status mesh_make_links(ferry_mesh *mesh, mesh_ghost *ghosts);

/* Numbers for ranks, a parcel for each that gets any. `next[r]`: where the next one for r goes. */
typedef struct mesh_post {
    int64_t *numbers, **next;
    ferry_parcel *parcels;
    size_t count;
} mesh_post;
ferry_status mesh_post_make(int size, const int64_t *counts, mesh_post *post_out);
void mesh_post_drop(mesh_post *post);
static inline void mesh_put(const mesh_post *post, int rank, int64_t number)
{
    *post->next[rank]++ = number;
}

#endif
