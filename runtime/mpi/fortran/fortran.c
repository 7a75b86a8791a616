#define _GNU_SOURCE
#include "mpi/fortran/fortran.h"

#include <assert.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "base/symbols.h"
#include "mpi/library.h"

static_assert(sizeof(MPI_Fint) == sizeof(int), "default INTEGER of the library is not a C int");

ix_f_marker ix_f_in_place, ix_f_status_ignore, ix_f_statuses_ignore;

/* What the libraries call the special addresses. Open MPI exports each under all spellings and, in
 * a program that is not position independent, the object lies in the program. */
typedef struct names {
    ix_f_marker *marker;
    const char *objects[8];
    const char *variables[3];
} names;

static const names all_names[] = {
    {&ix_f_in_place,
     {"mpi_fortran_in_place_", "mpi_fortran_in_place", "mpi_fortran_in_place__",
      "MPI_FORTRAN_IN_PLACE", "MPIR_F08_MPI_IN_PLACE"},
     {"MPIR_F_MPI_IN_PLACE"}},
    {&ix_f_status_ignore,
     {"mpi_fortran_status_ignore_", "mpi_fortran_status_ignore", "mpi_fortran_status_ignore__",
      "MPI_FORTRAN_STATUS_IGNORE", "MPIR_F08_MPI_STATUS_IGNORE_OBJ"},
     {"MPI_F_STATUS_IGNORE", "MPI_F08_STATUS_IGNORE"}},
    {&ix_f_statuses_ignore,
     {"mpi_fortran_statuses_ignore_", "mpi_fortran_statuses_ignore",
      "mpi_fortran_statuses_ignore__", "MPI_FORTRAN_STATUSES_IGNORE",
      "MPIR_F08_MPI_STATUSES_IGNORE_OBJ"},
     {"MPI_F_STATUSES_IGNORE", "MPI_F08_STATUSES_IGNORE"}},
};

/* The definition that the program uses, which may be a copy within the program itself. */
static const void *data_symbol(const char *name)
{
    const void *symbol = dlsym(RTLD_DEFAULT, name);
    return symbol ? symbol : ix_next_symbol(name);
}

/* Threads that come here at once write the same. */
static void find_markers(void)
{
    static int found;
    if (__atomic_load_n(&found, __ATOMIC_ACQUIRE))
        return;
    for (size_t m = 0; m < sizeof all_names / sizeof all_names[0]; m++) {
        const names *n = &all_names[m];
        size_t used = 0;
        for (size_t i = 0; n->objects[i]; i++) {
            const void *symbol = data_symbol(n->objects[i]);
            if (symbol)
                n->marker->objects[used++] = symbol;
        }
        used = 0;
        for (size_t i = 0; i < 3 && n->variables[i]; i++) {
            const void *symbol = data_symbol(n->variables[i]);
            if (symbol)
                n->marker->variables[used++] = symbol;
        }
    }
    __atomic_store_n(&found, 1, __ATOMIC_RELEASE);
}

ix_f_any *ix_f_find(ix_f_any **found, const char *const *names)
{
    ix_resolve_once();
    find_markers();
    for (const char *const *name = names; *name; name++) {
        void *symbol = ix_next_symbol(*name);
        if (symbol) {
            ix_f_any *function;
            memcpy(&function, &symbol, sizeof function);
            __atomic_store_n(found, function, __ATOMIC_RELEASE);
            return function;
        }
    }
    fprintf(stderr, "imbrex: the program calls %s, which its MPI library does not have\n",
            names[0]);
    abort();
}

int ix_f_first_f08(void)
{
    static int known = -1;
    static ix_f_any *found;
    int first = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (IX_LIKELY(first >= 0))
        return first;
    first = 1;
    if (!ix_measuring)
        return first;
    void (*waitany)(void *, void *, void *, void *, MPI_Fint *) =
        (void (*)(void *, void *, void *, void *, MPI_Fint *))IX_F_NEXT(found, "mpi_waitany_f08_");
    /* The only request of one: its position is the first. No communication, nothing recorded. */
    ix_thread *t = ix_enter(IX_OP_Waitany, NULL);
    MPI_Request request;
    if (PMPI_Isend(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request) == MPI_SUCCESS) {
        MPI_Fint one = 1, given = PMPI_Request_c2f(request), position = 1, ierror = 0;
        MPI_Status status;
        waitany(&one, &given, &position, &status, &ierror);
        if (ierror == MPI_SUCCESS && position == 0)
            first = 0;
    }
    ix_leave_uncounted(t);
    __atomic_store_n(&known, first, __ATOMIC_RELAXED);
    return first;
}

/* MPI_Init with another level of thread support goes through the library's own function of Fortran,
 * which sets what its Fortran needs. */

typedef void init_thread_call(const MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror);

static void init_thread(init_thread_call *next, MPI_Fint *ierror)
{
    MPI_Fint required = MPI_THREAD_MULTIPLE, provided = 0;
    next(&required, &provided, ierror);
}

static void init_multiple(MPI_Fint *ierror)
{
    static ix_f_any *found;
    init_thread((init_thread_call *)IX_F_NEXT(found, "mpi_init_thread_", "mpi_init_thread__",
                                              "mpi_init_thread", "MPI_INIT_THREAD"),
                ierror);
}

static void init_multiple_f08(MPI_Fint *ierror)
{
    static ix_f_any *found;
    init_thread((init_thread_call *)IX_F_NEXT(found, "mpi_init_thread_f08_"), ierror);
}

ix_f_any *ix_f_init_of(ix_f_any *next)
{
    if (ix_level_to_ask(MPI_THREAD_SINGLE) == MPI_THREAD_SINGLE)
        return next;
    void *f08 = ix_next_symbol("mpi_init_f08_"), *given;
    memcpy(&given, &next, sizeof given);
    return given == f08 ? (ix_f_any *)init_multiple_f08 : (ix_f_any *)init_multiple;
}

/* MPI_Pcontrol: in Fortran it has the level alone, but MPICH's mpi_f08 adds ierror; what the caller
 * left in its place is passed on, and who does not take it ignores it. */
typedef void pcontrol_call(const MPI_Fint *level, void *more);

static void pcontrol(ix_f_any *next, const MPI_Fint *level, void *more)
{
    ix_pcontrol(*level);
    ((pcontrol_call *)next)(level, more);
}

IX_EXPORT void mpi_pcontrol_(const MPI_Fint *level, void *more)
{
    static ix_f_any *found;
    pcontrol(IX_F_NEXT(found, "mpi_pcontrol_", "mpi_pcontrol__", "mpi_pcontrol", "MPI_PCONTROL"),
             level, more);
}
IX_F_ALSO(mpi_pcontrol__, mpi_pcontrol_, (const MPI_Fint *level, void *more))
IX_F_ALSO(mpi_pcontrol, mpi_pcontrol_, (const MPI_Fint *level, void *more))
IX_F_ALSO(MPI_PCONTROL, mpi_pcontrol_, (const MPI_Fint *level, void *more))

IX_EXPORT void mpi_pcontrol_f08_(const MPI_Fint *level, void *more)
{
    static ix_f_any *found;
    pcontrol(IX_F_NEXT(found, "mpi_pcontrol_f08_"), level, more);
}
