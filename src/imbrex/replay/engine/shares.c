/* Connections share links by max-min fairness (Bertsekas and Gallager, Data Networks, 1992, section
 * 6.5): an equal part of a link for each, and what one cannot use, because its other end is busier,
 * for the others.
 *
 * Each link has a level, the most that a connection gets there: rates of at most the level fill
 * it. A connection moves with the lower level of its two ends. Where all levels agree, these rates
 * are the fair ones. A change of one goes on to the other ends for which it makes a difference.
 *
 * Levels, and whose may have changed, stand in arrays of their own: they are what is looked at
 * most, and so they stay in the nearest cache. */
#include "shares.h"

#include <math.h>
#include <stdlib.h>

#define NONE UINT32_MAX
#define IN_ORDER (UINT32_MAX - 1) /* neither waits nor is changed */

static void put(ix_links *l, uint32_t place, ix_event event)
{
    l->heap[place] = event;
    l->place[event.process] = place;
}

static void reorder(ix_links *l, ix_event event)
{
    uint32_t place = l->place[event.process];
    while (place && l->heap[(place - 1) / 2].at_ns > event.at_ns) {
        put(l, place, l->heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    for (;;) {
        uint32_t child = 2 * place + 1;
        if (child >= l->processes)
            break;
        child += l->heap[child + 1].at_ns < l->heap[child].at_ns;
        if (l->heap[child].at_ns >= event.at_ns)
            break;
        put(l, place, l->heap[child]);
        place = child;
    }
    put(l, place, event);
}

static void event_may_change(ix_links *l, uint32_t process)
{
    if (l->changes[process] != IN_ORDER)
        return;
    l->changes[process] = l->changed;
    l->changed = process;
}

static void find_events(ix_links *l)
{
    while (l->changed != NONE) {
        uint32_t process = l->changed;
        const ix_list *out = &l->links[ix_link_out(process)];
        ix_event event = {INFINITY, process, NONE};
        l->changed = l->changes[process];
        l->changes[process] = IN_ORDER;
        for (uint32_t k = 0; k < out->count; k++)
            if (out->of[k].through_ns < event.at_ns) {
                event.at_ns = out->of[k].through_ns;
                event.connection = out->of[k].connection;
            }
        ix_event *known = &l->heap[l->place[process]];
        if (event.at_ns == known->at_ns)
            known->connection = event.connection;
        else
            reorder(l, event);
    }
}

static void set_through(ix_links *l, const ix_connection *c)
{
    l->links[ix_link_out(c->from)].of[c->place_out].through_ns = c->at_ns + c->left_ns / c->rate;
    event_may_change(l, c->from);
}

void ix_shares_flow(ix_links *l, const ix_connection *c)
{
    set_through(l, c);
    find_events(l);
}

static void level_may_change(ix_links *l, uint32_t link)
{
    if (l->waits[link] != IN_ORDER)
        return;
    l->waits[link] = NONE;
    if (l->last == NONE)
        l->first = link;
    else
        l->waits[l->last] = link;
    l->last = link;
}

/* The level at which a link is full, as the levels of the other ends are. */
static double find_level(const ix_links *l, uint32_t number)
{
    const ix_list *link = &l->links[number];
    double level = link->count ? 1.0 / link->count : INFINITY;
    while (level < INFINITY) {
        double used = 0;
        uint32_t unlimited = 0;
        for (uint32_t k = 0; k < link->count; k++) {
            double there = l->level[link->of[k].other];
            if (there < level)
                used += there;
            else
                unlimited++;
        }
        double found = unlimited ? (1.0 - used) / unlimited : INFINITY;
        if (found <= level)
            break;
        level = found;
    }
    return level;
}

static void set_rate(ix_links *l, uint32_t number, double rate, double now)
{
    ix_connection *c = &l->connections[number];
    if (rate == c->rate)
        return;
    double left = c->left_ns - (now - c->at_ns) * c->rate;
    c->left_ns = left > 0 ? left : 0;
    c->at_ns = now;
    c->rate = rate;
    set_through(l, c);
}

static void change_level(ix_links *l, uint32_t number, double level, double now)
{
    const ix_list *link = &l->links[number];
    double before = l->level[number];
    l->level[number] = level;
    for (uint32_t k = 0; k < link->count; k++) {
        uint32_t other = link->of[k].other;
        double there = l->level[other];
        if (before < there || level < there)
            level_may_change(l, other);
        set_rate(l, link->of[k].connection, level < there ? level : there, now);
    }
}

void ix_shares_changed(ix_links *l, uint32_t from, uint32_t to, uint32_t connection, double now)
{
    uint32_t out = ix_link_out(from), in = ix_link_in(to), own = connection != NONE;
    if (l->links[out].count == own && l->links[in].count == own) {
        /* It is alone at both ends, or was: nobody else's rate depends on these. */
        l->level[out] = l->level[in] = own ? 1.0 : INFINITY;
        event_may_change(l, from);
        find_events(l);
        return;
    }
    level_may_change(l, out);
    level_may_change(l, in);
    while (l->first != NONE) {
        uint32_t number = l->first;
        l->first = l->waits[number];
        if (l->first == NONE)
            l->last = NONE;
        l->waits[number] = IN_ORDER;
        double level = find_level(l, number), before = l->level[number];
        /* Rounding alone is no change. */
        if (isinf(level) != isinf(before) || fabs(level - before) > 1e-12 * level)
            change_level(l, number, level, now);
    }
    if (own) {
        double there = l->level[in];
        set_rate(l, connection, l->level[out] < there ? l->level[out] : there, now);
    }
    event_may_change(l, from);
    find_events(l);
}

int ix_shares_open(ix_links *l)
{
    size_t processes = l->processes + (size_t)1;
    l->level = malloc(2 * processes * sizeof *l->level);
    l->waits = malloc(2 * processes * sizeof *l->waits);
    l->heap = malloc(processes * sizeof *l->heap);
    l->place = malloc(processes * sizeof *l->place);
    l->changes = malloc(processes * sizeof *l->changes);
    if (!l->level || !l->waits || !l->heap || !l->place || !l->changes)
        return -1;
    l->first = l->last = l->changed = NONE;
    for (uint32_t p = 0; p < l->processes; p++) {
        l->level[ix_link_out(p)] = l->level[ix_link_in(p)] = INFINITY;
        l->waits[ix_link_out(p)] = l->waits[ix_link_in(p)] = l->changes[p] = IN_ORDER;
        put(l, p, (ix_event){INFINITY, p, NONE});
    }
    l->heap[l->processes] = (ix_event){INFINITY, NONE, NONE};
    return 0;
}
