#include "engine/situations.h"

#include <stdio.h>

static const char *const labels[situations] = {"none-compute", "sender-computes",
                                               "receiver-computes", "both-compute"};

void exchange_situations(const exchange_setting *s, const char *suffix, size_t size, double work_ns,
                         int count, double transfer_ns)
{
    const side waiting = {0, 0, 0}, computing = {0, work_ns, 0};
    for (int i = 0; i < situations; i++) {
        char label[64];
        snprintf(label, sizeof label, "%s%s", labels[i], suffix);
        enough_exchanges(s, label, size, i & 1 ? computing : waiting, i & 2 ? computing : waiting,
                         count, transfer_ns);
    }
}
