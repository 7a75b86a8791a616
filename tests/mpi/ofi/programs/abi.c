/* What the source declares of libfabric is what libfabric's headers declare. */
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include "transport/ofi_abi.h"

#define SAME(a, b) _Static_assert((a) == (b), #a)
#define AT(mine, field, theirs, their_field)                                                       \
    SAME(offsetof(mine, field), offsetof(struct theirs, their_field))
AT(ix_fi_object, ops, fid, ops);
AT(ix_fi_fid_ops, control, fi_ops, control);
SAME((int)IX_FI_ENABLE, (int)FI_ENABLE);
AT(ix_fi_fabric, ops, fid_fabric, ops);
AT(ix_fi_domain, ops, fid_domain, ops);
AT(ix_fi_cq, ops, fid_cq, ops);
AT(ix_fi_ep, rma, fid_ep, rma);
AT(ix_fi_ep, tagged, fid_ep, tagged);
AT(ix_fi_fabric_ops, domain, fi_ops_fabric, domain);
AT(ix_fi_fabric_ops, domain2, fi_ops_fabric, domain2);
AT(ix_fi_domain_ops, cq_open, fi_ops_domain, cq_open);
AT(ix_fi_domain_ops, endpoint, fi_ops_domain, endpoint);
AT(ix_fi_domain_ops, endpoint2, fi_ops_domain, endpoint2);
AT(ix_fi_cq_attr, format, fi_cq_attr, format);
SAME((int)IX_FI_CONTEXT, (int)FI_CQ_FORMAT_CONTEXT);
SAME((int)IX_FI_TAGGED, (int)FI_CQ_FORMAT_TAGGED);
AT(ix_fi_msg_tagged, context, fi_msg_tagged, context);
AT(ix_fi_msg_tagged, data, fi_msg_tagged, data);
SAME(sizeof(ix_fi_msg_tagged), sizeof(struct fi_msg_tagged));
AT(ix_fi_tagged_ops, recv, fi_ops_tagged, recv);
AT(ix_fi_tagged_ops, sendmsg, fi_ops_tagged, sendmsg);
AT(ix_fi_tagged_ops, injectdata, fi_ops_tagged, injectdata);
AT(ix_fi_msg_rma, iov_count, fi_msg_rma, iov_count);
AT(ix_fi_msg_rma, context, fi_msg_rma, context);
SAME(sizeof(ix_fi_msg_rma), sizeof(struct fi_msg_rma));
AT(ix_fi_rma_ops, read, fi_ops_rma, read);
AT(ix_fi_rma_ops, readmsg, fi_ops_rma, readmsg);
AT(ix_fi_rma_ops, write, fi_ops_rma, write);
AT(ix_fi_rma_ops, writemsg, fi_ops_rma, writemsg);
AT(ix_fi_rma_ops, inject, fi_ops_rma, inject);
AT(ix_fi_rma_ops, injectdata, fi_ops_rma, injectdata);
SAME(sizeof(ix_fi_rma_ops), sizeof(struct fi_ops_rma));
AT(ix_fi_ep, atomic, fid_ep, atomic);
SAME(sizeof(ix_fi_ioc), sizeof(struct fi_ioc));
AT(ix_fi_ioc, count, fi_ioc, count);
AT(ix_fi_msg_atomic, iov_count, fi_msg_atomic, iov_count);
AT(ix_fi_msg_atomic, datatype, fi_msg_atomic, datatype);
AT(ix_fi_msg_atomic, context, fi_msg_atomic, context);
SAME(sizeof(ix_fi_msg_atomic), sizeof(struct fi_msg_atomic));
AT(ix_fi_atomic_ops, write, fi_ops_atomic, write);
AT(ix_fi_atomic_ops, inject, fi_ops_atomic, inject);
AT(ix_fi_atomic_ops, readwritemsg, fi_ops_atomic, readwritemsg);
AT(ix_fi_atomic_ops, compwritemsg, fi_ops_atomic, compwritemsg);
SAME(IX_FI_DATATYPES, FI_LONG_DOUBLE_COMPLEX + 1);
SAME(FI_INT8, 0);
SAME(FI_UINT64, 7);
SAME(FI_DOUBLE_COMPLEX, 11);
AT(ix_fi_entry, len, fi_cq_tagged_entry, len);
AT(ix_fi_entry, tag, fi_cq_tagged_entry, tag);
AT(ix_fi_entry, tag, fi_cq_err_entry, tag);
SAME(sizeof(ix_fi_entry), sizeof(struct fi_cq_tagged_entry));
AT(ix_fi_entry, buf, fi_cq_data_entry, buf);
SAME(offsetof(ix_fi_entry, data) + sizeof(uint64_t), sizeof(struct fi_cq_data_entry));
SAME(offsetof(ix_fi_entry, buf), sizeof(struct fi_cq_msg_entry));
AT(ix_fi_cq_ops, readerr, fi_ops_cq, readerr);
AT(ix_fi_cq_ops, sreadfrom, fi_ops_cq, sreadfrom);
SAME(IX_FI_PEEK, FI_PEEK);
SAME(IX_FI_DISCARD, FI_DISCARD);
SAME(IX_FI_REMOTE_CQ_DATA, FI_REMOTE_CQ_DATA);
