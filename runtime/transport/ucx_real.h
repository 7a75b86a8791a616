/* UCP's own functions, behind those of the same name here, and what they return. */
#ifndef IMBREX_TRANSPORT_UCX_REAL_H
#define IMBREX_TRANSPORT_UCX_REAL_H

#include "base/symbols.h"
#include "transport/ucx_abi.h"

/* Declares `real`, of this type. */
#define IX_REAL(type, name)                                                                        \
    static type real;                                                                              \
    if (IX_UNLIKELY(!real))                                                                        \
        real = (type)ix_next_symbol(name);

static inline int ix_ucx_is_error(const void *result)
{
    return (uintptr_t)result >= (uintptr_t)(intptr_t)IX_UCS_LAST_ERROR;
}

#endif
