/* WORK(points): tells SimGrid's SMPI, which is not to time computation, how much of it there is.
 * APPS_POINT_NS is what one point takes on a host of 1 Gflop/s, in ns; without it the macro does
 * nothing. */
#ifndef APPS_WORK_H
#define APPS_WORK_H

#ifdef APPS_POINT_NS
#define WORK(points) smpi_execute_flops((double)(points)*APPS_POINT_NS)
#else
#define WORK(points) ((void)0)
#endif

#endif
