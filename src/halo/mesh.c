/* Unstructured halos: the calls. A mesh is links, and a plan for each way; a round is a round of a
 * plan. Knows nothing of how bytes move, or of MPI. */
#include "halo/mesh.h"

#include "base/alloc.h"
#include "base/text.h"
#include "base/trouble.h"

void ferry_mesh_free(ferry_mesh *mesh)
{
    if (!mesh)
        return;
    ferry_plan_free(mesh->plan);
    ferry_plan_free(mesh->reverse.plan);
    alloc_free(mesh->links);
    alloc_free(mesh->lists);
    alloc_free(mesh);
}

/* ---- Edges ---- */

/* `offsets` has room for the longest list. */
static ferry_status make_layout(int64_t *offsets, const int64_t *cells, int64_t count,
                                int64_t element, const ferry_layout **layout_out)
{
    ferry_layout *layout;

    for (int64_t i = 0; i < count; i++)
        offsets[i] = cells[i] * element;
    const ferry_status st = ferry_layout_indexed(count, offsets, NULL, element, 0, &layout);
    if (st == FERRY_OK)
        *layout_out = layout;
    return st;
}

static ferry_status make_edge(const ferry_mesh *mesh, const mesh_link *link, int f, bool reverse,
                              int64_t *offsets, ferry_edge *e)
{
    const bool leaves = link->gives != reverse;

    *e = (ferry_edge)FERRY_EDGE_INIT;
    e->from = leaves ? mesh->rank : link->rank;
    e->to = leaves ? link->rank : mesh->rank;
    e->tag = link->layer * mesh->field_count + f;
    e->buffer = f;
    ferry_status st = make_layout(offsets, link->cells, link->count, mesh->element_bytes[f],
                                  leaves ? &e->source : &e->target);
    if (st == FERRY_OK && link->sources)
        st = make_layout(offsets, link->sources, link->count, mesh->element_bytes[f],
                         leaves ? &e->target : &e->source);
    return st;
}

/* What it has made is dropped by the caller even after a failure. */
static ferry_status make_edges(const ferry_mesh *mesh, bool reverse, halo_edges *edges)
{
    int64_t longest = 0, *offsets = NULL;

    for (size_t i = 0; i < mesh->link_count; i++)
        longest = mesh->links[i].count > longest ? mesh->links[i].count : longest;
    ferry_status st = alloc_zero((size_t)longest, sizeof *offsets, &offsets);
    if (st == FERRY_OK)
        st = alloc_zero(mesh->link_count * (size_t)mesh->field_count, sizeof *edges->list,
                        &edges->list);
    for (size_t i = 0; i < mesh->link_count && st == FERRY_OK; i++)
        for (int f = 0; f < mesh->field_count && st == FERRY_OK; f++)
            st =
                make_edge(mesh, &mesh->links[i], f, reverse, offsets, &edges->list[edges->count++]);
    alloc_free(offsets);
    return st;
}

static ferry_status compile(ferry_mesh *mesh)
{
    halo_edges edges = {0};
    ferry_status st = ferry_context_agree(mesh->ctx, make_edges(mesh, false, &edges));

    if (st == FERRY_OK)
        st = ferry_plan_compile(mesh->ctx, edges.list, edges.count, &mesh->plan);
    halo_drop_edges(&edges);
    return st;
}

/* ---- Making ---- */

/* The part of a rank alone. A failure that it has found will be read on all ranks: say whose it is.
 */
static ferry_status make_alone(ferry_context *ctx, const ferry_mesh_spec *spec,
                               ferry_mesh **mesh_out, mesh_ghost **ghosts_out)
{
    ferry_context_info info;
    ferry_mesh *mesh = NULL;
    ferry_status st = ferry_context_describe(ctx, &info);

    if (st == FERRY_OK && (!spec || !mesh_out))
        return trouble(FERRY_ERR_ARG, "ferry_mesh_create: %s is NULL on rank %d",
                       spec ? "mesh_out" : "spec", info.rank);
    if (st == FERRY_OK)
        st = alloc_zero(1, sizeof *mesh, &mesh);
    if (st != FERRY_OK)
        return st;
    mesh->ctx = ctx;
    mesh->rank = info.rank;
    mesh->size = info.size;
    *mesh_out = mesh; /* freed by the caller, whatever follows */
    st = mesh_read_spec(spec, mesh, ghosts_out);
    if (st != FERRY_OK)
        return trouble(st, "ferry_mesh_create on rank %d: %s", info.rank, trouble_text());
    return FERRY_OK;
}

