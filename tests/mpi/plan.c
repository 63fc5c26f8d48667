/* Plans: single blocks of many sizes, transpositions over all ranks, refusals, twins
 * of which one is wrong, and their lives. */
#include "mpi/plan.h"

void check_plan(ferry_context *ctx)
{
    plan_blocks(ctx);
    plan_turns(ctx);
    plan_refusals(ctx);
    if (plan_first_way() || plan_wire_way())
        plan_twins(ctx);
    plan_lives(ctx);
    plan_folds(ctx);
}
