/* One-sided operations of libfabric. Most are counted when they are complete, and not named, so
 * that each is taken to be under way until its epoch is closed. */
#ifndef IMBREX_DIRECT
#include "transport/ofi_tables.h"
#include "transport/onesided.h"

#define PASS_ON(kind, member, bytes, call) IX_OFI_AROUND(rma, kind, member, bytes, call)

static ssize_t rma_read(ix_fi_ep *ep, void *buf, size_t len, void *desc, ix_fi_addr from,
                        uint64_t addr, uint64_t key, void *context)
{
    PASS_ON(IX_A_GET, read, (int64_t)len, (ep, buf, len, desc, from, addr, key, context));
}

static ssize_t rma_readv(ix_fi_ep *ep, const struct iovec *iov, void **desc, size_t count,
                         ix_fi_addr from, uint64_t addr, uint64_t key, void *context)
{
    PASS_ON(IX_A_GET, readv, ix_ofi_length(iov, count),
            (ep, iov, desc, count, from, addr, key, context));
}

static ssize_t rma_readmsg(ix_fi_ep *ep, const ix_fi_msg_rma *msg, uint64_t flags)
{
    PASS_ON(IX_A_GET, readmsg, ix_ofi_length(msg->iov, msg->iov_count), (ep, msg, flags));
}

static ssize_t rma_write(ix_fi_ep *ep, const void *buf, size_t len, void *desc, ix_fi_addr to,
                         uint64_t addr, uint64_t key, void *context)
{
    PASS_ON(IX_A_PUT, write, (int64_t)len, (ep, buf, len, desc, to, addr, key, context));
}

static ssize_t rma_writev(ix_fi_ep *ep, const struct iovec *iov, void **desc, size_t count,
                          ix_fi_addr to, uint64_t addr, uint64_t key, void *context)
{
    PASS_ON(IX_A_PUT, writev, ix_ofi_length(iov, count),
            (ep, iov, desc, count, to, addr, key, context));
}

static ssize_t rma_writemsg(ix_fi_ep *ep, const ix_fi_msg_rma *msg, uint64_t flags)
{
    PASS_ON(IX_A_PUT, writemsg, ix_ofi_length(msg->iov, msg->iov_count), (ep, msg, flags));
}

static ssize_t rma_inject(ix_fi_ep *ep, const void *buf, size_t len, ix_fi_addr to, uint64_t addr,
                          uint64_t key)
{
    PASS_ON(IX_A_PUT, inject, (int64_t)len, (ep, buf, len, to, addr, key));
}

static ssize_t rma_writedata(ix_fi_ep *ep, const void *buf, size_t len, void *desc, uint64_t data,
                             ix_fi_addr to, uint64_t addr, uint64_t key, void *context)
{
    PASS_ON(IX_A_PUT, writedata, (int64_t)len, (ep, buf, len, desc, data, to, addr, key, context));
}

static ssize_t rma_injectdata(ix_fi_ep *ep, const void *buf, size_t len, uint64_t data,
                              ix_fi_addr to, uint64_t addr, uint64_t key)
{
    PASS_ON(IX_A_PUT, injectdata, (int64_t)len, (ep, buf, len, data, to, addr, key));
}

void ix_ofi_fill_rma(ix_fi_rma_ops *copy)
{
    copy->read = rma_read;
    copy->readv = rma_readv;
    copy->readmsg = rma_readmsg;
    copy->write = rma_write;
    copy->writev = rma_writev;
    copy->writemsg = rma_writemsg;
    copy->inject = rma_inject;
    copy->writedata = rma_writedata;
    copy->injectdata = rma_injectdata;
}

int ix_ofi_is_filled_rma(const ix_fi_rma_ops *table)
{
    return table->write == rma_write;
}

#endif
