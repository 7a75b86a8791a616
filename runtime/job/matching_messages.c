/* Messages: each rank tells the other side when it began and ended its own. */
#include <string.h>

#include "job/clocks.h"
#include "job/matching_parts.h"

enum { AT_ONCE = (IX_BLOCK_BYTES - sizeof(ix_block_head)) / sizeof(ix_told), CONVERTED = 64 };

int ix_messages_start(ix_message_exchange *m, ix_matched_log *of)
{
    m->of = of;
    return ix_pairing_start(&m->pairing, &of->view, ix_matched_world_rank, of);
}

void ix_messages_end(ix_message_exchange *m)
{
    ix_pairing_end(&m->pairing);
}

static void convert(const ix_matched_log *of, ix_told *told,
                    int64_t (*converted)(const ix_matched_log *, int64_t))
{
    told->start_enter = converted(of, told->start_enter);
    told->start_exit = converted(of, told->start_exit);
    told->end_enter = converted(of, told->end_enter);
    told->end_exit = converted(of, told->end_exit);
}

size_t ix_messages_tell(ix_message_exchange *m, int *rank, void *block)
{
    ix_told *told = (void *)((char *)block + sizeof(ix_block_head));
    uint32_t count = ix_pairing_tell(&m->pairing, &m->of->view, &m->telling, AT_ONCE, told, rank);
    for (uint32_t i = 0; i < count; i++)
        convert(m->of, &told[i], ix_record_to_common);
    *(ix_block_head *)block = (ix_block_head){IX_BLOCK_MESSAGES, count};
    return count ? sizeof(ix_block_head) + count * sizeof *told : 0;
}

void ix_messages_hear(ix_message_exchange *m, int rank, const void *block)
{
    const ix_block_head *head = block;
    const char *items = (const char *)block + sizeof *head;
    int64_t error_ns = ix_clock_error_ns(rank);
    ix_told told[CONVERTED];
    for (size_t done = 0, now; done < head->count; done += now) {
        now = head->count - done < CONVERTED ? head->count - done : CONVERTED;
        memcpy(told, items + done * sizeof *told, now * sizeof *told);
        for (size_t i = 0; i < now; i++)
            convert(m->of, &told[i], ix_record_from_common);
        ix_pairing_hear(&m->pairing, &m->of->view, rank, told, now, error_ns);
    }
}
