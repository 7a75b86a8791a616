/* Work of a fixed number of operations, calibrated beforehand: never a clock spin, so that
 * processor time taken from it shows in how long it lasts. */
#ifndef IMBREX_PROBES_WORK_H
#define IMBREX_PROBES_WORK_H

#include <stdint.h>

enum flavour { registers, streaming, flavours };
extern const char *const flavour_names[flavours];

/* Measure how long a unit lasts; once, before anything else. */
void calibrate_work(void);
/* Nanoseconds of one unit of work, undisturbed. */
double unit_ns(enum flavour flavour);
/* Work that lasts about `ns`, undisturbed. */
int64_t units_of(enum flavour flavour, double ns);
void work(enum flavour flavour, int64_t units);
#endif
