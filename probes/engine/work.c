#include "engine/work.h"

#include "engine/engine.h"

#include <stdlib.h>

const char *const flavour_names[flavours] = {"registers", "streaming"};

/* More than a core's own caches hold; a unit goes on where the last one stopped. */
enum { stream_doubles = 1 << 20, doubles_per_unit = 128, steps_per_unit = 32 };
static double *stream_from, *stream_to;
static size_t stream_at;
static double measured_ns[flavours];
/* Read and written by every piece of work, so that none is moved or left out. */
static volatile double sink = 1.0;

static void work_in_registers(int64_t units)
{
    double x = sink;
    /* Each step needs the one before: the compiler cannot shorten the chain. */
    for (int64_t i = 0; i < units * steps_per_unit; i++)
        x = x * 0.999999 + 1e-6;
    sink = x;
}

static void work_through_memory(int64_t units)
{
    for (int64_t u = 0; u < units; u++) {
        const double *from = stream_from + stream_at;
        double *to = stream_to + stream_at;
        for (int i = 0; i < doubles_per_unit; i++)
            to[i] = 0.5 * to[i] + from[i];
        stream_at = (stream_at + doubles_per_unit) % stream_doubles;
    }
    sink = stream_to[stream_at];
}

void work(enum flavour flavour, int64_t units)
{
    if (flavour == registers)
        work_in_registers(units);
    else
        work_through_memory(units);
}

void calibrate_work(void)
{
    stream_from = (double *)touched(stream_doubles * sizeof(double));
    stream_to = (double *)touched(stream_doubles * sizeof(double));
    for (size_t i = 0; i < stream_doubles; i++)
        stream_from[i] = stream_to[i] = 1.0;
    for (enum flavour f = registers; f < flavours; f++) {
        const int64_t units = 20000;
        for (int i = 0; i < 5; i++) {
            const int64_t begin = now_ns();
            work(f, units);
            const double one = (double)(now_ns() - begin) / (double)units;
            if (measured_ns[f] == 0 || one < measured_ns[f])
                measured_ns[f] = one;
        }
    }
}

double unit_ns(enum flavour flavour)
{
    return measured_ns[flavour];
}

int64_t units_of(enum flavour flavour, double ns)
{
    return ns <= 0 ? 0 : (int64_t)(ns / measured_ns[flavour]) + 1;
}
