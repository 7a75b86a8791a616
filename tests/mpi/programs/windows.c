/* benchmarks/windows.c, for test_group_epochs.py. */
#include "../../../benchmarks/windows.c"
