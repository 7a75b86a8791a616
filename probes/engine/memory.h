/* How much memory there is: of the machine, of the job's control group, of the process's limits. */
#ifndef IMBREX_PROBES_MEMORY_H
#define IMBREX_PROBES_MEMORY_H

/* For all ranks of a node together. */
double free_on_node_bytes(void);
/* For this rank alone; very large without a limit on its address space. */
double free_in_process_bytes(void);
/* The most that this process has held in memory so far. */
double peak_resident_bytes(void);
#endif