ferry_status ferry_mesh_create(ferry_context *ctx, const ferry_mesh_spec *spec,
                               ferry_mesh **mesh_out)
{
    ferry_mesh *mesh = NULL;
    mesh_ghost *ghosts = NULL;

    if (!ctx)
        return trouble(FERRY_ERR_ARG, "ferry_mesh_create: ctx is NULL");
    ferry_status st = make_alone(ctx, spec, mesh_out ? &mesh : NULL, &ghosts);
    st = ferry_context_agree(ctx, st);
    if (st == FERRY_OK)
        st = mesh_find_owners(mesh, spec, ghosts);
    if (st == FERRY_OK)
        st = mesh_make_links(mesh, ghosts);
    if (st == FERRY_OK)
        st = compile(mesh);
    if (st == FERRY_OK) {
        *mesh_out = mesh;
        mesh = NULL;
    }
    ferry_mesh_free(mesh);
    alloc_free(ghosts);
    return st;
}

ferry_status ferry_mesh_reverse_prepare(ferry_mesh *mesh, ferry_op op, const ferry_type *types)
{
    static const char call[] = "ferry_mesh_reverse_prepare";
    halo_edges edges = {0};
    int prepared = 0;

    if (!mesh)
        return trouble(FERRY_ERR_ARG, "%s: mesh is NULL", call);
    const halo_reverse_wish wish = {call, mesh->rank, mesh->size, mesh->field_count, op, types};
    ferry_status st = halo_reverse_check(mesh->ctx, &mesh->reverse, &wish, &prepared);
    if (st != FERRY_OK || prepared)
        return st;
    st = ferry_context_agree(mesh->ctx, make_edges(mesh, true, &edges));
    if (st == FERRY_OK)
        st = halo_reverse_compile(mesh->ctx, &mesh->reverse, &wish, &edges);
    halo_drop_edges(&edges);
    return st;
}

/* ---- Rounds ---- */

static ferry_status start(const ferry_mesh *mesh, const char *call, ferry_plan *plan,
                          ferry_plan *other, void *const *fields)
{
    const ferry_status st = halo_reverse_idle(other, call, mesh->rank);

    if (st != FERRY_OK)
        return st;
    if (mesh->link_count == 0)
        return ferry_plan_start_buffers(plan, 0, NULL, NULL);
    if (!fields)
        return trouble(FERRY_ERR_ARG, "%s: fields is NULL on rank %d, expected %d addresses", call,
                       mesh->rank, mesh->field_count);
    for (int f = 0; f < mesh->field_count; f++)
        if (!fields[f])
            return trouble(FERRY_ERR_ARG, "%s: fields[%d] is NULL on rank %d, expected an array",
                           call, f, mesh->rank);
    return ferry_plan_start_buffers(plan, mesh->field_count, (const void *const *)fields, fields);
}

ferry_status ferry_mesh_start(ferry_mesh *mesh, void *const *fields)
{
    static const char call[] = "ferry_mesh_start";

    if (!mesh)
        return trouble(FERRY_ERR_ARG, "%s: mesh is NULL", call);
    return start(mesh, call, mesh->plan, mesh->reverse.plan, fields);
}

ferry_status ferry_mesh_test(ferry_mesh *mesh, int *done_out)
{
    if (!mesh)
        return trouble(FERRY_ERR_ARG, "ferry_mesh_test: mesh is NULL");
    return ferry_plan_test(mesh->plan, done_out);
}

ferry_status ferry_mesh_wait(ferry_mesh *mesh)
{
    if (!mesh)
        return trouble(FERRY_ERR_ARG, "ferry_mesh_wait: mesh is NULL");
    return ferry_plan_wait(mesh->plan);
}

