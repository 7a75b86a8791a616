/* Matching of collectives: the k-th on a communicator is one round. Each member tells one of them
 * (the round's meeting place, so that the work is spread) when it entered and left, and hears when
 * the first and the last entered, when the root did, and when the last left. Between two groups the
 * members of both are those of the round. Times here are those of the common clock. */
#ifndef IMBREX_ANALYSIS_ROUNDS_H
#define IMBREX_ANALYSIS_ROUNDS_H

#include <stddef.h>

#include "analysis/log_view.h"

/* One member's part of a round. */
typedef struct ix_entered {
    uint32_t comm, sequence;
    int32_t start;   /* of a persistent collective: which of its starts; else 0 */
    int32_t members; /* of comm, of both groups */
    int32_t rank;    /* in MPI_COMM_WORLD, of the teller */
    uint8_t kind;    /* enum ix_log_kind */
    uint8_t is_root;
    uint8_t group; /* of the teller: 0 or 1; 0 where there is one */
    uint8_t reserved;
    int64_t enter_ns, exit_ns;
} ix_entered;

/* A round of which all members told. */
typedef struct ix_round {
    uint32_t comm, sequence;
    int32_t start;
    int32_t last[2]; /* by group: who entered last, in MPI_COMM_WORLD */
    int32_t root;    /* likewise, or -1 */
    int64_t first_enter, root_enter, last_exit;
    int64_t last_enter[2]; /* by group; INT64_MIN: it has no members */
} ix_round;

/* Which member of a communicator of `members` a round meets at: those of group 0 come first. */
int32_t ix_round_place(uint32_t comm, uint32_t sequence, int32_t members);

/* What this rank's record tells; 0 where it has no end, or is none of those that are matched. */
int ix_entered_of(const ix_view *view, uint32_t i, int32_t members, int group, int is_root,
                  ix_entered *told);

/* Sort what members told (any order, any communicators) and put a round into `rounds` (room for
 * `count`) for each that all members told of. Returns how many. */
size_t ix_rounds_of(ix_entered *told, size_t count, ix_round *rounds);

/* Find a round among sorted ones; NULL if it is not there. */
const ix_round *ix_round_find(const ix_round *rounds, size_t count, uint32_t comm,
                              uint32_t sequence, int32_t start);

/* What a round says of record `i`, which is its own part of it; the times of the round are those of
 * this rank's clock. `needs`: the group whose data it needs, the other one where there are two.
 * Where the times cannot be (somebody whom it needed came after it had left), the state is
 * IX_CLOCKS. */
ix_match ix_match_of_round(const ix_view *view, uint32_t i, const ix_round *round, int needs,
                           int is_root, int64_t error_ns);

/* Put rounds of which the parts were met at different places into order. */
void ix_rounds_sort(ix_round *rounds, size_t count);

#endif
