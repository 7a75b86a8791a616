/* Work whose length a busy machine changes little: it sleeps. */
#ifndef PAUSE_H
#define PAUSE_H
#include <time.h>

static void pause_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

#endif
