/* Epochs of a window with the members of a group: MPI_Win_post, start, complete and wait. The calls
 * that end one name no group, so the one that began it is kept with the window. */
#ifndef IMBREX_MPI_GROUP_EPOCHS_H
#define IMBREX_MPI_GROUP_EPOCHS_H

#include "mpi/logging.h"

/* An exposure or access epoch (`kind` is that of its records) began with `group`, or ended. */
IX_HIDDEN IX_COLD void ix_log_group_epoch_begun(ix_thread *t, MPI_Win win, enum ix_log_kind kind,
                                                MPI_Group group, int assertion);
IX_HIDDEN IX_COLD void ix_log_group_epoch_ended(ix_thread *t, MPI_Win win, enum ix_log_kind kind);

/* With its window. */
IX_HIDDEN void ix_group_epochs_free(struct ix_group_epochs *epochs);

#endif
