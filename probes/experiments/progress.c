/* How many MPI_Test calls in the work complete the overlap, and what one costs. */
#include "engine/exchange.h"
#include "engine/pace.h"
#include "engine/stats.h"

#include <stdlib.h>

/* A test that finds nothing: the receive never matches until it is cancelled. */
static void cost_of_test(engine *e, const pair *p)
{
    if (!is_leader(e, p))
        return;
    MPI_Request request;
    samples cost = {0};
    char byte;
    int flag;
    MPI_Irecv(&byte, 1, MPI_CHAR, p->partner, 99, e->data, &request);
    for (int i = 0; i < 200; i++) {
        const int64_t begin = now_ns();
        for (int j = 0; j < 10; j++)
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        samples_add(&cost, (double)(now_ns() - begin) / 10);
    }
    const double test_ns = samples_quantile(&cost, 0.5);
    samples_clear(&cost);
    for (int i = 0; i < 200; i++) {
        const int64_t begin = now_ns();
        for (int j = 0; j < 10; j++)
            MPI_Iprobe(p->partner, 98, e->data, &flag, MPI_STATUS_IGNORE);
        samples_add(&cost, (double)(now_ns() - begin) / 10);
    }
    row(e, "testcost %s %d %d %.1f %.1f", path_name(p), p->leader, p->partner, test_ns,
        samples_quantile(&cost, 0.5));
    samples_free(&cost);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void all_sizes(engine *e, const pair *p)
{
    exchange_setting s = {.e = e, .p = p, .buffer = touched(e->max_bytes), .flavour = registers};
    const size_t smallest = 65536, factor = 4, most = 16 << 20;
    const size_t largest = e->max_bytes < most ? e->max_bytes : most;
    double done = 0;
    int more = 1;
    cost_of_test(e, p);
    for (size_t size = smallest; size <= largest && more; size *= factor) {
        s.clocks = compare_clocks(e, p);
        const double transfer_ns = transfer_estimate(&s, size);
        const int count = agreed_affordable(e, p, done, e->quick ? 7 : 15, e->quick ? 5 : 9);
        for (int tests = 0; tests <= 1024; tests = tests ? tests * (e->quick ? 4 : 2) : 1) {
            const side computing = {0, 2 * transfer_ns, tests};
            exchanges(&s, "progress", size, computing, computing, count);
        }
        done = progress_of_steps(smallest, factor, largest, size);
        report_progress(e, "progress", done);
        /* An exchange takes about three transfers. */
        more = agreed_to_go_on(e, p, 1e-9 * transfer_ns < e->slice_s,
                               3.0 * count * (e->quick ? 7 : 12) * (double)factor * transfer_ns);
    }
    free(s.buffer);
}

void run_progress(engine *e)
{
    for_first_pairs(e, all_sizes);
}
