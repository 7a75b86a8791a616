/* What sources of events that are linked into the program find here: imbrex/source.h. */
#include <string.h>

#include "base/measuring.h"
#include "generated/operations.h"
#include "imbrex/source.h"
#include "mpi/one_sided.h"

static uint32_t operation(const char *name)
{
    for (uint32_t i = 1; i < IX_OP_COUNT; i++)
        if (!strcmp(ix_operation_names[i], name))
            return i;
    return 0;
}

static void *enter(uint32_t number, const void *caller)
{
    return ix_measuring && number ? ix_enter(number, caller) : NULL;
}

static void leave(void *call)
{
    if (call)
        ix_leave(call);
}

/* Libraries of one-sided communication may do a put as an accumulate: the times of that contain
 * both. */
static ix_transfer transfer(enum imbrex_direction direction, int rank, int64_t bytes,
                            enum imbrex_end end)
{
    int path = rank >= 0 && rank < ix_world_size ? ix_world_paths[rank] : IX_PATH_NONE;
    return ix_one_sided(bytes, path, end == IMBREX_LOCAL ? IX_SLACK_TAIL : IX_SLACK_NONE,
                        direction == IMBREX_PUT ? IX_OP_Accumulate : IX_OP_Get_accumulate);
}

static void move(void *call, enum imbrex_direction direction, int rank, int64_t bytes,
                 enum imbrex_end end)
{
    ix_transfer x = transfer(direction, rank, bytes, end);
    if (ix_outermost(call))
        ix_blocking(call, &x);
}

static void begin(void *call, uint64_t group, enum imbrex_direction direction, int rank,
                  int64_t bytes)
{
    ix_transfer x = transfer(direction, rank, bytes, IMBREX_DONE);
    if (ix_outermost(call))
        ix_begin_in_group(call, group, rank, &x);
}

static void finish(void *call, uint64_t group, int rank, enum imbrex_end end)
{
    if (ix_outermost(call))
        ix_finish_group(call, group, rank == IMBREX_EVERYBODY ? IX_ALL : rank,
                        end == IMBREX_LOCAL ? IX_SLACK_TAIL : IX_SLACK_NONE);
}

static void expose(void *call, int delta)
{
    if (ix_outermost(call))
        ix_exposed(call, delta);
}

IX_EXPORT const imbrex_source *imbrex_source_table(uint32_t version)
{
    static const imbrex_source table = {
        IMBREX_SOURCE_VERSION, operation, enter, leave, move, begin, finish, expose};
    return version == IMBREX_SOURCE_VERSION ? &table : NULL;
}
