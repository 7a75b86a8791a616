#include "job/observer_list.h"

#include "access/observer.h"
#include "progress/progress.h"

static const ix_observer *const observers[] = {
    &ixa_observer,
    &ix_progress,
};

void ix_observers_start(const ix_job *job)
{
    for (size_t i = 0; i < sizeof observers / sizeof *observers; i++)
        if (!observers[i]->job_started || observers[i]->job_started(job))
            ix_observe(observers[i]);
}
