/* What libfabric's headers declare of the objects and tables that the source replaces (1.x and 2.x:
 * tables only grow at their end). A test compares. */
#ifndef IMBREX_TRANSPORT_OFI_ABI_H
#define IMBREX_TRANSPORT_OFI_ABI_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

typedef uint64_t ix_fi_addr;
typedef void (*ix_fi_other)(void);

typedef struct ix_fi_object { /* every fid begins so */
    size_t class;
    void *context;
    struct ix_fi_fid_ops *ops;
} ix_fi_object;

typedef struct ix_fi_fid_ops {
    size_t size;
    ix_fi_other close, bind;
    int (*control)(ix_fi_object *object, int command, void *argument);
} ix_fi_fid_ops;

enum { IX_FI_ENABLE = 6 };

typedef struct ix_fi_fabric {
    ix_fi_object object;
    struct ix_fi_fabric_ops *ops;
} ix_fi_fabric;

typedef struct ix_fi_domain {
    ix_fi_object object;
    struct ix_fi_domain_ops *ops;
} ix_fi_domain;

typedef struct ix_fi_cq {
    ix_fi_object object;
    struct ix_fi_cq_ops *ops;
} ix_fi_cq;

typedef struct ix_fi_ep {
    ix_fi_object object;
    void *ops, *cm, *msg;
    struct ix_fi_rma_ops *rma;
    struct ix_fi_tagged_ops *tagged;
    struct ix_fi_atomic_ops *atomic;
} ix_fi_ep;

typedef struct ix_fi_fabric_ops {
    size_t size;
    int (*domain)(ix_fi_fabric *fabric, void *info, ix_fi_domain **domain, void *context);
    ix_fi_other passive_ep, eq_open, wait_open, trywait;
    int (*domain2)(ix_fi_fabric *fabric, void *info, ix_fi_domain **domain, uint64_t flags,
                   void *context);
} ix_fi_fabric_ops;

enum { IX_FI_CONTEXT = 1, IX_FI_MSG, IX_FI_DATA, IX_FI_TAGGED };

typedef struct ix_fi_cq_attr {
    size_t size;
    uint64_t flags;
    int format;
} ix_fi_cq_attr;

typedef struct ix_fi_domain_ops {
    size_t size;
    ix_fi_other av_open;
    int (*cq_open)(ix_fi_domain *domain, ix_fi_cq_attr *attr, ix_fi_cq **cq, void *context);
    int (*endpoint)(ix_fi_domain *domain, void *info, ix_fi_ep **ep, void *context);
    ix_fi_other scalable_ep, cntr_open, poll_open, stx_ctx, srx_ctx, query_atomic;
    ix_fi_other query_collective;
    int (*endpoint2)(ix_fi_domain *domain, void *info, ix_fi_ep **ep, uint64_t flags,
                     void *context);
} ix_fi_domain_ops;

typedef struct ix_fi_msg_tagged {
    const struct iovec *iov;
    void **desc;
    size_t iov_count;
    ix_fi_addr addr;
    uint64_t tag, ignore;
    void *context;
    uint64_t data;
} ix_fi_msg_tagged;

typedef struct ix_fi_tagged_ops {
    size_t size;
    ssize_t (*recv)(ix_fi_ep *ep, void *buf, size_t len, void *desc, ix_fi_addr from, uint64_t tag,
                    uint64_t ignore, void *context);
    ssize_t (*recvv)(ix_fi_ep *ep, const struct iovec *iov, void **desc, size_t count,
                     ix_fi_addr from, uint64_t tag, uint64_t ignore, void *context);
    ssize_t (*recvmsg)(ix_fi_ep *ep, const ix_fi_msg_tagged *msg, uint64_t flags);
    ssize_t (*send)(ix_fi_ep *ep, const void *buf, size_t len, void *desc, ix_fi_addr to,
                    uint64_t tag, void *context);
    ssize_t (*sendv)(ix_fi_ep *ep, const struct iovec *iov, void **desc, size_t count,
                     ix_fi_addr to, uint64_t tag, void *context);
    ssize_t (*sendmsg)(ix_fi_ep *ep, const ix_fi_msg_tagged *msg, uint64_t flags);
    ssize_t (*inject)(ix_fi_ep *ep, const void *buf, size_t len, ix_fi_addr to, uint64_t tag);
    ssize_t (*senddata)(ix_fi_ep *ep, const void *buf, size_t len, void *desc, uint64_t data,
                        ix_fi_addr to, uint64_t tag, void *context);
    ssize_t (*injectdata)(ix_fi_ep *ep, const void *buf, size_t len, uint64_t data, ix_fi_addr to,
                          uint64_t tag);
} ix_fi_tagged_ops;

typedef struct ix_fi_msg_rma {
    const struct iovec *iov;
    void **desc;
    size_t iov_count;
    ix_fi_addr addr;
    const void *rma_iov;
    size_t rma_iov_count;
    void *context;
    uint64_t data;
} ix_fi_msg_rma;

