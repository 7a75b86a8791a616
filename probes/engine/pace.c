#include "engine/pace.h"

double slice_of(const engine *e, double left)
{
    /* What a measurement takes besides: buffers, pilots, meetings. */
    const double own_share = 0.7;
    const int pairs = e->parts > 0 ? e->parts - e->part : 1;
    const double each_s = own_share * 1e-9 * (double)(e->fair_ns - now_ns()) / (left * pairs);
    return each_s < e->slice_s ? (each_s > 0 ? each_s : 0) : e->slice_s;
}

int affordable(const engine *e, double done, int intended, int least)
{
    const double overall = e->parts > 0 ? (e->part + done) / e->parts : done;
    /* Measurements differ: a little behind is nothing yet. */
    const double slack = 0.1;
    const double spent = (double)(now_ns() - e->begin_ns);
    return spent > (overall + slack) * (double)(e->fair_ns - e->begin_ns) ? least : intended;
}

int agreed_affordable(const engine *e, const pair *p, double done, int intended, int least)
{
    return (int)agree(e, p, affordable(e, done, intended, least));
}

static int go_on(const engine *e, int more, double cost_ns)
{
    const int pairs = e->parts > 0 ? e->parts - e->part : 1;
    return more && cost_ns * pairs < (double)(e->end_ns - now_ns());
}

int agreed_to_go_on(const engine *e, const pair *p, int more, double cost_ns)
{
    return (int)agree(e, p, go_on(e, more, cost_ns));
}

int common_to_go_on(const engine *e, int more, double cost_ns)
{
    int on = go_on(e, more, cost_ns);
    MPI_Bcast(&on, 1, MPI_INT, 0, e->control);
    return on;
}

int common_affordable(const engine *e, double done, int intended, int least)
{
    int count = affordable(e, done, intended, least);
    MPI_Bcast(&count, 1, MPI_INT, 0, e->control);
    return count;
}
