/* One message while nobody computes, only the sender, only the receiver, both (White and Bova,
 * section III). */
#ifndef IMBREX_PROBES_SITUATIONS_H
#define IMBREX_PROBES_SITUATIONS_H

#include "engine/exchange.h"

enum { situations = 4 };

/* `count` exchanges in each situation, with `work_ns` of computing; the rows' labels are
 * none-compute, sender-computes, receiver-computes and both-compute, each with `suffix`. Both ranks
 * of the pair call this. */
void exchange_situations(const exchange_setting *s, const char *suffix, size_t size, double work_ns,
                         int count, double transfer_ns);
#endif
