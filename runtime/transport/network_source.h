/* What the sources inside a network library, which see its messages, puts and gets, have in common.
 */
#ifndef IMBREX_TRANSPORT_NETWORK_SOURCE_H
#define IMBREX_TRANSPORT_NETWORK_SOURCE_H

#include "transport/onesided.h"
#include "transport/self_messages.h"
#include "transport/event_source.h"

/* What each of them wants to be told. */
#define IX_NETWORK_EVENTS(source_name)                                                             \
    {                                                                                              \
        .name = source_name, .communicator_freed = ix_self_messages_freed,                         \
        .rma_begun = ix_onesided_begun, .rma_over = ix_onesided_over,                              \
        .rma_requested = ix_onesided_requested, .rma_closed = ix_onesided_closed                   \
    }

#endif