ferry_status ferry_mesh_exchange(ferry_mesh *mesh, void *const *fields)
{
    const ferry_status st = ferry_mesh_start(mesh, fields);

    return st == FERRY_OK ? ferry_plan_wait(mesh->plan) : st;
}

ferry_status ferry_mesh_reverse_start(ferry_mesh *mesh, void *const *fields)
{
    static const char call[] = "ferry_mesh_reverse_start";

    if (!mesh)
        return trouble(FERRY_ERR_ARG, "%s: mesh is NULL", call);
    const ferry_status st = halo_reverse_ready(&mesh->reverse, call);
    return st == FERRY_OK ? start(mesh, call, mesh->reverse.plan, mesh->plan, fields) : st;
}

ferry_status ferry_mesh_reverse_test(ferry_mesh *mesh, int *done_out)
{
    if (!mesh || !done_out)
        return trouble(FERRY_ERR_ARG, "ferry_mesh_reverse_test: %s is NULL",
                       mesh ? "done_out" : "mesh");
    if (mesh->reverse.plan)
        return ferry_plan_test(mesh->reverse.plan, done_out);
    *done_out = 1;
    return FERRY_OK;
}

ferry_status ferry_mesh_reverse_wait(ferry_mesh *mesh)
{
    if (!mesh)
        return trouble(FERRY_ERR_ARG, "ferry_mesh_reverse_wait: mesh is NULL");
    return mesh->reverse.plan ? ferry_plan_wait(mesh->reverse.plan) : FERRY_OK;
}

ferry_status ferry_mesh_reverse_exchange(ferry_mesh *mesh, void *const *fields)
{
    const ferry_status st = ferry_mesh_reverse_start(mesh, fields);

    return st == FERRY_OK ? ferry_plan_wait(mesh->reverse.plan) : st;
}

/* ---- Telling ---- */

ferry_status ferry_mesh_describe(const ferry_mesh *mesh, ferry_plan_info *info_out)
{
    if (!mesh)
        return trouble(FERRY_ERR_ARG, "ferry_mesh_describe: mesh is NULL");
    const ferry_status st = ferry_plan_describe(mesh->plan, info_out);
    if (st != FERRY_OK)
        return st;
    info_out->private_bytes += sizeof *mesh + mesh->link_count * sizeof *mesh->links +
                               mesh->list_numbers * sizeof *mesh->lists;
    return halo_reverse_account(&mesh->reverse, info_out);
}

static int64_t runs_of(const int64_t *cells, int64_t count)
{
    int64_t runs = count > 0;

    for (int64_t i = 1; i < count; i++)
        runs += cells[i] != cells[i - 1] + 1;
    return runs;
}

static void explain_link(const mesh_link *link, text_out *out)
{
    text_add(out, "  %s rank %d: %lld cells in %lld runs", link->gives ? "to" : "from", link->rank,
             (long long)link->count, (long long)runs_of(link->cells, link->count));
    if (link->sources)
        text_add(out, " (itself, of %lld runs)", (long long)runs_of(link->sources, link->count));
    if (link->layer > 0)
        text_add(out, ", copies number %d of the same cells", link->layer + 1);
    text_add(out, "\n");
}

size_t ferry_mesh_explain(const ferry_mesh *mesh, char *text, size_t bytes)
{
    text_out out = {.at = text, .room = bytes};

    if (!mesh) {
        text_add(&out, "none");
        return out.needed;
    }
    text_add(&out, "mesh of rank %d: %lld cells, %lld ghosts, %d fields of", mesh->rank,
             (long long)mesh->cells, (long long)mesh->ghosts, mesh->field_count);
    for (int f = 0; f < mesh->field_count; f++)
        text_add(&out, " %lld", (long long)mesh->element_bytes[f]);
    text_add(&out, " bytes\n");
    for (size_t i = 0; i < mesh->link_count; i++)
        explain_link(&mesh->links[i], &out);
    halo_explain_plan(mesh->plan, &out);
    if (mesh->reverse.plan) {
        text_add(&out, "reverse:\n");
        halo_explain_plan(mesh->reverse.plan, &out);
    }
    return out.needed;
}
