/* Runs programs of MPI that were linked as shared objects, one after the other in one job: starting
   ranks takes longer than what many a program computes.

   usage: in_turn FOLDER OBJECT...   rank R writes FOLDER/R.txt

   Each object has its own globals (RTLD_LOCAL), and its MPI_Init and MPI_Finalize do nothing: what
   the library's Fortran calls comes by here too, by the names of PMPI. What ends a process, as STOP
   does, ends the object alone. Behind the output of each stands a line with what its main returned
   and whether a message was left that nobody received. */
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int provided_level;
static bool runs;
static int ended_with;
static jmp_buf behind;

static void *found(void *where, const char *name)
{
    void *symbol = dlsym(where, name);
    if (symbol == NULL) {
        fprintf(stderr, "in_turn: %s\n", dlerror());
        _exit(1);
    }
    return symbol;
}

void exit(int code)
{
    if (runs) {
        ended_with = code;
        longjmp(behind, 1);
    }
    ((void (*)(int))found(RTLD_NEXT, "exit"))(code);
    _exit(code);
}

int MPI_Init(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return MPI_SUCCESS;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    (void)argc;
    (void)argv;
    (void)required;
    *provided = provided_level;
    return MPI_SUCCESS;
}

int MPI_Finalize(void)
{
    return MPI_SUCCESS;
}

int PMPI_Init(int *argc, char ***argv)
{
    return MPI_Init(argc, argv);
}

int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    return MPI_Init_thread(argc, argv, required, provided);
}

int PMPI_Finalize(void)
{
    return MPI_Finalize();
}

static int run(const char *object)
{
    void *program = dlopen(object, RTLD_NOW | RTLD_LOCAL);
    if (program == NULL) {
        fprintf(stderr, "in_turn: %s\n", dlerror());
        _exit(1);
    }
    char *words[] = {(char *)object, NULL};
    int (*its_main)(int, char **) = (int (*)(int, char **))found(program, "main");
    if (setjmp(behind) == 0) {
        runs = true;
        ended_with = its_main(1, words);
    }
    runs = false;
    fflush(stdout);
    void (*flush_units)(int *) = (void (*)(int *))dlsym(program, "_gfortran_flush_i4");
    if (flush_units != NULL)
        flush_units(NULL);
    return ended_with;
}

int main(int argc, char **argv)
{
    int (*start)(int *, char ***, int, int *) =
        (int (*)(int *, char ***, int, int *))found(RTLD_NEXT, "PMPI_Init_thread");
    int (*end)(void) = (int (*)(void))found(RTLD_NEXT, "PMPI_Finalize");
    int rank;
    char name[4096];
    MPI_Comm apart;

    start(&argc, &argv, MPI_THREAD_FUNNELED, &provided_level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &apart);
    snprintf(name, sizeof name, "%s/%d.txt", argv[1], rank);
    int file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644);
    if (file < 0 || dup2(file, STDOUT_FILENO) < 0) {
        perror(name);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int n = 2; n < argc; n++) {
        int result = run(argv[n]), left;
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        MPI_Barrier(apart);
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &left, MPI_STATUS_IGNORE);
        printf("== %d %d %s\n", result, left, argv[n]);
        fflush(stdout);
        MPI_Barrier(apart);
    }
    MPI_Comm_free(&apart);
    end();
    return 0;
}
