/* The calls of libfabric are inline and go through tables of functions in the objects that
 * fi_fabric returns; so the tables are replaced by copies, object by object. */
#ifndef IMBREX_DIRECT
#include <stdlib.h>
#include <string.h>

#include "base/symbols.h"
#include "transport/ofi_tables.h"

__thread int ix_ofi_inside;

/* A copy that belongs to one object; NULL when the table is older than `needed` bytes. */
static void *copy_of(const void *table, size_t needed, size_t stride)
{
    size_t size = table ? *(const size_t *)table : 0;
    ix_ofi_head *h = size >= needed && size < 4096 ? malloc(sizeof *h + size) : NULL;
    if (!h)
        return NULL;
    *h = (ix_ofi_head){stride, table};
    memcpy(h + 1, table, size);
    return h + 1;
}

static void take_ep(ix_fi_ep *ep);

static int ep_control(ix_fi_object *object, int command, void *argument)
{
    int outer = ix_ofi_inside;
    ix_ofi_inside = 1;
    int result = IX_OFI_REAL(object, ops)->control(object, command, argument);
    ix_ofi_inside = outer;
    if (command == IX_FI_ENABLE && !result)
        take_ep((ix_fi_ep *)object); /* some providers choose their functions only now */
    return result;
}

static void take_ep(ix_fi_ep *ep)
{
    if (ep->object.ops->control != ep_control) {
        ix_fi_fid_ops *copy = copy_of(ep->object.ops, IX_UP_TO_MEMBER(ix_fi_fid_ops, control), 0);
        if (copy) {
            copy->control = ep_control;
            ep->object.ops = copy;
        }
    }
    ix_fi_tagged_ops *tagged =
        ep->tagged && !ix_ofi_is_filled(ep->tagged)
            ? copy_of(ep->tagged, IX_UP_TO_MEMBER(ix_fi_tagged_ops, injectdata), 0)
            : NULL;
    if (tagged) {
        ix_ofi_fill_tagged(tagged);
        ep->tagged = tagged;
    }
    ix_fi_rma_ops *rma = ep->rma && !ix_ofi_is_filled_rma(ep->rma)
                             ? copy_of(ep->rma, IX_UP_TO_MEMBER(ix_fi_rma_ops, injectdata), 0)
                             : NULL;
    if (rma) {
        ix_ofi_fill_rma(rma);
        ep->rma = rma;
    }
    ix_fi_atomic_ops *atomic =
        ep->atomic && !ix_ofi_is_filled_atomic(ep->atomic)
            ? copy_of(ep->atomic, IX_UP_TO_MEMBER(ix_fi_atomic_ops, compwritemsg), 0)
            : NULL;
    if (atomic) {
        ix_ofi_fill_atomic(atomic);
        ep->atomic = atomic;
    }
}

/* Objects that are made within a call are a provider's own. */
#define MAKE(call, taken)                                                                          \
    int outer = ix_ofi_inside;                                                                     \
    ix_ofi_inside = 1;                                                                             \
    int result = call;                                                                             \
    ix_ofi_inside = outer;                                                                         \
    if (!result && !outer)                                                                         \
        taken;                                                                                     \
    return result

static int domain_endpoint(ix_fi_domain *domain, void *info, ix_fi_ep **ep, void *context)
{
    MAKE(IX_OFI_REAL(domain, ops)->endpoint(domain, info, ep, context), take_ep(*ep));
}

static int domain_endpoint2(ix_fi_domain *domain, void *info, ix_fi_ep **ep, uint64_t flags,
                            void *context)
{
    MAKE(IX_OFI_REAL(domain, ops)->endpoint2(domain, info, ep, flags, context), take_ep(*ep));
}

static void take_cq(ix_fi_cq *cq, int format)
{
    static const size_t strides[] = {
        0, IX_UP_TO_MEMBER(ix_fi_entry, context), IX_UP_TO_MEMBER(ix_fi_entry, len),
        IX_UP_TO_MEMBER(ix_fi_entry, data), IX_UP_TO_MEMBER(ix_fi_entry, tag)};
    if (format < IX_FI_CONTEXT || format > IX_FI_TAGGED)
        return;
    ix_fi_cq_ops *copy =
        copy_of(cq->ops, IX_UP_TO_MEMBER(ix_fi_cq_ops, sreadfrom), strides[format]);
    if (!copy)
        return;
    ix_ofi_fill_cq(copy);
    cq->ops = copy;
}

static int domain_cq_open(ix_fi_domain *domain, ix_fi_cq_attr *attr, ix_fi_cq **cq, void *context)
{
    MAKE(IX_OFI_REAL(domain, ops)->cq_open(domain, attr, cq, context),
         take_cq(*cq, attr ? attr->format : 0));
}

static void take_domain(ix_fi_domain *domain)
{
    ix_fi_domain_ops *copy = copy_of(domain->ops, IX_UP_TO_MEMBER(ix_fi_domain_ops, endpoint), 0);
    if (!copy)
        return;
    copy->cq_open = domain_cq_open;
    copy->endpoint = domain_endpoint;
    if (copy->size >= IX_UP_TO_MEMBER(ix_fi_domain_ops, endpoint2) && copy->endpoint2)
        copy->endpoint2 = domain_endpoint2;
    domain->ops = copy;
}

static int fabric_domain(ix_fi_fabric *fabric, void *info, ix_fi_domain **domain, void *context)
{
    MAKE(IX_OFI_REAL(fabric, ops)->domain(fabric, info, domain, context), take_domain(*domain));
}

static int fabric_domain2(ix_fi_fabric *fabric, void *info, ix_fi_domain **domain, uint64_t flags,
                          void *context)
{
    MAKE(IX_OFI_REAL(fabric, ops)->domain2(fabric, info, domain, flags, context),
         take_domain(*domain));
}

static void take_fabric(ix_fi_fabric *fabric)
{
    const char *events = getenv("IMBREX_EVENTS");
    ix_fi_fabric_ops *copy = NULL;
    if (events && strcmp(events, "call") != 0)
        copy = copy_of(fabric->ops, IX_UP_TO_MEMBER(ix_fi_fabric_ops, domain), 0);
    if (!copy)
        return;
    copy->domain = fabric_domain;
    if (copy->size >= IX_UP_TO_MEMBER(ix_fi_fabric_ops, domain2) && copy->domain2)
        copy->domain2 = fabric_domain2;
    fabric->ops = copy;
}

IX_EXPORT int fi_fabric(void *attr, ix_fi_fabric **fabric, void *context)
{
    static int (*real)(void *, ix_fi_fabric **, void *);
    if (!real)
        *(void **)&real = ix_next_symbol("fi_fabric");
    MAKE(real(attr, fabric, context), take_fabric(*fabric));
}

#endif
