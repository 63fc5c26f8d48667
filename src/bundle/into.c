/* Receiving into a bundle that is there. The message becomes a bundle of its own in memory that the
 * pool keeps, the two are compared, and its values move over: those that lie in the image of the
 * old bundle by pointing into the new image, which takes the old one's place; all others by being
 * copied to where they are. Everything that can fail comes before the first value moves. */
#include <string.h>

#include "bundle/collect.h"
#include "bundle/schema.h"
#include "bundle/value.h"

/* The image of a tree is being replaced: that of the outermost bundle, unless the caller gave its
 * memory and expects the values there. */
static arena *replaced(const tree *root)
{
    arena *const held = root->arena;

    return held && (!held->give || held->read_only) ? held : NULL;
}

/* The image that the values of `t` lie in, when its outer one's lie in `outer`. */
static arena *image_of(const tree *t, arena *outer)
{
    return t->arena ? t->arena : t->in_arena ? outer : NULL;
}

static bool lies_in_image(const value *v)
{
    return !(v->flags & (VALUE_OWNED | VALUE_BORROWED));
}

static bool is_text(const value *v)
{
    return v->type == FERRY_TYPE_STRING || v->type == FERRY_TYPE_BYTES ||
           v->type == FERRY_TYPE_STRINGS;
}

/* --- what may fail --- */

/* Strings and bytes that are the caller's become the bundle's: they are not meant to be written. */
static ferry_status own_text(value *v)
{
    value copy;
    const ferry_status st =
        value_text((ferry_type)v->type, v->text.data, v->text.bytes, false, &copy);

    if (st != FERRY_OK)
        return st;
    v->text = copy.text;
    v->flags = (uint8_t)((v->flags & VALUE_KEY_OWNED) | copy.flags);
    return FERRY_OK;
}

static ferry_status prepare(tree *t, arena *outer, const arena *goes)
{
    arena *const image = image_of(t, outer);
    ferry_status st = FERRY_OK;

    if (image && image != goes && image->read_only)
        return trouble(FERRY_ERR_STATE, "a part of the bundle lies in memory that is read only");
    for (size_t i = 0; i < t->count && st == FERRY_OK; i++) {
        value *const v = &t->values[i];
        if (value_is_tree(v))
            st = prepare(v->child, image, goes);
        else if (is_text(v) && v->flags & VALUE_BORROWED)
            st = own_text(v);
    }
    for (size_t i = 0; t->attributes && i < t->attributes->count && st == FERRY_OK; i++)
        st = prepare(t->attributes->at[i].tree, image, goes);
    return st;
}

/* --- what may not --- */

static void move_value(value *to, const value *from, bool repoint)
{
    const uint8_t about_key = to->flags & VALUE_KEY_OWNED;
    int64_t strides[2][FERRY_ARRAY_MAX_DIMS];

    if (!is_text(to) && to->type != FERRY_TYPE_ARRAY) {
        memcpy(to->scalar, from->scalar, sizeof to->scalar);
    } else if (repoint && lies_in_image(to)) {
        const uint32_t hash = to->hash;
        *to = *from;
        to->hash = hash;
        to->flags |= about_key;
    } else if (is_text(to)) {
        memcpy((void *)value_data(to), value_data(from), value_bytes(to));
        to->flags = (uint8_t)((to->flags & ~VALUE_UTF8) | (from->flags & VALUE_UTF8));
    } else {
        const array_spec source = value_spec(from, strides[0]), target = value_spec(to, strides[1]);
        array_copy(&source, (void *)target.data, target.strides);
    }
}

static void move_tree(tree *to, const tree *from, arena *outer, const arena *goes)
{
    arena *const image = image_of(to, outer);
    const bool repoint = image && image == goes;

    for (size_t i = 0; i < to->count; i++) {
        value *const v = &to->values[i];
        if (repoint && !to->is_list && !(v->flags & VALUE_KEY_OWNED))
            to->keys[i] = from->keys[i];
        if (value_is_tree(v))
            move_tree(v->child, from->values[i].child, image, goes);
        else
            move_value(v, &from->values[i], repoint);
    }
    for (size_t i = 0; to->attributes && i < to->attributes->count; i++)
        move_tree(to->attributes->at[i].tree, from->attributes->at[i].tree, image, goes);
}

/* `got`, of the same schema, is used up. */
static void take_over(ferry_bundle *into, ferry_bundle *got)
{
    arena *const goes = replaced(&into->tree), *const comes = got->tree.arena;

    move_tree(&into->tree, &got->tree, NULL, goes);
    if (goes) {
        const arena old = *goes;
        *goes = *comes;
        *comes = old;
    }
    ferry_bundle_free(got);
}

/* --- both calls --- */

static ferry_status compare(ferry_bundle *into, const ferry_bundle *got)
{
    static const schema_rules rules = {
        .side = {"the bundle", "the message"}, .values = SCHEMA_LENGTHS, .free_dim = -1};
    const ferry_status st = schema_compare(&into->tree, &got->tree, &rules);

    return st == FERRY_OK ? prepare(&into->tree, NULL, replaced(&into->tree)) : st;
}

ferry_status ferry_bundle_recv_into(ferry_context *ctx, int from, int tag, ferry_bundle *into,
                                    ferry_message *message_out)
{
    ferry_bundle *none = NULL, *got;
    arrival a = {.target = &none, .scratch = true};
    ferry_stream_info met;

    if (!into)
        return trouble(FERRY_ERR_ARG, "ferry_bundle_recv_into: into is NULL");
    ferry_status st = move_check_tag(tag, true);
    if (st != FERRY_OK)
        return st;
    st = ferry_stream_recv(ctx, from, tag, arrival_place, &a, &met);
    st = arrival_open(&a, st, &got);
    if (st != FERRY_OK)
        return st;
    st = compare(into, got);
    if (st != FERRY_OK) {
        ferry_bundle_free(got);
        return st;
    }
    take_over(into, got);
    if (message_out)
        *message_out = move_message(&met);
    return FERRY_OK;
}

/* Refuse what comes when this rank has no bundle. */
static ferry_status place_into(void *user, size_t bytes, void **data_out)
{
    arrival *const a = user;

    if (!a->target)
        return trouble(FERRY_ERR_ARG, "ferry_bundle_bcast_into: bundle is NULL");
    return arrival_place(user, bytes, data_out);
}

static ferry_status give(const collection *c, const ferry_bundle *bundle)
{
    ferry_bundle *unused;
    encoding e = {0};
    ferry_status st = move_encode(bundle, &e);

    st = collect_bcast(c, c->root, &e, st, &unused);
    if (!move_broken(st))
        encoding_drop(&e);
    return st;
}

ferry_status ferry_bundle_bcast_into(ferry_context *ctx, ferry_bundle *bundle, int root)
{
    ferry_bundle *none = NULL, *got = NULL;
    arrival a = {.target = bundle ? &none : NULL, .scratch = true};
    collection c;
    ferry_status st = collect_make(ctx, COLLECT_BCAST_INTO, root, 0, &c);

    if (st != FERRY_OK)
        return st;
    if (c.rank == root) {
        st = give(&c, bundle);
    } else {
        st = share_take(ctx, root, place_into, &a);
        st = arrival_settled(&a, st, &got);
        if (st == FERRY_OK)
            st = compare(bundle, got);
    }
    if (!move_broken(st))
        st = collect_agree(&c, st);
    if (st == FERRY_OK && got)
        take_over(bundle, got);
    else
        ferry_bundle_free(got);
    return st;
}
