/* Reads what ferry_layout_print() writes:
 *
 *     layout  =  "empty"  |  nest { "; " nest } [ ", elements of " BYTES " B" ]
 *     nest    =  "dense " BYTES " B at " OFFSET
 *             |  BYTES " B x [" COUNT " by " STRIDE { ", " COUNT " by " STRIDE } "] at " OFFSET
 *             |  BYTES " B x {" PLACE { ", " PLACE } "} at " OFFSET
 *
 * Where the element is not told it is the longest that divides all runs. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/trouble.h"
#include "layout/layout.h"

typedef struct parser {
    const char *text, *at;
    layout_nest *nests;
    size_t count, room;
} parser;

static ferry_status expected(const parser *p, const char *what)
{
    return trouble(FERRY_ERR_FORMAT, "ferry_layout_parse: at character %zu, \"%.20s\": expected %s",
                   (size_t)(p->at - p->text), p->at, what);
}

/* Spaces may be left out and added. */
static void skip_space(parser *p)
{
    while (isspace((unsigned char)*p->at))
        p->at++;
}

static bool take(parser *p, const char *word)
{
    const size_t length = strlen(word);

    skip_space(p);
    if (strncmp(p->at, word, length) != 0)
        return false;
    p->at += length;
    return true;
}

static ferry_status need(parser *p, const char *word)
{
    return take(p, word) ? FERRY_OK : expected(p, word);
}

static ferry_status number(parser *p, int64_t least, int64_t *number_out)
{
    char *end;

    skip_space(p);
    errno = 0;
    const long long found = strtoll(p->at, &end, 10);
    if (end == p->at || errno != 0 || found < least)
        return expected(p, least > 0    ? "a number of 1 or more"
                           : least == 0 ? "a number of 0 or more"
                                        : "a number of 64 bits");
    p->at = end;
    *number_out = found;
    return FERRY_OK;
}

static ferry_status take_run(parser *p, layout_nest *nest)
{
    int64_t run;
    ferry_status st = number(p, 1, &run);

    if (st == FERRY_OK)
        st = need(p, "B");
    if (st == FERRY_OK)
        nest->run = (size_t)run;
    return st;
}

static ferry_status take_loops(parser *p, layout_nest *nest)
{
    do {
        int64_t count, stride;
        if (nest->dims == FERRY_LAYOUT_MAX_DIMS)
            return expected(p, "at most 8 loops");
        ferry_status st = number(p, 1, &count);
        if (st == FERRY_OK)
            st = need(p, "by");
        if (st == FERRY_OK)
            st = number(p, INT64_MIN, &stride);
        if (st != FERRY_OK)
            return st;
        nest->loop[nest->dims].count = (size_t)count;
        nest->loop[nest->dims++].stride = stride;
    } while (take(p, ","));
    return need(p, "]");
}

/* As many places as there are commas up to the end of the list, and one. */
static size_t places_ahead(const parser *p)
{
    size_t count = 1;

    for (const char *at = p->at; *at && *at != '}'; at++)
        count += *at == ',';
    return count;
}

static ferry_status take_places(parser *p, layout_nest *nest)
{
    ferry_status st = layout_places_take(places_ahead(p), &nest->places);

    if (st != FERRY_OK)
        return st;
    nest->dims = 1;
    nest->loop[0].count = nest->places->count;
    for (size_t i = 0; i < nest->places->count && st == FERRY_OK; i++) {
        if (i > 0)
            st = need(p, ",");
        if (st == FERRY_OK)
            st = number(p, INT64_MIN, &nest->places->at[i]);
    }
    return st == FERRY_OK ? need(p, "}") : st;
}

static ferry_status take_nest(parser *p, layout_nest *nest)
{
    const bool dense = take(p, "dense");
    ferry_status st = take_run(p, nest);

    if (st == FERRY_OK && !dense)
        st = need(p, "x");
    if (st == FERRY_OK && !dense)
        st = take(p, "[")   ? take_loops(p, nest)
             : take(p, "{") ? take_places(p, nest)
                            : expected(p, "[ or {");
    if (st == FERRY_OK)
        st = need(p, "at");
    return st == FERRY_OK ? number(p, INT64_MIN, &nest->offset) : st;
}

static ferry_status take_nests(parser *p)
{
    do {
        if (p->count == p->room) {
            const size_t room = 2 * p->room + 1;
            const ferry_status st = alloc_resize(room, sizeof *p->nests, &p->nests);
            if (st != FERRY_OK)
                return st;
            p->room = room;
        }
        p->nests[p->count] = (layout_nest){.offset = 0};
        const ferry_status st = take_nest(p, &p->nests[p->count++]);
        if (st != FERRY_OK)
            return st;
    } while (take(p, ";"));
    return FERRY_OK;
}

/* The element: told, or what all runs have in common. */
static ferry_status take_element(parser *p, size_t *element_out)
{
    int64_t told = 0;
    const size_t common = layout_common_run(p->nests, p->count);

    *element_out = common;
    if (!take(p, ","))
        return FERRY_OK;
    ferry_status st = need(p, "elements of");
    if (st == FERRY_OK)
        st = number(p, 1, &told);
    if (st == FERRY_OK)
        st = need(p, "B");
    if (st == FERRY_OK && p->count > 0 && common % (size_t)told != 0)
        st = expected(p, "elements that divide every run");
    *element_out = (size_t)told;
    return st;
}

ferry_status ferry_layout_parse(const char *text, ferry_layout **layout_out)
{
    parser p = {.text = text, .at = text};
    size_t element = 1;

    if (!text || !layout_out)
        return trouble(FERRY_ERR_ARG, "ferry_layout_parse: %s is NULL",
                       text ? "layout_out" : "text");
    ferry_status st = take(&p, "empty") ? FERRY_OK : take_nests(&p);
    if (st == FERRY_OK)
        st = take_element(&p, &element);
    skip_space(&p);
    if (st == FERRY_OK && *p.at)
        st = expected(&p, "the end");
    if (st == FERRY_OK)
        st = layout_make(element, p.nests, p.count, layout_out);
    for (size_t i = 0; i < p.count; i++)
        layout_release(&p.nests[i]);
    alloc_free(p.nests);
    return st;
}
