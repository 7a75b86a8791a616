/* Where the library's functions and constants are: found at the first MPI call, because this object
 * is also loaded into programs without MPI and into ones that open the library late. */
#ifndef IMBREX_MPI_LIBRARY_H
#define IMBREX_MPI_LIBRARY_H

#include "base/attributes.h"

extern IX_HIDDEN const char *const ix_real_names[]; /* in the order of ix_real_functions; 0 ends */
extern IX_HIDDEN const char *const ix_data_names[]; /* in the order of IX_DATA_*; 0 ends */

extern IX_HIDDEN int ix_resolved;

/* Fill ix_real and ix_data. Ends the program with one line on stderr when no MPI library is there
 * (then the program calls MPI without having one), or one whose handles are not those of this
 * runtime's. */
IX_HIDDEN IX_COLD void ix_resolve(void);

static inline void ix_resolve_once(void)
{
#ifndef IMBREX_DIRECT
    if (IX_UNLIKELY(!__atomic_load_n(&ix_resolved, __ATOMIC_ACQUIRE)))
        ix_resolve();
#endif
}

#endif
