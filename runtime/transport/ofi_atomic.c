/* Atomic operations of libfabric, by which a library may do accumulates: when they are complete
 * cannot be seen, as for its puts. */
#ifndef IMBREX_DIRECT
#include "transport/ofi_tables.h"
#include "transport/onesided.h"

static int64_t size_of(size_t count, int datatype)
{
    static const uint8_t bytes[IX_FI_DATATYPES] = IX_FI_DATATYPE_BYTES;
    return datatype >= 0 && datatype < IX_FI_DATATYPES ? (int64_t)count * bytes[datatype] : -1;
}

static int64_t size_of_all(const ix_fi_ioc *iov, size_t pieces, int datatype)
{
    size_t count = 0;
    for (size_t i = 0; i < pieces; i++)
        count += iov[i].count;
    return size_of(count, datatype);
}

#define PASS_ON(member, bytes, call) IX_OFI_AROUND(atomic, IX_AN_ATOMIC, member, bytes, call)

static ssize_t atomic_write(ix_fi_ep *ep, const void *buf, size_t count, void *desc, ix_fi_addr to,
                            uint64_t addr, uint64_t key, int datatype, int op, void *context)
{
    PASS_ON(write, size_of(count, datatype),
            (ep, buf, count, desc, to, addr, key, datatype, op, context));
}

static ssize_t atomic_writev(ix_fi_ep *ep, const ix_fi_ioc *iov, void **desc, size_t count,
                             ix_fi_addr to, uint64_t addr, uint64_t key, int datatype, int op,
                             void *context)
{
    PASS_ON(writev, size_of_all(iov, count, datatype),
            (ep, iov, desc, count, to, addr, key, datatype, op, context));
}

static ssize_t atomic_writemsg(ix_fi_ep *ep, const ix_fi_msg_atomic *msg, uint64_t flags)
{
    PASS_ON(writemsg, size_of_all(msg->iov, msg->iov_count, msg->datatype), (ep, msg, flags));
}

static ssize_t atomic_inject(ix_fi_ep *ep, const void *buf, size_t count, ix_fi_addr to,
                             uint64_t addr, uint64_t key, int datatype, int op)
{
    PASS_ON(inject, size_of(count, datatype), (ep, buf, count, to, addr, key, datatype, op));
}

/* Those that fetch move what they fetch; what they bring may be nothing. */
static ssize_t atomic_readwrite(ix_fi_ep *ep, const void *buf, size_t count, void *desc,
                                void *result, void *result_desc, ix_fi_addr to, uint64_t addr,
                                uint64_t key, int datatype, int op, void *context)
{
    PASS_ON(readwrite, size_of(count, datatype),
            (ep, buf, count, desc, result, result_desc, to, addr, key, datatype, op, context));
}

static ssize_t atomic_readwritev(ix_fi_ep *ep, const ix_fi_ioc *iov, void **desc, size_t count,
                                 ix_fi_ioc *result, void **result_desc, size_t results,
                                 ix_fi_addr to, uint64_t addr, uint64_t key, int datatype, int op,
                                 void *context)
{
    PASS_ON(
        readwritev, size_of_all(result, results, datatype),
        (ep, iov, desc, count, result, result_desc, results, to, addr, key, datatype, op, context));
}

static ssize_t atomic_readwritemsg(ix_fi_ep *ep, const ix_fi_msg_atomic *msg, ix_fi_ioc *result,
                                   void **result_desc, size_t results, uint64_t flags)
{
    PASS_ON(readwritemsg, size_of_all(result, results, msg->datatype),
            (ep, msg, result, result_desc, results, flags));
}

static ssize_t atomic_compwrite(ix_fi_ep *ep, const void *buf, size_t count, void *desc,
                                const void *compare, void *compare_desc, void *result,
                                void *result_desc, ix_fi_addr to, uint64_t addr, uint64_t key,
                                int datatype, int op, void *context)
{
    PASS_ON(compwrite, size_of(count, datatype),
            (ep, buf, count, desc, compare, compare_desc, result, result_desc, to, addr, key,
             datatype, op, context));
}

static ssize_t atomic_compwritev(ix_fi_ep *ep, const ix_fi_ioc *iov, void **desc, size_t count,
                                 const ix_fi_ioc *compare, void **compare_desc, size_t compares,
                                 ix_fi_ioc *result, void **result_desc, size_t results,
                                 ix_fi_addr to, uint64_t addr, uint64_t key, int datatype, int op,
                                 void *context)
{
    PASS_ON(compwritev, size_of_all(result, results, datatype),
            (ep, iov, desc, count, compare, compare_desc, compares, result, result_desc, results,
             to, addr, key, datatype, op, context));
}

static ssize_t atomic_compwritemsg(ix_fi_ep *ep, const ix_fi_msg_atomic *msg,
                                   const ix_fi_ioc *compare, void **compare_desc, size_t compares,
                                   ix_fi_ioc *result, void **result_desc, size_t results,
                                   uint64_t flags)
{
    PASS_ON(compwritemsg, size_of_all(result, results, msg->datatype),
            (ep, msg, compare, compare_desc, compares, result, result_desc, results, flags));
}

void ix_ofi_fill_atomic(ix_fi_atomic_ops *copy)
{
    copy->write = atomic_write;
    copy->writev = atomic_writev;
    copy->writemsg = atomic_writemsg;
    copy->inject = atomic_inject;
    copy->readwrite = atomic_readwrite;
    copy->readwritev = atomic_readwritev;
    copy->readwritemsg = atomic_readwritemsg;
    copy->compwrite = atomic_compwrite;
    copy->compwritev = atomic_compwritev;
    copy->compwritemsg = atomic_compwritemsg;
}

int ix_ofi_is_filled_atomic(const ix_fi_atomic_ops *table)
{
    return table->write == atomic_write;
}

#endif
