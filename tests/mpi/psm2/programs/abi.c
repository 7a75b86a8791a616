/* What the source declares of PSM2 is what PSM2's headers declare. */
#include <psm2.h>
#include <psm2_mq.h>

/* the headers' functions are not those that the source defines */
#define psm2_mq_send2 own_send2
#define psm2_mq_isend2 own_isend2
#define psm2_mq_irecv2 own_irecv2
#define psm2_mq_imrecv own_imrecv
#define psm2_mq_test own_test
#define psm2_mq_test2 own_test2
#define psm2_mq_cancel own_cancel

#include "transport/psm2.c"

#define SAME(a, b) _Static_assert((a) == (b), #a)
#define AT(mine, field, theirs, their_field)                                                       \
    SAME(offsetof(mine, field), offsetof(theirs, their_field))
SAME((int)PSM2_IS_OK, (int)PSM2_OK);
SAME(sizeof(psm2_error_t), sizeof(int));
SAME(sizeof(tested), sizeof(psm2_mq_status_t));
AT(tested, bytes, psm2_mq_status_t, nbytes);
AT(tested, error, psm2_mq_status_t, error_code);
AT(tested, context, psm2_mq_status_t, context);
SAME(sizeof(tested2), sizeof(psm2_mq_status2_t));
SAME(_Alignof(tested2), _Alignof(psm2_mq_status2_t));
AT(tested2, peer, psm2_mq_status2_t, msg_peer);
AT(tested2, bytes, psm2_mq_status2_t, nbytes);
AT(tested2, error, psm2_mq_status2_t, error_code);
AT(tested2, context, psm2_mq_status2_t, context);
