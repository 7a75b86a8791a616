/* Markers at the entry and the exit of each MPI call for tools that follow the whole system: perf,
 * bpftrace, SystemTap and gdb know them as the probes imbrex:call_entered and imbrex:call_left. A
 * tool can so tell what the kernel did (page faults, switches, packets) while a rank was in a call,
 * and of which call site, of a program that is measured anyway.
 *
 * A marker is one instruction that does nothing and a note in the ELF file that says where it is
 * and where its arguments stand; the format is that of SystemTap's sys/sdt.h, version 3, written
 * out here so that the header need not be installed. */
#include "mpi/observers.h"

#include <stdlib.h>
#include <string.h>

#include "base/warnings.h"
#include "generated/operations.h"

#if defined(__x86_64__) || defined(__aarch64__)
#define HAS_MARKERS 1

/* Arguments are three registers of 8 bytes; the last is signed. */
#define MARK(name, first, second, third)                                                           \
    __asm__ volatile("990: nop\n"                                                                  \
                     ".pushsection .note.stapsdt,\"?\",\"note\"\n"                                 \
                     ".balign 4\n"                                                                 \
                     ".4byte 992f-991f, 994f-993f, 3\n"                                            \
                     "991: .asciz \"stapsdt\"\n"                                                   \
                     "992: .balign 4\n"                                                            \
                     "993: .8byte 990b, _.stapsdt.base, 0\n"                                       \
                     ".asciz \"imbrex\"\n"                                                         \
                     ".asciz \"" name "\"\n"                                                       \
                     ".asciz \"8@%[a] 8@%[b] -8@%[c]\"\n"                                          \
                     "994: .balign 4\n"                                                            \
                     ".popsection\n"                                                               \
                     ".ifndef _.stapsdt.base\n"                                                    \
                     ".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"       \
                     ".weak _.stapsdt.base\n"                                                      \
                     ".hidden _.stapsdt.base\n"                                                    \
                     "_.stapsdt.base: .space 1\n"                                                  \
                     ".size _.stapsdt.base, 1\n"                                                   \
                     ".popsection\n"                                                               \
                     ".endif\n"                                                                    \
                     :                                                                             \
                     : [a] "r"(first), [b] "r"(second), [c] "r"(third))
#else
#define HAS_MARKERS 0
#define MARK(name, first, second, third) ((void)(first), (void)(second), (void)(third))
#endif

static __thread int64_t entered_ns;

static void call_entered(ix_thread *t)
{
    entered_ns = t->last_ns;
    MARK("call_entered", ix_operation_names[t->operation], t->address, t->last_ns);
}

static void call_left(ix_thread *t)
{
    MARK("call_left", ix_operation_names[t->operation], t->address, t->last_ns - entered_ns);
}

static int job_started(const ix_job *job)
{
    const char *wanted = getenv("IMBREX_MARKERS");
    if (!wanted || !strcmp(wanted, "off"))
        return 0;
    int is_on = !strcmp(wanted, "on");
    if (job->rank == 0 && !is_on)
        ix_warn("IMBREX_MARKERS=%.40s: write on or off: no call is marked", wanted);
    else if (job->rank == 0 && !HAS_MARKERS)
        ix_warn("IMBREX_MARKERS=on: no call is marked on this processor");
    return HAS_MARKERS && is_on;
}

const ix_observer ix_call_markers = {.name = "call markers",
                                     .job_started = job_started,
                                     .call_entered = call_entered,
                                     .call_left = call_left};
