#include "analysis/facts.h"

#include "core/engine.h"

ix_transfer_facts ix_facts_from_profile(const ix_op *op, uint32_t calibration, int32_t ranks,
                                        uint8_t role)
{
    ix_transfer_facts f = {.time = {.tail_ns = IX_UNKNOWN, .head_ns = IX_UNKNOWN}};
    f.class = ix_path_class(op->path, op->bytes);
    f.handshake = ix_path_handshake(op->path, op->bytes);
    if (op->bytes <= 0)
        return f;
    if (op->kind == IX_LOG_PUT || op->kind == IX_LOG_GET) {
        f.time = ix_collective_time(calibration, 2, IX_ROLE_ANY, op->path, op->bytes);
    } else if (ix_is_collective(op)) {
        f.time = ix_collective_time(calibration, ranks, role, op->path, op->bytes);
        f.partners = ranks - 1;
    } else {
        f.time = ix_path_time(op->path, op->bytes);
        /* A message to oneself is measured in another way: X_lo is all that is known of it. */
        f.least_ns = op->path == IX_PATH_SELF ? 0 : ix_path_least_ns(op->path, op->bytes);
    }
    /* Partitions are messages: X is not that of the whole. */
    if (ix_is_partitioned(op->kind) || op->kind == IX_LOG_PART_ARRIVED)
        f.time.calibrated = 0;
    return f;
}
