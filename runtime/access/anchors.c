#include "access/anchors.h"

#include "access/callers.h"
#include "access/timeline.h"
#include "access/watch.h"

#include <stdlib.h>

enum { PATIENCE = 1 << 14, SEARCHES = 3 };

/* What the watchpoint of the clean run is on. */
static struct {
    ixa_message_t *message;
    uintptr_t buffer;
    int anchor, patience;
    double reference_ns;
} watched;

size_t ixa_anchor_element(const ixa_message_t *message, int a)
{
    size_t last = message->elements ? message->elements - 1 : 0;
    const size_t places[IXA_ANCHORS] = {0, last, last / 2, last / 4, last - last / 4};
    return places[a];
}

/* The watchpoint goes round: it is the turn of a message that had no more tries than the others
 * that recur as it does. */
static int is_turn_of(const ixa_message_t *message)
{
    uint64_t most_calls = 0;
    uint32_t fewest = UINT32_MAX;
    for (size_t i = 0; i < ixa_message_count; i++)
        if (ixa_messages[i].elements && ixa_messages[i].calls > most_calls)
            most_calls = ixa_messages[i].calls;
    for (size_t i = 0; i < ixa_message_count; i++)
        if (ixa_messages[i].elements && ixa_messages[i].calls * 2 >= most_calls &&
            ixa_messages[i].tries < fewest)
            fewest = ixa_messages[i].tries;
    return message->tries <= fewest;
}

/* Code that is not the caller's touched the message. */
static void note_touch(ixa_message_t *m)
{
    const void *code = ixa_watch_code(), *image = ixa_image_of(code);
    /* The C library copies for everyone; the recorder sees when. */
    if (!image || image == ixa_image_of(m->site) || image == ixa_image_of((const void *)&qsort))
        return;
    uint32_t i = 0;
    while (i < m->touches && ixa_image_of(m->touched[i].code) != image)
        i++;
    if (i == IXA_TOUCHES)
        return;
    m->touches += i == m->touches;
    ixa_touch_t *touch = &m->touched[i];
    touch->count++;
    touch->code = code;
    if (ixa_watch_call())
        touch->call = ixa_watch_call();
}

/* Whether the next try shall find out which call touched it, instead of when. */
static int is_call_sought(ixa_message_t *m)
{
    for (uint32_t i = 0; i < m->touches; i++)
        if (!m->touched[i].call && m->calls_sought < SEARCHES) {
            m->calls_sought++;
            return 1;
        }
    return 0;
}

static void conclude(int valid)
{
    double ns, time;
    ixa_message_t *m = watched.message;
    if (valid)
        note_touch(m);
    if (ixa_watch_disarm(&ns) && valid) {
        time = m->is_send ? ixa_timeline->now_ns - ns : ns - watched.reference_ns;
        m->anchor_ns[watched.anchor][m->samples[watched.anchor]++ % IXA_SAMPLES] = time;
    }
    m->tries++;
    watched.message = NULL;
}

/* Before every event of a message: is the watchpoint's task done, or hopeless? */
void ixa_anchors_before(const ixa_message_t *message, uintptr_t buffer)
{
    if (!watched.message || ixa_timeline->number != 0)
        return;
    int again = watched.message == message;
    if (ixa_watch_found() || (again && watched.message->is_send))
        conclude(ixa_watch_found() || watched.buffer == buffer);
    else if (again || watched.patience-- == 0)
        conclude(0);
}

void ixa_anchors_after(ixa_message_t *message, uintptr_t buffer)
{
    if (watched.message || message->thread != 0 || ixa_timeline->number != 0 ||
        !message->elements || !ixa_watch_works() || !is_turn_of(message))
        return;
    watched.message = message;
    watched.buffer = buffer;
    watched.anchor = (int)(message->tries % IXA_ANCHORS);
    watched.patience = PATIENCE;
    watched.reference_ns = ixa_timeline->now_ns;
    size_t element = ixa_anchor_element(message, watched.anchor);
    ixa_watch_arm(buffer + (uintptr_t)message->offset[element], message->element_bytes,
                  message->is_send, is_call_sought(message) ? message->site : NULL);
    if (!ixa_watch_busy())
        watched.message = NULL;
}

void ixa_anchors_finish(void)
{
    if (watched.message)
        conclude(ixa_watch_found());
}
