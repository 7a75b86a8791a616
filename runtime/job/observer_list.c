#include "job/observer_list.h"

#define OBSERVER(name) extern IX_HIDDEN const ix_observer name;
#include "job/observers.def"
#undef OBSERVER

static const ix_observer *const observers[] = {
#define OBSERVER(name) &name,
#include "job/observers.def"
#undef OBSERVER
};

void ix_observers_start(const ix_job *job)
{
    for (size_t i = 0; i < sizeof observers / sizeof *observers; i++)
        if (!observers[i]->job_started || observers[i]->job_started(job))
            ix_observe(observers[i]);
}
