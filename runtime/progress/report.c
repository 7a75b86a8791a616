#include "progress/report.h"

#include "progress/sites.h"

ix_progress_report ix_progress_reported;

/* Among those with most time; the least of them goes. */
static void add_site(ix_progress_report *r, int64_t site, const ix_progress_site *s)
{
    int least = 0;
    for (int i = 0; i < IX_PROGRESS_SITES; i++) {
        if (r->sites[i].site == site || !r->sites[i].site) {
            r->sites[i].site = site;
            r->sites[i].looks += s->looks;
            r->sites[i].completed += s->completed;
            r->sites[i].moving_ns += s->moving_ns;
            return;
        }
        if (r->sites[i].moving_ns < r->sites[least].moving_ns)
            least = i;
    }
    if (s->moving_ns > r->sites[least].moving_ns) {
        r->sites[least].site = site;
        r->sites[least].looks = s->looks;
        r->sites[least].completed = s->completed;
        r->sites[least].moving_ns = s->moving_ns;
    }
}

void ix_progress_note(const ix_helper_counts *counts, int64_t interval_ns, double share)
{
    ix_progress_report *r = &ix_progress_reported;
    *r = (ix_progress_report){.ranks = 1,
                              .looks = counts->looks,
                              .moving_looks = counts->moving_looks,
                              .looking_ns = counts->looking_ns,
                              .moving_ns = counts->moving_ns,
                              .waits = counts->waits,
                              .rests = counts->rests,
                              .interval_ns = interval_ns,
                              .share = share};
    uint32_t count;
    const ix_progress_site *sites = ix_progress_sites(&count);
    for (uint32_t i = 1; i < count; i++)
        if (sites[i].looks || sites[i].completed)
            add_site(r, i, &sites[i]);
}

void ix_progress_add(ix_progress_report *sum, const ix_progress_report *one)
{
    sum->ranks += one->ranks;
    sum->looks += one->looks;
    sum->moving_looks += one->moving_looks;
    sum->looking_ns += one->looking_ns;
    sum->moving_ns += one->moving_ns;
    sum->waits += one->waits;
    sum->rests += one->rests;
    if (one->interval_ns > sum->interval_ns)
        sum->interval_ns = one->interval_ns;
    if (one->share > sum->share)
        sum->share = one->share;
    for (int i = 0; i < IX_PROGRESS_SITES && one->sites[i].site; i++)
        add_site(sum, one->sites[i].site,
                 &(ix_progress_site){.looks = one->sites[i].looks,
                                     .completed = one->sites[i].completed,
                                     .moving_ns = one->sites[i].moving_ns});
}
