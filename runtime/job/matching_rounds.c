/* Rounds of collectives: each rank tells the meeting place of a round when it entered and left, and
 * hears from there when the others did. */
#include <stdlib.h>
#include <string.h>

#include "core/call_logging.h"
#include "job/clocks.h"
#include "job/matching_parts.h"

enum {
    ENTERED_AT_ONCE = (IX_BLOCK_BYTES - sizeof(ix_block_head)) / sizeof(ix_entered),
    ROUNDS_AT_ONCE = IX_BLOCK_BYTES / sizeof(ix_round)
};

static int by_rank(const void *a, const void *b)
{
    const ix_addressed *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->item < y->item ? -1 : x->item > y->item;
}

static const ix_log_comm *comm_of(const ix_op *op)
{
    return ix_is_collective(op) ? ix_log_own_comm(op->comm) : NULL;
}

/* Why a round cannot be matched; IX_NOT_LOGGED: it may be. */
static enum ix_match_state why_not(const ix_matched_log *m, const ix_log_comm *c)
{
    if (c->flags & IX_LOG_FOREIGN)
        return IX_OUTSIDE;
    if (c->flags & IX_LOG_MET)
        return IX_AMBIGUOUS;
    return ix_error_among(m, c) == IX_CLOCK_UNKNOWN ? IX_CLOCKS : IX_NOT_LOGGED;
}

int ix_round_exchange_start(ix_round_exchange *r, ix_matched_log *of)
{
    const ix_view *view = &of->view;
    size_t count = 0;
    r->of = of;
    for (uint32_t i = 0; i < view->count; i++)
        count += ix_is_collective(&view->ops[i]) != 0;
    r->entered = malloc((count + 1) * sizeof *r->entered);
    r->places = malloc((count + 1) * sizeof *r->places);
    r->own = malloc((count + 1) * sizeof *r->own);
    r->own_room = count;
    if (!r->entered || !r->places || !r->own)
        return -1;
    for (uint32_t i = 0; i < view->count; i++) {
        const ix_op *op = &view->ops[i];
        const ix_log_comm *c = comm_of(op);
        if (!c)
            continue;
        ix_match *match = &view->matches[i];
        ix_entered *e = &r->entered[r->entered_count];
        match->peer = -1;
        match->state = (uint8_t)why_not(of, c);
        if (match->state != IX_NOT_LOGGED)
            continue;
        int32_t members = ix_members_of(c);
        if (!ix_entered_of(view, i, members, ix_group_in(of, c), ix_is_root_of(c, op), e)) {
            match->state = IX_END_UNKNOWN;
            continue;
        }
        int32_t place = ix_round_place(e->comm, e->sequence, members);
        e->enter_ns = ix_record_to_common(of, e->enter_ns);
        e->exit_ns = ix_record_to_common(of, e->exit_ns);
        r->places[r->entered_count] =
            (ix_addressed){ix_member_of(of, c, place), (uint32_t)r->entered_count};
        r->entered_count++;
    }
    qsort(r->places, r->entered_count, sizeof *r->places, by_rank);
    return 0;
}

void ix_round_exchange_end(ix_round_exchange *r)
{
    free(r->entered);
    free(r->places);
    free(r->heard);
    free(r->rounds);
    free(r->replies);
    free(r->own);
}

size_t ix_entered_tell(ix_round_exchange *r, int *rank, void *block)
{
    ix_entered *entered = (void *)((char *)block + sizeof(ix_block_head));
    size_t count = 0;
    if (r->next_entered == r->entered_count)
        return 0;
    *rank = r->places[r->next_entered].rank;
    for (; r->next_entered < r->entered_count && count < ENTERED_AT_ONCE &&
           r->places[r->next_entered].rank == *rank;
         r->next_entered++)
        entered[count++] = r->entered[r->places[r->next_entered].item];
    *(ix_block_head *)block = (ix_block_head){IX_BLOCK_ENTERED, count};
    return sizeof(ix_block_head) + count * sizeof *entered;
}

