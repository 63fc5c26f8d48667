/** @file
 * Exchanges described by MPI datatypes: the compiled form of MPI_Sendrecv().
 */
#ifndef FERRY_EXCHANGE_H
#define FERRY_EXCHANGE_H

#include "ferry/context.h"
#include "ferry/datatype.h"
#include "ferry/plan.h"
#include "ferry/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What one rank sends and receives. Start from ::FERRY_EXCHANGE_SPEC_INIT. */
typedef struct ferry_exchange_spec {
    size_t size;            /**< sizeof(ferry_exchange_spec) */
    int to;                 /**< rank of the context that receives, or MPI_PROC_NULL: nothing is sent */
    int64_t send_count;     /**< elements sent, >= 0; not looked at without a receiver, like the next one */
    MPI_Datatype send_type; /**< committed; may be freed after the call */
    int from;               /**< rank that sends, or MPI_PROC_NULL: nothing is received. This rank itself when @p to is */
    int64_t recv_count;     /**< elements received, >= 0; not looked at without a sender, like the next one */
    MPI_Datatype recv_type; /**< committed; may be freed after the call */
    int tag;                /**< >= 0, the same at both ends */
} ferry_exchange_spec;

#define FERRY_EXCHANGE_SPEC_INIT \
    {sizeof(ferry_exchange_spec), MPI_PROC_NULL, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, 0, MPI_DATATYPE_NULL, 0}

/**
 * Compile what MPI_Sendrecv() would do with these arguments. Each round then does it once:
 *
 *     MPI_Sendrecv(sent, 1, column, right, 0, ghost, 1, column, left, 0, comm, MPI_STATUS_IGNORE);
 *
 * becomes
 *
 *     ferry_exchange_spec spec = FERRY_EXCHANGE_SPEC_INIT;
 *     spec.to = right;  spec.send_count = 1;  spec.send_type = column;
 *     spec.from = left; spec.recv_count = 1;  spec.recv_type = column;
 *     ferry_exchange_create(ctx, &spec, &plan);
 *
 *     ferry_plan_start(plan, sent, ghost);
 *     ferry_plan_wait(plan);
 *
 * Unlike MPI_Sendrecv() it finds out now whether the two ends agree: a receive takes as many elements as are sent, not
 * fewer, and elements are of one size (::ferry_layout_from_datatype tells which), so that bytes do not meet doubles.
 *
 * @param ctx       context
 * @param spec      borrowed during the call
 * @param plan_out  filled; the caller frees it with ferry_plan_free()
 * @retval FERRY_OK         filled
 * @retval FERRY_ERR_ARG    NULL, a rank out of its range, a negative count or tag, a type that is MPI_DATATYPE_NULL, a
 *                          receive type whose elements share bytes, or a rank that sends to itself but receives from
 *                          another one or the other way round
 * @retval FERRY_ERR_SHAPE  the two ends differ, or only one rank names a transfer; the text names ranks and sizes
 * @retval others           as ferry_layout_from_datatype() and ferry_plan_compile(); after any failure nothing is filled
 *                          and nothing is left
 *
 * Collective   over the context; ranks that take no part give FERRY_EXCHANGE_SPEC_INIT        Blocks   yes
 * Memory       as ferry_plan_describe() tells
 * Threads      one at a time per context    Cost   as ferry_plan_compile()    Since   0.1
 */
FERRY_API ferry_status ferry_exchange_create(ferry_context *ctx, const ferry_exchange_spec *spec, ferry_plan **plan_out);

#ifdef __cplusplus
}
#endif
#endif /* FERRY_EXCHANGE_H */
