/* Messages of a rank to itself: time over size, and whether the send completes without its receive.
 */
#include "engine/engine.h"
#include "engine/stats.h"

#include <stdlib.h>

typedef struct moments {
    int64_t sent;     /* the send had completed */
    int64_t posted;   /* the receive was about to be posted */
    int64_t received; /* the receive had completed */
    int early;        /* the send completed before the receive was posted */
} moments;

static moments one(engine *e, char *out, char *in, int size, int late)
{
    const int tag = 4;
    MPI_Request send, receive;
    moments m = {0};
    int done = 0;
    const int64_t begin = now_ns();
    if (!late) {
        MPI_Irecv(in, size, MPI_CHAR, e->rank, tag, e->data, &receive);
        MPI_Isend(out, size, MPI_CHAR, e->rank, tag, e->data, &send);
    } else {
        MPI_Isend(out, size, MPI_CHAR, e->rank, tag, e->data, &send);
        MPI_Test(&send, &done, MPI_STATUS_IGNORE);
        m.sent = now_ns();
        m.early = done;
        m.posted = now_ns();
        MPI_Irecv(in, size, MPI_CHAR, e->rank, tag, e->data, &receive);
    }
    if (!done) {
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        m.sent = now_ns();
    }
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    m.received = now_ns();
    m.sent -= begin;
    m.received -= begin;
    m.posted = late ? m.posted - begin : 0;
    return m;
}

static void measure(engine *e, size_t size, int cold)
{
    const size_t cold_bytes = (size_t)16 << 20, stride = (size + 127) / 64 * 64;
    const size_t slots = cold && cold_bytes > 2 * stride ? cold_bytes / stride : 1;
    if (cold && slots == 1)
        return;
    char *out = touched(slots * stride), *in = touched(slots * stride);
    samples whole = {0};
    one(e, out, in, (int)size, 0);
    const int64_t end = now_ns() + (int64_t)(e->slice_s * 0.5e9);
    do {
        for (int i = 0; i < 8; i++) {
            const size_t at = whole.count % slots * stride;
            samples_add(&whole, (double)one(e, out + at, in + at, (int)size, 0).received);
        }
    } while (now_ns() < end && whole.count < 4000 && !samples_stable(&whole, 64));
    row(e, "pingpong self 0 0 %zu %s %zu %.0f %.0f %.0f %.0f", size, cold ? "cold" : "warm",
        whole.count, samples_quantile(&whole, 0), samples_quantile(&whole, 0.05),
        samples_quantile(&whole, 0.5), samples_quantile(&whole, 0.95));
    for (int late = 0; late < 2 && !cold; late++)
        for (int i = 0; i < 6; i++) {
            const moments m = one(e, out, in, (int)size, late);
            row(e, "trial self 0 0 %zu %s 0 %lld %lld %lld 0 0 0", size, late ? "late" : "ready",
                (long long)m.sent, (long long)m.posted, (long long)m.received);
        }
    samples_free(&whole);
    free(out);
    free(in);
}

void run_self(engine *e)
{
    if (e->rank == 0)
        for (size_t size = next_size(e, 0); size && !out_of_time(e); size = next_size(e, size)) {
            measure(e, size, 0);
            measure(e, size, 1);
            report_progress(e, "self", progress_of_size(e, size));
        }
    sleepy_barrier(e->control);
}
