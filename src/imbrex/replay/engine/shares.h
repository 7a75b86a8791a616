/* How connections share links, and which of each process is through first. */
#ifndef IMBREX_REPLAY_SHARES_H
#define IMBREX_REPLAY_SHARES_H

#include "links.h"

static inline uint32_t ix_link_out(uint32_t process)
{
    return 2 * process;
}

static inline uint32_t ix_link_in(uint32_t process)
{
    return 2 * process + 1;
}

/* 0; -1: no memory. */
int ix_shares_open(ix_links *links);

/* The first flow of a connection has changed. */
void ix_shares_flow(ix_links *links, const ix_connection *connection);

/* A connection has come to the lists of its ends, or has left them (then it is UINT32_MAX). */
void ix_shares_changed(ix_links *links, uint32_t from, uint32_t to, uint32_t connection,
                       double now);

#endif
