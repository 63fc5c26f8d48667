/* What comes in becomes a bundle; see arrival.h. */
#include "bundle/arrival.h"

#include <string.h>

#include "bundle/pattern.h"
#include "ferry/memory.h"

/* From here on the pool keeps blocks: reuse costs no allocation. */
enum { POOLED = 128 << 10 };

static const char notice_magic[8] = "\x89"
                                    "FERRY!\n";

notice notice_of(ferry_status status)
{
    notice said = {.status = status};

    memcpy(said.magic, notice_magic, sizeof said.magic);
    trouble_copy(said.text, sizeof said.text);
    return said;
}

ferry_status arrival_check(const arrival *a)
{
    if (!a->target)
        return trouble(FERRY_ERR_ARG, "bundle_inout is NULL");
    if (*a->target && (*a->target)->tree.parent)
        return trouble(
            FERRY_ERR_ARG,
            "the bundle to replace is inside another one, expected NULL or an outermost one");
    return FERRY_OK;
}

static ferry_status take_block(arrival *a, size_t bytes)
{
    const ferry_allocator *const from = a->allocator;

    if (!from)
        return ferry_memory_take(a->scratch ? size_max(bytes, POOLED) : bytes, &a->store.block);
    a->store.block = from->take(from->user, bytes);
    if (!a->store.block)
        return trouble(FERRY_ERR_MEMORY, "the caller's allocator has no %zu bytes", bytes);
    a->store.give = from->give;
    a->store.user = from->user;
    if ((uintptr_t)a->store.block % IMAGE_LINE != 0)
        return trouble(FERRY_ERR_ARG, "memory of the caller's allocator at %p is not aligned to %d",
                       a->store.block, (int)IMAGE_LINE);
    return FERRY_OK;
}

static ferry_status take_room(arrival *a, size_t message_bytes)
{
    const size_t bytes = image_message_room(message_bytes);

    a->store.room_bytes = a->scratch ? size_max(bytes, POOLED) : bytes;
    return bytes ? ferry_memory_take(a->store.room_bytes, &a->store.room) : FERRY_OK;
}

static void give_all(arrival *a)
{
    if (a->store.block && a->store.give)
        a->store.give(a->store.user, a->store.block);
    else
        ferry_memory_give(a->store.block);
    ferry_memory_give(a->store.room);
    a->store = (image_store){0};
}

ferry_status arrival_place(void *user, size_t bytes, void **data_out)
{
    arrival *const a = user;
    ferry_status st = arrival_check(a); /* here too: in a broadcast all ranks hear of it */

    if (st == FERRY_OK)
        st = take_block(a, bytes);
    if (st == FERRY_OK)
        st = take_room(a, bytes);
    if (st != FERRY_OK) {
        const notice kept = notice_of(st); /* an allocator may cause trouble of its own */
        give_all(a);
        trouble_keep(kept.text);
        return st;
    }
    a->store.bytes = bytes;
    *data_out = a->store.block;
    return FERRY_OK;
}

ferry_status notice_read(const notice *said)
{
    notice copy = *said;

    copy.text[sizeof copy.text - 1] = '\0';
    trouble_keep(copy.text);
    return copy.status < 0 ? (ferry_status)copy.status : FERRY_ERR_FORMAT;
}

static bool is_notice(const image_store *store)
{
    return store->bytes == sizeof(notice) &&
           memcmp(store->block, notice_magic, sizeof notice_magic) == 0;
}

static bool lacks_head(const image_store *store)
{
    return store->bytes >= sizeof(image_short) &&
           memcmp(store->block, IMAGE_SHORT_MAGIC, sizeof(((image_short *)0)->magic)) == 0;
}

static ferry_status restore_head(arrival *a)
{
    void *whole = NULL;
    size_t bytes = 0;

    if (!pattern_expand(a->store.block, a->store.bytes, &whole, &bytes))
        return trouble(FERRY_ERR_ROUTE, "the schema of this bundle is not known here");
    ferry_memory_give(a->store.block);
    a->store.block = whole;
    a->store.bytes = bytes;
    return FERRY_OK;
}

ferry_status arrival_settle(void *user)
{
    arrival *const a = user;
    ferry_status st = FERRY_OK;

    if (is_notice(&a->store))
        return FERRY_OK;
    a->store.bytes = image_message_bytes(a->store.bytes);
    if (lacks_head(&a->store))
        st = restore_head(a);
    if (st == FERRY_OK)
        st = image_decode_store(&a->store, &a->fresh);
    if (st == FERRY_OK)
        a->store.block = NULL;
    return st;
}

void arrival_again(arrival *a)
{
    ferry_bundle_free(a->fresh);
    a->fresh = NULL;
    give_all(a);
}

ferry_status arrival_settled(arrival *a, ferry_status st, ferry_bundle **bundle_out)
{
    if (move_broken(st))
        return st;
    if (st == FERRY_OK && !a->fresh)
        st = notice_read(a->store.block);
    if (st == FERRY_OK)
        *bundle_out = a->fresh;
    else
        ferry_bundle_free(a->fresh);
    a->fresh = NULL;
    give_all(a);
    return st;
}

ferry_status arrival_open(arrival *a, ferry_status st, ferry_bundle **bundle_out)
{
    if (st == FERRY_OK)
        st = arrival_settle(a);
    return arrival_settled(a, st, bundle_out);
}

static ferry_status replace(const arrival *a, ferry_status st, ferry_bundle *fresh)
{
    if (st != FERRY_OK)
        return st;
    ferry_bundle_free(*a->target);
    *a->target = fresh;
    return FERRY_OK;
}

ferry_status arrival_finish(arrival *a, ferry_status st)
{
    ferry_bundle *fresh = NULL;

    st = arrival_open(a, st, &fresh);
    return replace(a, st, fresh);
}

ferry_status arrival_end(arrival *a, ferry_status st)
{
    ferry_bundle *fresh = NULL;

    st = arrival_settled(a, st, &fresh);
    return replace(a, st, fresh);
}

/* --- streams --- */

ferry_status move_send(ferry_context *ctx, const encoding *e, int to, int tag, bool *started_out)
{
    ferry_stream_request *request = NULL;
    const ferry_status st = ferry_stream_isend(ctx, e->pieces, e->count, to, tag, &request);

    *started_out = st == FERRY_OK;
    return st == FERRY_OK ? ferry_stream_wait(&request, NULL) : st;
}

ferry_status move_check_tag(int tag, bool any)
{
    if ((any && tag == FERRY_ANY_TAG) || (tag >= 0 && tag < MOVE_TAG))
        return FERRY_OK;
    return trouble(FERRY_ERR_ARG, "tag is %d, expected 0 to %d%s", tag, MOVE_TAG - 1,
                   any ? " or FERRY_ANY_TAG" : "");
}

ferry_status move_encode(const ferry_bundle *bundle, encoding *encoding_out)
{
    if (!bundle)
        return trouble(FERRY_ERR_ARG, "the bundle to send is NULL");
    const ferry_status st = encoding_make(&bundle->tree, encoding_out);
    if (st == FERRY_OK)
        encoding_add_tail(encoding_out);
    return st;
}
