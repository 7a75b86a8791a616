#include "engine/roundtrip.h"

static void exchange(engine *e, const pair *p, size_t size, char *send, char *receive, size_t slots,
                     size_t stride, int64_t count, samples *half_ns)
{
    const int tag = 1, other = other_of(e, p), bytes = (int)size;
    for (int64_t i = 0; i < count; i++) {
        char *out = send + ((size_t)i % slots) * stride,
             *in = receive + ((size_t)i % slots) * stride;
        if (is_leader(e, p)) {
            const int64_t begin = now_ns();
            MPI_Send(out, bytes, MPI_CHAR, other, tag, e->data);
            MPI_Recv(in, bytes, MPI_CHAR, other, tag, e->data, MPI_STATUS_IGNORE);
            if (half_ns)
                samples_add(half_ns, 0.5 * (double)(now_ns() - begin));
        } else {
            MPI_Recv(in, bytes, MPI_CHAR, other, tag, e->data, MPI_STATUS_IGNORE);
            MPI_Send(out, bytes, MPI_CHAR, other, tag, e->data);
        }
    }
}

void half_round_trips(engine *e, const pair *p, size_t size, char *send, char *receive,
                      size_t slots, size_t stride, double slice_s, samples *half_ns)
{
    enum { pilot = 4, least = 8, most = 4000 };
    exchange(e, p, size, send, receive, slots, stride, pilot, NULL);
    const int64_t begin = now_ns();
    exchange(e, p, size, send, receive, slots, stride, pilot, NULL);
    const double one_s = 1e-9 * (double)(now_ns() - begin) / pilot;
    double wanted = slice_s / 8 / one_s;
    const int64_t batch = agree(e, p,
                                wanted < least      ? least
                                : wanted > most / 8 ? most / 8
                                                    : (int64_t)wanted);
    const int64_t end = now_ns() + (int64_t)(slice_s * 1e9);
    do {
        exchange(e, p, size, send, receive, slots, stride, batch, half_ns);
    } while (agree(
        e, p, now_ns() < end && half_ns->count < most && !samples_stable(half_ns, (size_t)batch)));
}
