/* What the messages are that MPI calls make a library post. */
#ifndef IMBREX_TRANSPORT_DATA_OPERATIONS_H
#define IMBREX_TRANSPORT_DATA_OPERATIONS_H

#include "core/engine.h"

/* By operation: whether its tagged messages are user data, and what its puts and gets are (enum
 * ix_form). */
IX_HIDDEN void ix_sort_operations(uint8_t *is_data, uint8_t *one_sided);

#endif