typedef struct ix_fi_rma_ops {
    size_t size;
    ssize_t (*read)(ix_fi_ep *ep, void *buf, size_t len, void *desc, ix_fi_addr from, uint64_t addr,
                    uint64_t key, void *context);
    ssize_t (*readv)(ix_fi_ep *ep, const struct iovec *iov, void **desc, size_t count,
                     ix_fi_addr from, uint64_t addr, uint64_t key, void *context);
    ssize_t (*readmsg)(ix_fi_ep *ep, const ix_fi_msg_rma *msg, uint64_t flags);
    ssize_t (*write)(ix_fi_ep *ep, const void *buf, size_t len, void *desc, ix_fi_addr to,
                     uint64_t addr, uint64_t key, void *context);
    ssize_t (*writev)(ix_fi_ep *ep, const struct iovec *iov, void **desc, size_t count,
                      ix_fi_addr to, uint64_t addr, uint64_t key, void *context);
    ssize_t (*writemsg)(ix_fi_ep *ep, const ix_fi_msg_rma *msg, uint64_t flags);
    ssize_t (*inject)(ix_fi_ep *ep, const void *buf, size_t len, ix_fi_addr to, uint64_t addr,
                      uint64_t key);
    ssize_t (*writedata)(ix_fi_ep *ep, const void *buf, size_t len, void *desc, uint64_t data,
                         ix_fi_addr to, uint64_t addr, uint64_t key, void *context);
    ssize_t (*injectdata)(ix_fi_ep *ep, const void *buf, size_t len, uint64_t data, ix_fi_addr to,
                          uint64_t addr, uint64_t key);
} ix_fi_rma_ops;

typedef struct ix_fi_ioc { /* so many elements of a datatype */
    void *addr;
    size_t count;
} ix_fi_ioc;

typedef struct ix_fi_msg_atomic {
    const ix_fi_ioc *iov;
    void **desc;
    size_t iov_count;
    ix_fi_addr addr;
    const void *rma_iov;
    size_t rma_iov_count;
    int datatype, op;
    void *context;
    uint64_t data;
} ix_fi_msg_atomic;

typedef struct ix_fi_atomic_ops {
    size_t size;
    ssize_t (*write)(ix_fi_ep *ep, const void *buf, size_t count, void *desc, ix_fi_addr to,
                     uint64_t addr, uint64_t key, int datatype, int op, void *context);
    ssize_t (*writev)(ix_fi_ep *ep, const ix_fi_ioc *iov, void **desc, size_t count, ix_fi_addr to,
                      uint64_t addr, uint64_t key, int datatype, int op, void *context);
    ssize_t (*writemsg)(ix_fi_ep *ep, const ix_fi_msg_atomic *msg, uint64_t flags);
    ssize_t (*inject)(ix_fi_ep *ep, const void *buf, size_t count, ix_fi_addr to, uint64_t addr,
                      uint64_t key, int datatype, int op);
    ssize_t (*readwrite)(ix_fi_ep *ep, const void *buf, size_t count, void *desc, void *result,
                         void *result_desc, ix_fi_addr to, uint64_t addr, uint64_t key,
                         int datatype, int op, void *context);
    ssize_t (*readwritev)(ix_fi_ep *ep, const ix_fi_ioc *iov, void **desc, size_t count,
                          ix_fi_ioc *result, void **result_desc, size_t results, ix_fi_addr to,
                          uint64_t addr, uint64_t key, int datatype, int op, void *context);
    ssize_t (*readwritemsg)(ix_fi_ep *ep, const ix_fi_msg_atomic *msg, ix_fi_ioc *result,
                            void **result_desc, size_t results, uint64_t flags);
    ssize_t (*compwrite)(ix_fi_ep *ep, const void *buf, size_t count, void *desc,
                         const void *compare, void *compare_desc, void *result, void *result_desc,
                         ix_fi_addr to, uint64_t addr, uint64_t key, int datatype, int op,
                         void *context);
    ssize_t (*compwritev)(ix_fi_ep *ep, const ix_fi_ioc *iov, void **desc, size_t count,
                          const ix_fi_ioc *compare, void **compare_desc, size_t compares,
                          ix_fi_ioc *result, void **result_desc, size_t results, ix_fi_addr to,
                          uint64_t addr, uint64_t key, int datatype, int op, void *context);
    ssize_t (*compwritemsg)(ix_fi_ep *ep, const ix_fi_msg_atomic *msg, const ix_fi_ioc *compare,
                            void **compare_desc, size_t compares, ix_fi_ioc *result,
                            void **result_desc, size_t results, uint64_t flags);
} ix_fi_atomic_ops;

/* Bytes of an element by enum fi_datatype; later ones are not known. */
enum { IX_FI_DATATYPES = 14 };
#define IX_FI_DATATYPE_BYTES                                                                       \
    {                                                                                              \
        1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 8, 16, 16, 32                                                \
    }

#define IX_FI_PEEK (UINT64_C(1) << 19)
#define IX_FI_REMOTE_CQ_DATA (UINT64_C(1) << 17)
#define IX_FI_DISCARD (UINT64_C(1) << 58)

typedef struct ix_fi_entry { /* of a completion queue; shorter formats end sooner */
    void *context;
    uint64_t flags;
    size_t len;
    void *buf;
    uint64_t data, tag;
} ix_fi_entry;

typedef struct ix_fi_cq_ops {
    size_t size;
    ssize_t (*read)(ix_fi_cq *cq, void *buf, size_t count);
    ssize_t (*readfrom)(ix_fi_cq *cq, void *buf, size_t count, ix_fi_addr *from);
    ssize_t (*readerr)(ix_fi_cq *cq, ix_fi_entry *error, uint64_t flags);
    ssize_t (*sread)(ix_fi_cq *cq, void *buf, size_t count, const void *condition, int timeout);
    ssize_t (*sreadfrom)(ix_fi_cq *cq, void *buf, size_t count, ix_fi_addr *from,
                         const void *condition, int timeout);
} ix_fi_cq_ops;

#endif
