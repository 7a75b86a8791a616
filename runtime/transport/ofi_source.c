/* libfabric's tagged messages, puts and gets as a source of events: docs/reference/events.md. */
#ifndef IMBREX_DIRECT
#include "transport/ofi.h"
#include "transport/network_source.h"

static int probe(MPI_Comm all)
{
    (void)all;
    return ix_ofi_present();
}

static void use(const ix_event_source *source, const ix_source_use *use)
{
    ix_self_address self = ix_find_self_address(source, use->all);
    int path = ix_only_path(use->path_bits);
    ix_ofi_use(path, self.known, self.endpoint, self.tag_bits, use->is_data);
    ix_onesided_use(path, use->one_sided);
}

const ix_event_source ix_ofi_source = {
    .name = "ofi",
    .title = "libfabric",
    .absent = "this MPI does not use libfabric's tagged messages here",
    .not_both = "libfabric carries both paths, and does not tell from which a message comes",
    .probe = probe,
    .watch = ix_ofi_watch,
    .use = use,
    .events = IX_NETWORK_EVENTS("ofi")};
#endif
