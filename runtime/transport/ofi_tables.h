/* Tables of functions that are replaced, object by object: what the copies remember of the
 * library's own. */
#ifndef IMBREX_TRANSPORT_OFI_TABLES_H
#define IMBREX_TRANSPORT_OFI_TABLES_H

#include "core/engine.h"
#include "transport/ofi_abi.h"

/* Stands before the copy of a table. */
typedef struct ix_ofi_head {
    size_t stride; /* of a completion queue: bytes of an entry */
    const void *real;
} ix_ofi_head;

static inline const ix_ofi_head *ix_ofi_head_of(const void *table)
{
    return (const ix_ofi_head *)table - 1;
}

#define IX_OFI_REAL(object, member)                                                                \
    ((__typeof__((object)->member))ix_ofi_head_of((object)->member)->real)

/* Bytes of a table or an entry up to a member. */
#define IX_UP_TO_MEMBER(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))

/* Providers are made of other providers: what is called within a call is theirs. */
extern IX_HIDDEN __thread int ix_ofi_inside;

/* Bytes of a list of pieces. */
static inline int64_t ix_ofi_length(const struct iovec *iov, size_t count)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += (int64_t)iov[i].iov_len;
    return bytes;
}

/* One call into the library that posts a part of a one-sided operation, unless it is its own. Where
 * it fails the library tries again. */
#define IX_OFI_AROUND(table, kind, member, bytes, call)                                            \
    __typeof__((ep)->table) real = IX_OFI_REAL(ep, table);                                         \
    if (ix_ofi_inside)                                                                             \
        return real->member call;                                                                  \
    ix_thread *t = ix_onesided_poster();                                                           \
    int64_t now = t ? ix_now() : 0;                                                                \
    ix_ofi_inside = 1;                                                                             \
    ssize_t result_ = real->member call;                                                           \
    ix_ofi_inside = 0;                                                                             \
    if (t && !result_)                                                                             \
        ix_onesided_posted(t, kind, ep, NULL, bytes, now);                                         \
    return result_

/* Put the source's functions into the copies of an object's tables. */
IX_HIDDEN void ix_ofi_fill_tagged(ix_fi_tagged_ops *copy);
IX_HIDDEN int ix_ofi_is_filled(const ix_fi_tagged_ops *table);
IX_HIDDEN void ix_ofi_fill_rma(ix_fi_rma_ops *copy);
IX_HIDDEN int ix_ofi_is_filled_rma(const ix_fi_rma_ops *table);
IX_HIDDEN void ix_ofi_fill_atomic(ix_fi_atomic_ops *copy);
IX_HIDDEN int ix_ofi_is_filled_atomic(const ix_fi_atomic_ops *table);
IX_HIDDEN void ix_ofi_fill_cq(ix_fi_cq_ops *copy);

#endif
