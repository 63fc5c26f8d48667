/* The tuning record of a context: who reads it, and how ranks share it. Both ends of an edge choose
 * by it, so that all ranks of a node must have the same one; nodes may differ, since between them
 * nothing is chosen by it. */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/setting.h"
#include "context/context.h"
#include "ferry/experimental.h"
#include "tune/file.h"

/* A file that is of no use is told of once a node and context; it never stops anybody. */
static void read_file(context_tuning *t)
{
    char path[TUNE_PATH_BYTES], why[sizeof t->reason];
    const tune_found found = tune_load(&t->record, why, sizeof why);

    if (tune_path(path) != FERRY_OK)
        snprintf(t->reason, sizeof t->reason, "no folder can be named for its file");
    else if (found == TUNE_READ)
        snprintf(t->reason, sizeof t->reason, "%.600s", path);
    else if (found == TUNE_ABSENT)
        snprintf(t->reason, sizeof t->reason, "no file; \"ferry tune\" makes one");
    else
        snprintf(t->reason, sizeof t->reason, "refused %.600s", why);
    if (found == TUNE_READ)
        t->origin = TUNING_FILE;
    if (found == TUNE_REFUSED)
        log_line(LOG_WARN, "the tuning record is ignored: %s", why);
}

ferry_status context_tune(ferry_context *ctx)
{
    context_tuning *const t = &ctx->tuning;
    MPI_Request request = MPI_REQUEST_NULL;

    t->origin = TUNING_BUILTIN;
    tune_builtin(&t->record);
    if (strcmp(setting_text(SETTING_TUNE), "off") == 0)
        snprintf(t->reason, sizeof t->reason, "FERRY_TUNE is off");
    else if (ctx->node_rank == 0)
        read_file(t);
    const ferry_status st =
        pmpi_status(PMPI_Ibcast(t, sizeof *t, MPI_BYTE, 0, ctx->node_comm, &request), "MPI_Ibcast");
    return st == FERRY_OK ? context_complete(ctx, &request, "MPI_Ibcast") : st;
}

/* ---- The public side ---- */

ferry_status ferry_tune_value(const ferry_context *ctx, int index, ferry_tune_info *info_out)
{
    if (!ctx || !info_out)
        return trouble(FERRY_ERR_ARG, "ferry_tune_value: %s is NULL", ctx ? "info_out" : "ctx");
    if (index < 0 || index >= TUNE_COUNT)
        return trouble(FERRY_ERR_NOT_FOUND, "ferry_tune_value: index is %d, expected 0 to %d",
                       index, TUNE_COUNT - 1);
    const tune_field *const field = &tune_fields[index];
    *info_out = (ferry_tune_info){
        .name = field->name,
        .unit = field->unit,
        .help = field->help,
        .value = context_tuned(ctx, (tune_item)index),
        .builtin = field->value,
        .least = field->least,
        .most = field->most,
    };
    return FERRY_OK;
}

static int item_of(const char *name)
{
    for (int i = 0; name && i < TUNE_COUNT; i++)
        if (strcmp(tune_fields[i].name, name) == 0)
            return i;
    return TUNE_COUNT;
}

static ferry_status check(int item, const char *name, double value)
{
    if (!name)
        return trouble(FERRY_ERR_ARG, "ferry_tune_set: name is NULL");
    if (item == TUNE_COUNT)
        return trouble(FERRY_ERR_ARG, "ferry_tune_set: name is \"%.40s\", which the record lacks",
                       name);
    const tune_field *const field = &tune_fields[item];
    if (!tune_fits((tune_item)item, value))
        return trouble(FERRY_ERR_ARG, "ferry_tune_set: %s is %g %s, expected %s from %g to %g",
                       name, value, field->unit,
                       item == TUNE_SLOT_BYTES          ? "whole pages"
                       : strcmp(field->unit, "ns") == 0 ? "a number"
                                                        : "a whole number",
                       field->least, field->most);
    return FERRY_OK;
}

/* All ranks name the same number and value. */
static ferry_status compare(ferry_context *ctx, int item, double value)
{
    const double mine[4] = {item, -item, value, -value};
    const double *const most = ctx->heaviest;
    MPI_Request request = MPI_REQUEST_NULL;

    memcpy(ctx->weighed, mine, sizeof mine);
    ferry_status st = pmpi_status(
        PMPI_Iallreduce(ctx->weighed, ctx->heaviest, 4, MPI_DOUBLE, MPI_MAX, ctx->comm, &request),
        "MPI_Iallreduce");
    if (st == FERRY_OK)
        st = context_complete(ctx, &request, "MPI_Iallreduce");
    if (st == FERRY_OK && (most[0] != -most[1] || most[2] != -most[3]))
        st = trouble(FERRY_ERR_ARG,
                     "ferry_tune_set: the ranks name different numbers or values (from %g to %g)",
                     -most[3], most[2]);
    return st;
}

ferry_status ferry_tune_set(ferry_context *ctx, const char *name, double value)
{
    const int item = item_of(name);
    ferry_status st = context_usable(ctx, "ferry_tune_set");

    if (st != FERRY_OK)
        return st;
    st = context_agree(ctx, check(item, name, value));
    if (st == FERRY_OK)
        st = compare(ctx, item, value);
    if (st != FERRY_OK)
        return st;
    ctx->tuning.record.values[item] = tune_rounded(value);
    ctx->tuning.origin = TUNING_SET;
    snprintf(ctx->tuning.reason, sizeof ctx->tuning.reason, "changed by ferry_tune_set()");
    return FERRY_OK;
}

ferry_status ferry_tune_save(const ferry_context *ctx)
{
    return ctx ? tune_save(&ctx->tuning.record)
               : trouble(FERRY_ERR_ARG, "ferry_tune_save: ctx is NULL");
}

size_t ferry_tune_path(char *text, size_t bytes)
{
    text_out out = {text, bytes, 0};
    char path[TUNE_PATH_BYTES];

    if (bytes > 0)
        text[0] = '\0';
    if (tune_path(path) == FERRY_OK)
        text_add(&out, "%s", path);
    return out.needed;
}
