/* The part of UCX's binary interface (UCP 1.9 and later) that the event source touches, so that it
 * builds where UCX's headers are not installed. UCX keeps it stable: fields are only appended to
 * the parameters, each announced by a bit of op_attr_mask. */
#ifndef IMBREX_TRANSPORT_UCX_ABI_H
#define IMBREX_TRANSPORT_UCX_ABI_H

#include <stddef.h>
#include <stdint.h>

enum {
    IX_UCP_REQUEST = 1u << 0,
    IX_UCP_CALLBACK = 1u << 1,
    IX_UCP_USER_DATA = 1u << 2,
    IX_UCP_DATATYPE = 1u << 3,
    IX_UCP_RECV_INFO = 1u << 7,
    IX_UCP_MEMH = 1u << 8,
    /* what a later UCX appends to the struct below has a bit of 9 to 15 */
    IX_UCP_UNKNOWN_FIELDS = 0xfe00u,
};

enum {
    IX_UCS_OK = 0,
    IX_UCS_CANCELED = -16,
    IX_UCS_LAST_ERROR = -100,
};

typedef struct ix_ucp_tag_info {
    uint64_t sender_tag;
    size_t length; /* bytes */
} ix_ucp_tag_info;

typedef void (*ix_ucp_sent)(void *request, int8_t status, void *user_data);
typedef void (*ix_ucp_received)(void *request, int8_t status, const ix_ucp_tag_info *info,
                                void *user_data);

typedef struct ix_ucp_param {
    uint32_t op_attr_mask;
    uint32_t flags;
    void *request;
    union {
        ix_ucp_sent send;
        ix_ucp_received recv;
    } cb;
    uint64_t datatype;
    void *user_data;
    void *reply_buffer;
    int memory_type;
    ix_ucp_tag_info *tag_info;
    void *memh; /* there only if its bit is set */
} ix_ucp_param;

/* Datatypes: the low three bits say which kind. Contiguous: the rest is the size of an element. */
enum { IX_UCP_CONTIG = 0, IX_UCP_GENERIC = 7, IX_UCP_KINDS = 7, IX_UCP_SHIFT = 3 };

typedef struct ix_ucp_generic {
    void *(*start_pack)(void *context, const void *buffer, size_t count);
    void *(*start_unpack)(void *context, void *buffer, size_t count);
    size_t (*packed_size)(void *state);
    size_t (*pack)(void *state, size_t offset, void *out, size_t room);
    int8_t (*unpack)(void *state, size_t offset, const void *in, size_t length);
    void (*finish)(void *state);
} ix_ucp_generic;

#endif
