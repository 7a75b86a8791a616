#include "transport/data_operations.h"

#include <string.h>

#include "generated/operations.h"
#include "transport/onesided.h"

/* Whose messages are the library's own: it agrees on numbers, opens windows and files, and moves
 * one-sided data in ways of its own, which stay with the calls. */
static const char *const not_data[] = {
    "MPI_Comm_",     "MPI_Intercomm_", "MPI_Cart_",     "MPI_Graph_",     "MPI_Dist_graph",
    "MPI_Win_",      "MPI_File_",      "MPI_Barrier",   "MPI_Ibarrier",   "MPI_Put",
    "MPI_Rput",      "MPI_Get",        "MPI_Rget",      "MPI_Accumulate", "MPI_Raccumulate",
    "MPI_Fetch",     "MPI_Compare",    "MPI_Init",      "MPI_Finalize",   "MPI_Session_",
    "MPI_Open_port", "MPI_Close_port", "MPI_Pready",    "MPI_Parrived",   "MPI_Alloc_mem",
    "MPI_Free_mem",  "MPI_Publish",    "MPI_Unpublish", "MPI_Lookup",     "MPI_Abort"};

static const struct {
    const char *name;
    uint8_t form;
} forms[] = {{"MPI_Put", IX_PIECES},          {"MPI_Get", IX_PIECES},
             {"MPI_Rput", IX_PUTS},           {"MPI_Rget", IX_GETS},
             {"MPI_Accumulate", IX_PUTS},     {"MPI_Raccumulate", IX_PUTS},
             {"MPI_Get_accumulate", IX_GETS}, {"MPI_Rget_accumulate", IX_GETS},
             {"MPI_Fetch_and_op", IX_GETS},   {"MPI_Compare_and_swap", IX_GETS}};

void ix_sort_operations(uint8_t *is_data, uint8_t *one_sided)
{
    for (int i = 0; i < IX_OP_COUNT; i++) {
        const char *name = ix_operation_names[i];
        is_data[i] = 1;
        for (size_t j = 0; j < sizeof not_data / sizeof *not_data; j++)
            if (!strncmp(name, not_data[j], strlen(not_data[j])))
                is_data[i] = 0;
        one_sided[i] = IX_NOT_ONE_SIDED;
        for (size_t j = 0; j < sizeof forms / sizeof *forms; j++)
            if (!strcmp(name, forms[j].name))
                one_sided[i] = forms[j].form;
    }
}
