/* Call sites in Python. mpi4py makes all its calls of one MPI function from one place, so their
 * return address tells nothing; the line of Python that called mpi4py does. It is read from the
 * interpreter's own frames, which only this thread changes: without the interpreter's lock, which
 * another thread may hold until this one's message comes. */
#ifndef IMBREX_MPI_PYTHON_LINES_H
#define IMBREX_MPI_PYTHON_LINES_H

#include "base/attributes.h"

/* The process runs no Python interpreter. */
IX_HIDDEN int ix_is_without_python(void);

/* The instruction of Python that made a call with this return address; the return address itself
 * where it does not lie in mpi4py, or where the interpreter's frames are not understood. */
IX_HIDDEN const void *ix_python_caller(const void *returns);

/* Learn how this interpreter lays its frames out, at the exit of MPI_Init, where mpi4py holds the
 * interpreter's lock. Without effect in other programs. */
IX_HIDDEN void ix_python_lines_start(void);

#endif
