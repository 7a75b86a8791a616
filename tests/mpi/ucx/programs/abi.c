/* What the source declares of UCX is what UCX's headers declare. */
#include <ucp/api/ucp.h>
#include "transport/ucx_abi.h"
#define SAME(a, b) _Static_assert((a) == (b), #a)
#define AT(field, theirs) SAME(offsetof(ix_ucp_param, field), offsetof(ucp_request_param_t, theirs))
AT(op_attr_mask, op_attr_mask);
AT(flags, flags);
AT(request, request);
AT(cb, cb);
AT(datatype, datatype);
AT(user_data, user_data);
AT(reply_buffer, reply_buffer);
AT(memory_type, memory_type);
AT(tag_info, recv_info);
AT(memh, memh);
SAME(sizeof(ix_ucp_param), sizeof(ucp_request_param_t));
SAME(sizeof(ucs_status_t), 1);
SAME((int)IX_UCS_CANCELED, (int)UCS_ERR_CANCELED);
SAME((int)IX_UCS_LAST_ERROR, (int)UCS_ERR_LAST);
SAME((int)IX_UCP_REQUEST, (int)UCP_OP_ATTR_FIELD_REQUEST);
SAME((int)IX_UCP_CALLBACK, (int)UCP_OP_ATTR_FIELD_CALLBACK);
SAME((int)IX_UCP_USER_DATA, (int)UCP_OP_ATTR_FIELD_USER_DATA);
SAME((int)IX_UCP_DATATYPE, (int)UCP_OP_ATTR_FIELD_DATATYPE);
SAME((int)IX_UCP_RECV_INFO, (int)UCP_OP_ATTR_FIELD_RECV_INFO);
SAME((int)IX_UCP_MEMH, (int)UCP_OP_ATTR_FIELD_MEMH);
SAME(offsetof(ix_ucp_tag_info, length), offsetof(ucp_tag_recv_info_t, length));
SAME(sizeof(ix_ucp_generic), sizeof(ucp_generic_dt_ops_t));
