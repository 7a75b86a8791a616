/* Whether a message needs progress, asked without a call, and as the engine describes the transfer
 * that a call begins: by each table of transfer times that is given, for sizes and paths. Prints
 * how many need it and how many do not; fails where the two answers differ. */
#include <stdio.h>
#include <string.h>

#include "core/needing.h"
#include "core/transfers.h"

static const char *const operations[] = {"MPI_Isend"};

static int is_needed_in_call(uint8_t path, int64_t bytes)
{
    const ix_transfer x = {.bytes = bytes, .path = path, .slack = IX_SLACK_TAIL};
    ix_thread *t = ix_enter(0, (const void *)0x100);
    const ix_descriptor *d = ix_describe(t, bytes, ix_pack(&x));
    int needed = d && d->flags & IX_NEEDS_PROGRESS;
    ix_leave_uncounted(t);
    return needed;
}

int main(int argc, char **argv)
{
    const uint8_t paths[] = {IX_PATH_SELF, IX_PATH_INTRA, IX_PATH_INTER, IX_PATH_ANY};
    char error[200];
    int needing[2] = {0, 0};
    ix_options options = {.ranks = 1, .operations = operations, .operation_count = 1};
    ix_start(&options);
    if (ix_count_those_in_need(64))
        return 1;
    for (int table = 1; table < argc; table++) {
        if (ix_load_times(argv[table], strlen(argv[table]), operations, 1, error, sizeof error)) {
            fprintf(stderr, "%s\n", error);
            return 1;
        }
        for (int turn = 0; turn < 2; turn++) /* then from what was kept */
            for (int64_t bytes = 0; bytes < 1 << 21; bytes += 1 + bytes / 3)
                for (size_t i = 0; i < sizeof paths; i++) {
                    int needed = is_needed_in_call(paths[i], bytes);
                    needing[needed]++;
                    if (ix_message_needs_progress(paths[i], bytes) == needed)
                        continue;
                    fprintf(stderr, "table %d: path %d, %lld bytes\n", table, paths[i],
                            (long long)bytes);
                    return 1;
                }
    }
    printf("%d %d\n", needing[1], needing[0]);
    return 0;
}
