#include "mpi/types.h"

ix_type_entry ix_types[IX_TYPE_SLOTS];

int64_t ix_type_bytes_slow(MPI_Datatype type)
{
    if (type == MPI_DATATYPE_NULL)
        return 0;
#if MPI_VERSION >= 3
    MPI_Count bytes = 0;
    if (PMPI_Type_size_x(type, &bytes) != MPI_SUCCESS || bytes < 0)
        return 0;
    return (int64_t)bytes;
#else
    int bytes = 0;
    return PMPI_Type_size(type, &bytes) == MPI_SUCCESS && bytes > 0 ? bytes : 0;
#endif
}

static void remember(MPI_Datatype type)
{
    if (type == MPI_DATATYPE_NULL)
        return;
    ix_type_entry *e = &ix_types[ix_type_slot(ix_handle(type))];
    if (e->bytes && e->handle != ix_handle(type))
        e++;
    if (!e->bytes) {
        e->handle = ix_handle(type);
        e->bytes = ix_type_bytes_slow(type);
    }
}

void ix_types_remember(void)
{
    /* The most used first: they win where more than two types share the slots. */
    remember(MPI_BYTE);
    remember(MPI_DOUBLE);
    remember(MPI_INT);
    remember(MPI_CHAR);
    remember(MPI_FLOAT);
#define IX_DATATYPE(name) remember(name);
#include "generated/datatypes.inc"
#undef IX_DATATYPE
}
