/* Handles of Open MPI are pointers, those of the MPICH family integers: wrappers made for one
 * cannot even forward to the other. */
#ifndef IMBREX_MPI_LIBRARY_FAMILY_H
#define IMBREX_MPI_LIBRARY_FAMILY_H

#include "base/attributes.h"

/* Ends the program, with one line on stderr, where `image` (of the file `file`) is an MPI library
 * of the other family. One that the program is linked with is never met here: such a program is
 * started again without this object before its main. */
IX_HIDDEN IX_COLD void ix_refuse_other_family(void *image, const char *file);

#endif
