/* Many messages in flight in one direction: the smallest time per message, and so the gap per byte.
 * The sender's buffer is one and warm, the receiver's are few: this is to be the fastest case. */
#include "engine/pace.h"
#include "engine/stats.h"

#include <stdlib.h>

enum { most_in_flight = 64, counts = 3 };

static void batch(engine *e, const pair *p, int size, int messages, char *buffer, size_t stride)
{
    const int tag = 2, other = other_of(e, p);
    MPI_Request requests[most_in_flight];
    MPI_Status statuses[most_in_flight];
    char token = 0;
    if (is_leader(e, p)) {
        for (int i = 0; i < messages; i++)
            MPI_Isend(buffer, size, MPI_CHAR, other, tag, e->data, &requests[i]);
        MPI_Waitall(messages, requests, statuses);
        MPI_Recv(&token, 1, MPI_CHAR, other, tag, e->data, MPI_STATUS_IGNORE);
    } else {
        for (int i = 0; i < messages; i++)
            MPI_Irecv(buffer + (size_t)i * stride, size, MPI_CHAR, other, tag, e->data,
                      &requests[i]);
        /* The leader starts only when all receives are posted. */
        MPI_Send(&token, 1, MPI_CHAR, other, tag + 1, e->data);
        MPI_Waitall(messages, requests, statuses);
        MPI_Send(&token, 1, MPI_CHAR, other, tag, e->data);
    }
}

static void stream(engine *e, const pair *p, size_t size, int messages, double slice_s)
{
    const size_t stride = (size + 127) / 64 * 64;
    char *buffer = touched(is_leader(e, p) ? stride : stride * (size_t)messages);
    samples whole = {0};
    const int64_t end = now_ns() + (int64_t)(slice_s * 1e9);
    do {
        for (int i = 0; i < 5; i++) {
            char token;
            if (is_leader(e, p))
                MPI_Recv(&token, 1, MPI_CHAR, p->partner, 3, e->data, MPI_STATUS_IGNORE);
            const int64_t begin = now_ns();
            batch(e, p, (int)size, messages, buffer, stride);
            samples_add(&whole, (double)(now_ns() - begin));
        }
    } while (agree(e, p, now_ns() < end && whole.count < 1000 && !samples_stable(&whole, 20)));
    if (is_leader(e, p))
        row(e, "stream %s %d %d %zu %d %zu %.0f %.0f", path_name(p), p->leader, p->partner, size,
            messages, whole.count, samples_quantile(&whole, 0), samples_quantile(&whole, 0.5));
    samples_free(&whole);
    free(buffer);
}

static void all_sizes(engine *e, const pair *p)
{
    const size_t most_bytes = e->quick ? (size_t)8 << 20 : (size_t)64 << 20;
    for (size_t size = next_size(e, 0); size && size <= most_bytes; size = next_size(e, size)) {
        const int64_t begin = now_ns();
        const double left = sizes_up_to(e, most_bytes) - sizes_up_to(e, size) + 1;
        for (int messages = 4; messages <= most_in_flight; messages *= 4)
            if (messages == 4 || size * (size_t)messages <= most_bytes)
                stream(e, p, size, messages, slice_of(e, counts * left));
        /* At least 10 batches were sent, in twice the slice unless each is slow. */
        const int too_slow = 1e-9 * (double)(now_ns() - begin) > 40 * e->slice_s || out_of_time(e);
        if (is_leader(e, p) && p->leader == 0)
            report_progress(e, "streaming", progress_of_size(e, size));
        if (agree(e, p, too_slow))
            break;
    }
}

void run_streaming(engine *e)
{
    for_each_pair(e, all_sizes);
}
