#include "base/measuring.h"

int ix_measuring;
