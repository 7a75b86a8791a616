/* How long the system kept a rank from running. */
#ifndef IMBREX_PROBES_SCHEDULING_H
#define IMBREX_PROBES_SCHEDULING_H

/* For how long this thread was ready to run and had no core, nanoseconds since its start; negative
 * where the system does not say. */
double waited_for_core_ns(void);

#endif
