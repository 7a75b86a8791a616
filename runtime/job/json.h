/* The two small JSON files of rank 0. */
#ifndef IMBREX_JOB_JSON_H
#define IMBREX_JOB_JSON_H

#include <stdio.h>

#include "job/matching.h"
#include "job/names.h"
#include "progress/report.h"

typedef struct ix_job_facts {
    int ranks;
    const char *hosts; /* `host_count` names of 64 bytes */
    int host_count;
    const char *library; /* first line of MPI_Get_library_version */
    double wall_s;
    double event_overhead_ns;
    double core_wait_share; /* for which part of their time ranks had no core; below 0: not known */
    const char *clock;
    const ix_matching_facts *matching;
    const ix_progress_report *progress;
} ix_job_facts;

/* `names` of sections and of sites. 0, or -1 with errno. */
IX_HIDDEN int ix_write_job(const char *path, const ix_job_facts *facts, const ix_names *names);
IX_HIDDEN int ix_write_sites(const char *path, const ix_names *names);

/* What job.json says of the call log, the clocks and the matching, each with a comma behind it. */
IX_HIDDEN void ix_put_matching(FILE *f, const ix_matching_facts *m);

#endif
