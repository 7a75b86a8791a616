/* Connections share links by max-min fairness (Bertsekas and Gallager, Data Networks, 1992, section
 * 6.5): an equal part of a link for each, and what one cannot use, because its other end is busier,
 * for the others.
 *
 * Each link has a level, the most that a connection gets there: rates of at most the level fill
 * it. A connection moves with the lower level of its two ends. Where all levels agree, these rates
 * are the fair ones. A change of one goes on to the other ends for which it makes a difference.
 *
 * Levels stand in an array of their own: they are what is looked at most, and so they stay in the
 * nearest cache. */
#include "shares.h"

#include <math.h>
#include <stdlib.h>

#define NONE UINT32_MAX
#define IN_ORDER (UINT32_MAX - 1) /* neither waits nor is changed */

static void event_may_change(ix_links *l, uint32_t process)
{
    uint32_t *changes = &l->links[ix_link_out(process)].changes;
    if (*changes != IN_ORDER)
        return;
    *changes = l->changed;
    l->changed = process;
}

static void find_event(ix_links *l, ix_list *out, uint32_t process)
{
    const ix_entry *of = ix_entries(out);
    double at_ns = INFINITY;
    uint32_t connection = NONE;
    for (uint32_t k = 0; k < out->count; k++)
        if (of[k].through_ns < at_ns) {
            at_ns = of[k].through_ns;
            connection = of[k].connection;
        }
    l->event[process] = connection;
    ix_earliest_set(&l->events, process, connection == NONE ? IX_NEVER : ix_from_ns(at_ns));
}

static void find_events(ix_links *l)
{
    while (l->changed != NONE) {
        uint32_t process = l->changed;
        ix_list *out = &l->links[ix_link_out(process)];
        l->changed = out->changes;
        out->changes = IN_ORDER;
        find_event(l, out, process);
    }
}

static void set_through(ix_list *out, const ix_connection *c)
{
    ix_entries(out)[c->place_out].through_ns = c->at_ns + c->left_ns / c->rate;
}

void ix_shares_flow(ix_links *l, const ix_connection *c)
{
    ix_list *out = &l->links[ix_link_out(c->from)];
    set_through(out, c);
    find_event(l, out, c->from);
}

static void level_may_change(ix_links *l, uint32_t link)
{
    if (l->links[link].waits != IN_ORDER)
        return;
    l->links[link].waits = NONE;
    if (l->last == NONE)
        l->first = link;
    else
        l->links[l->last].waits = link;
    l->last = link;
}

/* The level at which a link is full, as the levels of the other ends are. */
static double find_level(const ix_links *l, ix_list *link)
{
    static const double part[] = {INFINITY, 1, 1.0 / 2, 1.0 / 3, 1.0 / 4};
    const ix_entry *of = ix_entries(link);
    const uint32_t count = link->count;
    double level = count < sizeof part / sizeof *part ? part[count] : 1.0 / count;
    while (level < INFINITY) {
        double used = 0;
        uint32_t limited = 0;
        for (uint32_t k = 0; k < count; k++) {
            double there = l->level[of[k].other];
            int is_limited = there < level;
            used += is_limited ? there : 0;
            limited += (uint32_t)is_limited;
        }
        if (!limited)
            break;
        double found = limited < count ? (1.0 - used) / (count - limited) : INFINITY;
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
    set_through(&l->links[ix_link_out(c->from)], c);
    event_may_change(l, c->from);
}

static void change_level(ix_links *l, uint32_t number, double level, double now)
{
    ix_list *link = &l->links[number];
    const ix_entry *of = ix_entries(link);
    const uint32_t count = link->count;
    double before = l->level[number];
    l->level[number] = level;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t other = of[k].other;
        double there = l->level[other];
        if ((before < there) | (level < there))
            level_may_change(l, other);
        set_rate(l, of[k].connection, level < there ? level : there, now);
    }
}

void ix_shares_changed(ix_links *l, uint32_t from, uint32_t to, uint32_t connection, double now)
{
    uint32_t out = ix_link_out(from), in = ix_link_in(to), own = connection != NONE;
    if (l->links[out].count == own && l->links[in].count == own) {
        /* It is alone at both ends, or was: nobody else's rate depends on these. */
        l->level[out] = l->level[in] = own ? 1.0 : INFINITY;
        find_event(l, &l->links[out], from);
        return;
    }
    level_may_change(l, out);
    level_may_change(l, in);
    while (l->first != NONE) {
        uint32_t number = l->first;
        ix_list *link = &l->links[number];
        l->first = link->waits;
        if (l->first == NONE)
            l->last = NONE;
        link->waits = IN_ORDER;
        double level = find_level(l, link), before = l->level[number];
        /* Rounding alone is no change. */
        if (level != before && (isinf(level) || !(fabs(level - before) <= 1e-12 * level)))
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
    l->event = malloc(processes * sizeof *l->event);
    if (!l->level || !l->event || ix_earliest_open(&l->events, l->processes))
        return -1;
    l->first = l->last = l->changed = NONE;
    for (uint32_t p = 0; p < l->processes; p++) {
        ix_list *out = &l->links[ix_link_out(p)], *in = &l->links[ix_link_in(p)];
        l->level[ix_link_out(p)] = l->level[ix_link_in(p)] = INFINITY;
        out->waits = in->waits = out->changes = in->changes = IN_ORDER;
    }
    return 0;
}
