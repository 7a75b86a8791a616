#include "mpi/group_epochs.h"

#include <stdlib.h>

/* Towards one member: its rank in the window, and which of the epochs towards it this is. */
typedef struct member {
    int32_t peer;
    uint32_t sequence;
} member;

typedef struct epoch {
    member *members;
    int count, room;
} epoch;

/* A window has at most one of each open at a time. */
typedef struct ix_group_epochs {
    epoch exposure, access;
} ix_group_epochs;

static epoch *epoch_of(const ix_comm *window, enum ix_log_kind kind)
{
    if (!window || !window->epochs)
        return NULL;
    return kind == IX_LOG_EXPOSURE ? &window->epochs->exposure : &window->epochs->access;
}

void ix_group_epochs_free(ix_group_epochs *epochs)
{
    if (!epochs)
        return;
    free(epochs->exposure.members);
    free(epochs->access.members);
    free(epochs);
}

static int make_room(epoch *e, int count)
{
    if (count <= e->room)
        return 0;
    member *more = realloc(e->members, (size_t)count * sizeof *more);
    if (!more)
        return -1;
    e->members = more;
    e->room = count;
    return 0;
}

/* The ranks in the window of the members of `group`, as (not yet numbered) members of the epoch. */
static void find_members(epoch *e, MPI_Win win, MPI_Group group)
{
    MPI_Group all = MPI_GROUP_NULL;
    int count = 0;
    e->count = 0;
    if (PMPI_Group_size(group, &count) != MPI_SUCCESS || count <= 0 || make_room(e, count) ||
        PMPI_Win_get_group(win, &all) != MPI_SUCCESS)
        return;
    int *ranks = malloc(2 * (size_t)count * sizeof *ranks);
    for (int i = 0; ranks && i < count; i++)
        ranks[i] = i;
    if (ranks &&
        PMPI_Group_translate_ranks(group, count, ranks, all, ranks + count) == MPI_SUCCESS) {
        for (int i = 0; i < count; i++)
            e->members[i] = (member){ranks[count + i] < 0 ? IX_LOG_NOBODY : ranks[count + i], 0};
        e->count = count;
    }
    free(ranks);
    PMPI_Group_free(&all);
}

static uint64_t envelope_of(const ix_comm *window, enum ix_log_kind kind, int32_t peer,
                            uint32_t flags)
{
    return ix_logged_envelope(kind, 0, ix_path_in(window, peer), flags);
}

void ix_log_group_epoch_begun(ix_thread *t, MPI_Win win, enum ix_log_kind kind, MPI_Group group,
                              int assertion)
{
    ix_comm *window = ix_log_is_on ? ix_comm_of_window(win) : NULL;
    if (window && !window->epochs)
        window->epochs = calloc(1, sizeof *window->epochs);
    epoch *e = epoch_of(window, kind);
    if (!e)
        return;
    int unchecked = kind == IX_LOG_ACCESS && assertion & MPI_MODE_NOCHECK;
    find_members(e, win, group);
    for (int i = 0; i < e->count; i++) {
        int32_t peer = e->members[i].peer;
        e->members[i].sequence =
            ix_log_epoch_begun(t, ix_log_where(window->number, peer),
                               envelope_of(window, kind, peer, unchecked ? IX_LOG_VARYING : 0));
    }
}

void ix_log_group_epoch_ended(ix_thread *t, MPI_Win win, enum ix_log_kind kind)
{
    const ix_comm *window = ix_log_is_on ? ix_comm_of_window(win) : NULL;
    epoch *e = epoch_of(window, kind);
    for (int i = 0; e && i < e->count; i++)
        ix_log_done(t, 0, ix_log_where(window->number, e->members[i].peer),
                    envelope_of(window, kind, e->members[i].peer, 0), e->members[i].sequence);
    if (e)
        e->count = 0;
}
