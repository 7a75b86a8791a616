/* Which source of events is used on which path: IMBREX_EVENTS is auto,
 * call or a name of sources.def. */
#ifndef IMBREX_TRANSPORT_SOURCES_H
#define IMBREX_TRANSPORT_SOURCES_H

#include "mpi/comms.h"

/* Choose, once the engine runs and before anything is measured. Collective over `all`, a duplicate
 * of MPI_COMM_WORLD. Every rank chooses the same. */
IX_HIDDEN void ix_sources_start(MPI_Comm all);

/* "call" or a name of sources.def, by enum ix_path. */
IX_HIDDEN const char *ix_source_of(int path);

/* Why a source inside the library was tried and not used; NULL if none was, or it is used. */
IX_HIDDEN const char *ix_sources_reason(void);

#endif
