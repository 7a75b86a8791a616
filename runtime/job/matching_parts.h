/* What the files of the matching share: the log of this rank, its communicators and its clock, and
 * what is told of messages and of rounds. */
#ifndef IMBREX_JOB_MATCHING_PARTS_H
#define IMBREX_JOB_MATCHING_PARTS_H

#include "analysis/evidence.h"
#include "analysis/telling.h"
#include "analysis/rounds.h"
#include "job/sparse.h"

/* The log of this rank. */
typedef struct ix_matched_log {
    ix_view view;
    const ix_log_header *log;
    int64_t start_ns;   /* of this rank's records, on its clock */
    int64_t *errors_ns; /* by entry of the table of communicators: the largest clock error among the
                         * members; IX_ERROR_NOT_ASKED */
    int is_helped;      /* some rank had a progress thread */
} ix_matched_log;

enum { IX_ERROR_NOT_ASKED = -2 };

/* What is told block by block begins with this. */
typedef struct ix_block_head {
    uint64_t kind, count;
} ix_block_head;

enum ix_block_kind { IX_BLOCK_MESSAGES = 1, IX_BLOCK_ENTERED = 2 };

/* Of matching_log.c; start returns 0, or -1 without memory. */
IX_HIDDEN int ix_matched_log_start(ix_matched_log *m, uint32_t level);
IX_HIDDEN void ix_matched_log_end(ix_matched_log *m);

/* A time of a record on the common clock, and the other way; INT64_MAX stays. */
IX_HIDDEN int64_t ix_record_to_common(const ix_matched_log *m, int64_t record_ns);
IX_HIDDEN int64_t ix_record_from_common(const ix_matched_log *m, int64_t common_ns);

/* As ix_world_rank and ix_facts_of; `context` is an ix_matched_log. */
IX_HIDDEN int32_t ix_matched_world_rank(const void *context, uint32_t comm, int32_t peer);
IX_HIDDEN ix_transfer_facts ix_matched_facts(const void *context, const ix_view *view, uint32_t i);

/* Between two groups the members of both are counted, and either side calls the same one group 0.
 */
IX_HIDDEN int32_t ix_members_of(const ix_log_comm *c);
IX_HIDDEN int ix_group_in(const ix_matched_log *m, const ix_log_comm *c);

/* In MPI_COMM_WORLD; group 0 comes first. */
IX_HIDDEN int32_t ix_member_of(const ix_matched_log *m, const ix_log_comm *c, int32_t member);

IX_HIDDEN int ix_is_root_of(const ix_log_comm *c, const ix_op *op);

/* The largest clock error to any member; IX_CLOCK_UNKNOWN also where members are not known. */
IX_HIDDEN int64_t ix_error_among(const ix_matched_log *m, const ix_log_comm *c);

/* Of matching_messages.c. */
typedef struct ix_message_exchange {
    ix_matched_log *of;
    ix_pairing pairing;
    ix_telling telling;
} ix_message_exchange;

IX_HIDDEN int ix_messages_start(ix_message_exchange *m, ix_matched_log *of);
IX_HIDDEN void ix_messages_end(ix_message_exchange *m);

/* As ix_next_block; and a block of this kind that came. */
IX_HIDDEN size_t ix_messages_tell(ix_message_exchange *m, int *rank, void *block);
IX_HIDDEN void ix_messages_hear(ix_message_exchange *m, int rank, const void *block);

/* Of matching_rounds.c. */

/* What goes to one rank. */
typedef struct ix_addressed {
    int32_t rank;
    uint32_t item;
} ix_addressed;

typedef struct ix_round_exchange {
    ix_matched_log *of;
    /* What this rank tells, by the meeting place. */
    ix_entered *entered;
    ix_addressed *places;
    size_t entered_count, next_entered;
    /* What was told to this rank, and the rounds that it makes of that. */
    ix_entered *heard;
    size_t heard_count, heard_room;
    ix_round *rounds;
    ix_addressed *replies;
    size_t reply_count, next_reply;
    /* The rounds that this rank took part in. */
    ix_round *own;
    size_t own_count, own_room;
} ix_round_exchange;

IX_HIDDEN int ix_round_exchange_start(ix_round_exchange *r, ix_matched_log *of);
IX_HIDDEN void ix_round_exchange_end(ix_round_exchange *r);

/* Who entered what: told and heard as messages are. */
IX_HIDDEN size_t ix_entered_tell(ix_round_exchange *r, int *rank, void *block);
IX_HIDDEN void ix_entered_hear(ix_round_exchange *r, const void *block);

/* The rounds that met here go to their members: as ix_next_block and ix_hear_block. */
IX_HIDDEN void ix_rounds_meet(ix_round_exchange *r);
IX_HIDDEN size_t ix_rounds_tell(void *context, int *rank, void *block);
IX_HIDDEN void ix_rounds_hear(void *context, int rank, const void *block, size_t bytes);

/* Put what was heard into the view. */
IX_HIDDEN void ix_rounds_match(ix_round_exchange *r);

#endif
