#include "engine/clocks.h"

/* Of many round trips the shortest tells most: the partner's stamp lies somewhere within it. */
clock_difference compare_clocks(engine *e, const pair *p)
{
    const int tag = 102, other = other_of(e, p);
    clock_difference best = {0, INT64_MAX, INT64_MAX};
    for (int i = 0; i < 40; i++) {
        int64_t there = 0;
        if (is_leader(e, p)) {
            const int64_t begin = now_ns();
            MPI_Send(&there, 1, MPI_INT64_T, other, tag, e->control);
            MPI_Recv(&there, 1, MPI_INT64_T, other, tag, e->control, MPI_STATUS_IGNORE);
            const int64_t round_trip = now_ns() - begin;
            if (round_trip < best.round_trip_ns)
                best = (clock_difference){there - (begin + round_trip / 2), round_trip / 2 + 1,
                                          round_trip};
        } else {
            MPI_Recv(&there, 1, MPI_INT64_T, other, tag, e->control, MPI_STATUS_IGNORE);
            there = now_ns();
            MPI_Send(&there, 1, MPI_INT64_T, other, tag, e->control);
        }
    }
    /* On one node the clocks are one, unless a container shifted them. */
    if (p->same_node && best.ahead_ns < best.error_ns && best.ahead_ns > -best.error_ns)
        best.ahead_ns = best.error_ns = 0;
    int64_t wire[3] = {best.ahead_ns, best.error_ns, best.round_trip_ns};
    if (is_leader(e, p))
        MPI_Send(wire, 3, MPI_INT64_T, other, tag, e->control);
    else
        MPI_Recv(wire, 3, MPI_INT64_T, other, tag, e->control, MPI_STATUS_IGNORE);
    return (clock_difference){wire[0], wire[1], wire[2]};
}
