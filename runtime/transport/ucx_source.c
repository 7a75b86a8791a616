/* UCX's tagged messages, puts and gets as a source of events: docs/reference/events.md. */
#ifndef IMBREX_DIRECT
#include "transport/network_source.h"
#include "transport/ucx.h"

static int probe(MPI_Comm all)
{
    (void)all;
    return ix_ucx_present();
}

static void use(const ix_event_source *source, const ix_source_use *use)
{
    ix_self_address self = ix_find_self_address(source, use->all);
    int path = ix_only_path(use->path_bits);
    ix_ucx_use(path, self.known ? (void *)(uintptr_t)self.endpoint : NULL, self.tag_bits,
               use->is_data);
    ix_onesided_use(path, use->one_sided);
}

const ix_event_source ix_ucx_source = {
    .name = "ucx",
    .title = "UCX",
    .absent = "this MPI does not use UCX's tagged messages here",
    .not_both = "UCX carries both paths, and does not tell from which a message comes",
    .probe = probe,
    .watch = ix_ucx_watch,
    .use = use,
    .events = IX_NETWORK_EVENTS("ucx")};
#endif
