#include "access/observer.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "access/annotate.h"
#include "access/guard.h"
#include "access/messages.h"
#include "access/observed_calls.h"
#include "access/open_requests.h"
#include "access/phases.h"
#include "access/sample.h"
#include "access/timeline.h"
#include "access/trace.h"
#include "generated/operations.h"

int ixa_observed;

static ixa_memory_t *shadow_of_program(void)
{
    ixa_memory_t **table = dlsym(RTLD_DEFAULT, IXA_SYMBOL);
    return table && (*table)->version == IXA_VERSION ? *table : &ixa_shadow;
}

static int started(const ix_job *job)
{
    const char *guard = getenv("IMBREX_GUARD");
    if (!job->measured || job->all == MPI_COMM_NULL)
        return 0;
    ixa_memory = shadow_of_program();
    if (ixa_times_start(job->rank))
        ixa_observed |= IXA_RECORDS;
    if (guard && *guard && strcmp(guard, "0") != 0) {
        ixa_guard_start(ixa_memory, job->rank, job->directory);
        ixa_observed |= IXA_GUARDS;
    }
    ixa_regions_start(job->rank, job->directory);
    return ixa_observed;
}

static void begin_intervals(void)
{
    if (ixa_observed & IXA_RECORDS)
        ixa_times_begin();
    ixa_phases_begin();
}

void ixa_end_recording(void)
{
    ixa_messages_finish();
    ixa_times_finish();
    ixa_trace_finish();
    ixa_write_results();
    ixa_sample_written();
    ixa_observed &= ~IXA_RECORDS;
}

static void ending(const ix_job *job)
{
    (void)job;
    if (!ixa_observed)
        return;
    ixa_take_turn();
    if (ixa_observed & IXA_RECORDS && (!ixa_phases || ixa_phases_end())) {
        ixa_timeline = ixa_timeline_at(0);
        ixa_times_enter(ix_self ? ix_self->compute_ns : 0, IX_OP_Finalize, NULL);
        ixa_end_recording();
    }
    if (ixa_observed & IXA_GUARDS) {
        ixa_end_open(ixa_open_take_all(), IXA_NEVER);
        ixa_guard_end();
    }
    ixa_regions_end(ix_self ? ix_self->compute_ns : 0);
    ixa_observed = 0;
    ixa_end_turn();
}

const ix_observer ixa_observer = {.name = "memory",
                                  .job_started = started,
                                  .measuring_begins = begin_intervals,
                                  .job_ending = ending,
                                  .call_entered = ixa_phases_entered,
                                  .call_left = ixa_phases_left,
                                  .buffers = &ixa_observed_calls};
