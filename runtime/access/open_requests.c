#include "access/open_requests.h"

#include <stdlib.h>

enum { BUCKETS = 1 << 10 };

static ixa_open *buckets[BUCKETS];
static ixa_plan *plans;

static ixa_open **bucket(uint64_t handle)
{
    return &buckets[(handle * 0x9e3779b97f4a7c15u) >> 54];
}

ixa_open *ixa_open_new(uint64_t handle, const void *where, int target)
{
    ixa_open *one = calloc(1, sizeof *one);
    if (!one) {
        ixa_dropped++;
        return NULL;
    }
    ixa_open **first = bucket(handle);
    *one = (ixa_open){.next = *first, .handle = handle, .where = where, .target = target};
    *first = one;
    return one;
}

static ixa_open *take(ixa_open **at, ixa_open *next)
{
    ixa_open *one = *at;
    *at = one->next;
    one->next = next;
    return one;
}

/* Newest first, as the list is. */
ixa_open *ixa_open_take(uint64_t handle, const void *where)
{
    for (ixa_open **at = bucket(handle); *at; at = &(*at)->next)
        if ((*at)->handle == handle && (*at)->where == where && where)
            return take(at, NULL);
    ixa_open *taken = NULL;
    for (ixa_open **at = bucket(handle); *at;)
        if ((*at)->handle == handle && (*at)->where)
            taken = take(at, taken);
        else
            at = &(*at)->next;
    return taken;
}

ixa_open *ixa_open_find(uint64_t handle)
{
    ixa_open *found = NULL;
    for (ixa_open *one = *bucket(handle); one; one = one->next)
        if (one->handle == handle && one->where) {
            if (found)
                return NULL;
            found = one;
        }
    return found;
}

int ixa_open_is(uint64_t handle)
{
    for (const ixa_open *one = *bucket(handle); one; one = one->next)
        if (one->handle == handle && one->where)
            return 1;
    return 0;
}

ixa_open *ixa_open_take_window(uint64_t handle, int target)
{
    ixa_open *taken = NULL;
    for (ixa_open **at = bucket(handle); *at;)
        if ((*at)->handle == handle && !(*at)->where &&
            (target == IX_ALL || (*at)->target == target))
            taken = take(at, taken);
        else
            at = &(*at)->next;
    return taken;
}

ixa_open *ixa_open_take_all(void)
{
    ixa_open *taken = NULL;
    for (int i = 0; i < BUCKETS; i++)
        while (buckets[i])
            taken = take(&buckets[i], taken);
    return taken;
}

void ixa_plan_add(uint64_t handle, const ix_buffer *buffers, int count)
{
    ixa_plan_forget(handle);
    ixa_plan *plan = calloc(1, sizeof *plan);
    if (!plan) {
        ixa_dropped++;
        return;
    }
    plan->handle = handle;
    for (int k = 0; k < count; k++)
        if (ixa_keep(&buffers[k], &plan->buffer[plan->buffers]) == 0)
            plan->buffers++;
        else
            ixa_dropped++;
    plan->next = plans;
    plans = plan;
}

const ixa_plan *ixa_plan_of(uint64_t handle)
{
    const ixa_plan *plan = plans;
    while (plan && plan->handle != handle)
        plan = plan->next;
    return plan;
}

void ixa_plan_forget(uint64_t handle)
{
    for (ixa_plan **at = &plans; *at; at = &(*at)->next) {
        ixa_plan *plan = *at;
        if (plan->handle != handle)
            continue;
        *at = plan->next;
        for (int k = 0; k < plan->buffers; k++)
            ixa_drop(&plan->buffer[k]);
        free(plan);
        return;
    }
}
