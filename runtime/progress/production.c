/* Only in libimbrex-progress.so: a progress thread wherever nothing is said. */
#include "progress/progress_options.h"

const char ix_progress_unasked[] = "on";
