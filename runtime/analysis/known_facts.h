/* What the machine profile says is asked for many transfers alike: the answers, kept. */
#ifndef IMBREX_ANALYSIS_KNOWN_FACTS_H
#define IMBREX_ANALYSIS_KNOWN_FACTS_H

#include "analysis/evidence.h"

/* What the machine profile says of the transfer that record `op` begins; `alone` is filled in. It
 * depends on the record's kind, path, operation and bytes alone, and of a collective on comm and
 * peer. */
typedef ix_transfer_facts ix_facts_of(const void *context, const ix_view *view, uint32_t op);

enum { IX_FACTS_KEPT = 256 };

typedef struct ix_known_facts {
    const ix_view *view;
    ix_facts_of *facts_of;
    const void *context;
    struct ix_facts_kept {
        uint64_t kind; /* and path, operation; 0: empty */
        int64_t bytes;
        uint64_t group; /* of a collective: comm and peer */
        ix_transfer_facts facts;
    } kept[IX_FACTS_KEPT];
} ix_known_facts;

/* On the heap; NULL without memory. */
ix_known_facts *ix_known_facts_new(const ix_view *view, ix_facts_of *facts_of, const void *context);

/* Of record `i`: good until the next question. */
const ix_transfer_facts *ix_known_facts_of(ix_known_facts *known, uint32_t i);

#endif