void ix_entered_hear(ix_round_exchange *r, const void *block)
{
    const ix_block_head *head = block;
    if (r->heard_count + head->count > r->heard_room) {
        size_t room = 2 * (r->heard_count + head->count);
        ix_entered *more = realloc(r->heard, room * sizeof *more);
        if (!more) /* these rounds will lack members, and stay unmatched */
            return;
        r->heard = more;
        r->heard_room = room;
    }
    memcpy(r->heard + r->heard_count, (const char *)block + sizeof *head,
           head->count * sizeof *r->heard);
    r->heard_count += head->count;
}

/* Of what was told here: the rounds that all members told of, and who hears of which. */
void ix_rounds_meet(ix_round_exchange *r)
{
    r->rounds = malloc((r->heard_count + 1) * sizeof *r->rounds);
    r->replies = malloc((r->heard_count + 1) * sizeof *r->replies);
    if (!r->rounds || !r->replies)
        return;
    size_t found = ix_rounds_of(r->heard, r->heard_count, r->rounds);
    ix_rounds_sort(r->rounds, found);
    for (size_t i = 0; i < r->heard_count; i++) {
        const ix_entered *e = &r->heard[i];
        const ix_round *round = ix_round_find(r->rounds, found, e->comm, e->sequence, e->start);
        if (round)
            r->replies[r->reply_count++] = (ix_addressed){e->rank, (uint32_t)(round - r->rounds)};
    }
    qsort(r->replies, r->reply_count, sizeof *r->replies, by_rank);
}

size_t ix_rounds_tell(void *context, int *rank, void *block)
{
    ix_round_exchange *r = context;
    ix_round *rounds = block;
    size_t count = 0;
    if (r->next_reply == r->reply_count)
        return 0;
    *rank = r->replies[r->next_reply].rank;
    for (; r->next_reply < r->reply_count && count < ROUNDS_AT_ONCE &&
           r->replies[r->next_reply].rank == *rank;
         r->next_reply++)
        rounds[count++] = r->rounds[r->replies[r->next_reply].item];
    return count * sizeof *rounds;
}

void ix_rounds_hear(void *context, int rank, const void *block, size_t bytes)
{
    ix_round_exchange *r = context;
    size_t count = bytes / sizeof(ix_round);
    (void)rank;
    if (count > r->own_room - r->own_count)
        count = r->own_room - r->own_count;
    memcpy(r->own + r->own_count, block, count * sizeof(ix_round));
    r->own_count += count;
}

void ix_rounds_match(ix_round_exchange *r)
{
    const ix_view *view = &r->of->view;
    ix_rounds_sort(r->own, r->own_count);
    for (uint32_t i = 0; i < view->count; i++) {
        const ix_op *op = &view->ops[i];
        const ix_log_comm *c = view->matches[i].state == IX_NOT_LOGGED ? comm_of(op) : NULL;
        ix_entered e;
        if (!c || !ix_entered_of(view, i, ix_members_of(c), 0, 0, &e))
            continue;
        const ix_round *there = ix_round_find(r->own, r->own_count, e.comm, e.sequence, e.start);
        if (!there)
            continue;
        ix_round mine = *there;
        mine.first_enter = ix_record_from_common(r->of, mine.first_enter);
        for (int group = 0; group < 2; group++)
            if (mine.last_enter[group] != INT64_MIN)
                mine.last_enter[group] = ix_record_from_common(r->of, mine.last_enter[group]);
        mine.root_enter = ix_record_from_common(r->of, mine.root_enter);
        mine.last_exit = ix_record_from_common(r->of, mine.last_exit);
        int needs = c->flags & IX_LOG_INTER ? !ix_group_in(r->of, c) : 0;
        view->matches[i] = ix_match_of_round(view, i, &mine, needs, ix_is_root_of(c, op),
                                             ix_error_among(r->of, c));
    }
}
