/* Prints the bytes that the engine holds with its default limits, and what call sites take of it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/engine.h"

int main(int argc, char **argv)
{
    static const char *operations[640];
    ix_options options = {.ranks = 1, .operations = operations, .operation_count = 640};
    options.threading = (enum ix_threading)(argc > 1 ? atoi(argv[1]) : 0);
    if (ix_start(&options) == IX_START_FAILED)
        return 1;
    const ix_part_header *part = ix_part();
    printf("%lld %llu\n", (long long)ix_memory_bytes(),
           (unsigned long long)(part->sites.capacity * part->sites.entry_bytes));
    return 0;
}
