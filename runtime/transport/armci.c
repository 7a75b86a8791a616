/* The calls of ARMCI, through its profiling names (PARMCI_*). ARMCI is a static library whose
 * ARMCI_* are weak, so this is linked into the program before it; the MPI calls that ARMCI makes
 * inside are then not counted once more. Without the Imbrex runtime in the process every function
 * only forwards. What a transfer's begin and end are: docs/guide/armci.md. */
#include "armci_wrap.h"

int ARMCI_Init(void)
{
    find_runtime();
    ENTER(Init);
    int rc = PARMCI_Init();
    LEAVE();
    return rc;
}

int ARMCI_Init_args(int *argc, char ***argv)
{
    find_runtime();
    ENTER(Init_args);
    int rc = PARMCI_Init_args(argc, argv);
    LEAVE();
    return rc;
}

int ARMCI_Init_thread(int level)
{
    find_runtime();
    ENTER(Init_thread);
    int rc = PARMCI_Init_thread(level);
    LEAVE();
    return rc;
}

int ARMCI_Init_thread_comm(int level, MPI_Comm comm)
{
    find_runtime();
    ENTER(Init_thread_comm);
    int rc = PARMCI_Init_thread_comm(level, comm);
    if (runtime)
        number_processes(comm);
    LEAVE();
    return rc;
}

int ARMCI_Finalize(void)
{
    ENTER(Finalize);
    int rc = PARMCI_Finalize();
    fenced(call, IMBREX_EVERYBODY);
    waited(call, IMBREX_EVERYBODY);
    LEAVE();
    free(world_ranks);
    world_ranks = NULL;
    return rc;
}

/* Others may now read and write the memory unseen. */
int ARMCI_Malloc(void **pointers, armci_size_t bytes)
{
    ENTER(Malloc);
    int rc = PARMCI_Malloc(pointers, bytes);
    if (call && rc == 0)
        runtime->expose(call, 1);
    LEAVE();
    return rc;
}

int ARMCI_Free(void *pointer)
{
    ENTER(Free);
    int rc = PARMCI_Free(pointer);
    if (call && rc == 0)
        runtime->expose(call, -1);
    LEAVE();
    return rc;
}

/* These move nothing of this process: they are timed, and no transfer stands in their rows. */

#define SILENT(result, name, parameters, arguments)                                                \
    result ARMCI_##name parameters                                                                 \
    {                                                                                              \
        ENTER(name);                                                                               \
        result value = PARMCI_##name arguments;                                                    \
        LEAVE();                                                                                   \
        return value;                                                                              \
    }

#define SILENT_VOID(name, parameters, arguments)                                                   \
    void ARMCI_##name parameters                                                                   \
    {                                                                                              \
        ENTER(name);                                                                               \
        PARMCI_##name arguments;                                                                   \
        LEAVE();                                                                                   \
    }

SILENT(void *, Malloc_local, (armci_size_t bytes), (bytes))
SILENT(int, Free_local, (void *pointer), (pointer))
SILENT(int, Create_mutexes, (int count), (count))
SILENT(int, Destroy_mutexes, (void), ())
SILENT(int, Test, (armci_hdl_t * handle), (handle))
SILENT_VOID(Access_begin, (void *pointer), (pointer))
SILENT_VOID(Access_end, (void *pointer), (pointer))
SILENT_VOID(Lock, (int mutex, int proc), (mutex, proc))
SILENT_VOID(Unlock, (int mutex, int proc), (mutex, proc))

void ARMCI_Fence(int proc)
{
    ENTER(Fence);
    PARMCI_Fence(proc);
    fenced(call, rank_of(proc));
    LEAVE();
}

void ARMCI_AllFence(void)
{
    ENTER(AllFence);
    PARMCI_AllFence();
    fenced(call, IMBREX_EVERYBODY);
    LEAVE();
}

void ARMCI_Barrier(void)
{
    ENTER(Barrier);
    PARMCI_Barrier();
    fenced(call, IMBREX_EVERYBODY);
    LEAVE();
}

int ARMCI_Wait(armci_hdl_t *handle)
{
    ENTER(Wait);
    int rc = PARMCI_Wait(handle);
    if (call && rc == 0) {
        waited_for(call, handle, IMBREX_EVERYBODY);
        drop_handle(handle);
    }
    LEAVE();
    return rc;
}

int ARMCI_WaitProc(int proc)
{
    ENTER(WaitProc);
    int rc = PARMCI_WaitProc(proc);
    if (rc == 0)
        waited(call, rank_of(proc));
    LEAVE();
    return rc;
}

int ARMCI_WaitAll(void)
{
    ENTER(WaitAll);
    int rc = PARMCI_WaitAll();
    if (rc == 0)
        waited(call, IMBREX_EVERYBODY);
    LEAVE();
    return rc;
}

/* Put, get and accumulate: contiguous, strided (S) and vector (V), each blocking and nonblocking.
 */

#define BLOCKING(name, direction, size, parameters, arguments)                                     \
    int ARMCI_##name parameters                                                                    \
    {                                                                                              \
        ENTER(name);                                                                               \
        int rc = PARMCI_##name arguments;                                                          \
        if (rc == 0)                                                                               \
            moved(call, direction, proc, size);                                                    \
        LEAVE();                                                                                   \
        return rc;                                                                                 \
    }

#define NONBLOCKING(name, direction, size, parameters, arguments)                                  \
    int ARMCI_##name parameters                                                                    \
    {                                                                                              \
        ENTER(name);                                                                               \
        int rc = PARMCI_##name arguments;                                                          \
        if (rc == 0)                                                                               \
            begun(call, direction, proc, size, handle);                                            \
        LEAVE();                                                                                   \
        return rc;                                                                                 \
    }

/* Parameters in parentheses, with or without more at their end. */
#define WITH(...) (__VA_ARGS__)
#define SPREAD(...) __VA_ARGS__

#define BOTH(name, direction, size, parameters, arguments)                                         \
    BLOCKING(name, direction, size, WITH(SPREAD parameters), WITH(SPREAD arguments))               \
    NONBLOCKING(Nb##name, direction, size, WITH(SPREAD parameters, armci_hdl_t *handle),           \
                WITH(SPREAD arguments, handle))

#define STRIDED                                                                                    \
    void *from, int from_strides[], void *to, int to_strides[], int count[], int levels, int proc
#define STRIDED_ARGUMENTS from, from_strides, to, to_strides, count, levels, proc

BOTH(Put, IMBREX_PUT, bytes, (void *from, void *to, int bytes, int proc), (from, to, bytes, proc))
BOTH(Get, IMBREX_GET, bytes, (void *from, void *to, int bytes, int proc), (from, to, bytes, proc))
BOTH(Acc, IMBREX_PUT, bytes, (int type, void *scale, void *from, void *to, int bytes, int proc),
     (type, scale, from, to, bytes, proc))
BOTH(PutS, IMBREX_PUT, strided_bytes(count, levels), (STRIDED), (STRIDED_ARGUMENTS))
BOTH(GetS, IMBREX_GET, strided_bytes(count, levels), (STRIDED), (STRIDED_ARGUMENTS))
BOTH(AccS, IMBREX_PUT, strided_bytes(count, levels), (int type, void *scale, STRIDED),
     (type, scale, STRIDED_ARGUMENTS))
BOTH(PutV, IMBREX_PUT, vector_bytes(vectors, length),
     (armci_giov_t * vectors, int length, int proc), (vectors, length, proc))
BOTH(GetV, IMBREX_GET, vector_bytes(vectors, length),
     (armci_giov_t * vectors, int length, int proc), (vectors, length, proc))
BOTH(AccV, IMBREX_PUT, vector_bytes(vectors, length),
     (int type, void *scale, armci_giov_t *vectors, int length, int proc),
     (type, scale, vectors, length, proc))

BOTH(PutValueInt, IMBREX_PUT, (int64_t)sizeof value, (int value, void *to, int proc),
     (value, to, proc))
BOTH(PutValueLong, IMBREX_PUT, (int64_t)sizeof value, (long value, void *to, int proc),
     (value, to, proc))
BOTH(PutValueFloat, IMBREX_PUT, (int64_t)sizeof value, (float value, void *to, int proc),
     (value, to, proc))
BOTH(PutValueDouble, IMBREX_PUT, (int64_t)sizeof value, (double value, void *to, int proc),
     (value, to, proc))

BLOCKING(Put_flag, IMBREX_PUT, bytes + (int64_t)sizeof *flag,
         (void *from, void *to, int bytes, int *flag, int value, int proc),
         (from, to, bytes, flag, value, proc))
BLOCKING(PutS_flag, IMBREX_PUT, strided_bytes(count, levels) + (int64_t)sizeof *flag,
         (void *from, int from_strides[], void *to, int to_strides[], int count[], int levels,
          int *flag, int value, int proc),
         (from, from_strides, to, to_strides, count, levels, flag, value, proc))
/* The old value comes back. */
BLOCKING(Rmw, IMBREX_GET,
         op == ARMCI_FETCH_AND_ADD || op == ARMCI_SWAP ? (int64_t)sizeof(int)
                                                       : (int64_t)sizeof(long),
         (int op, void *local, void *remote, int value, int proc), (op, local, remote, value, proc))

#define GET_VALUE(name, type)                                                                      \
    type ARMCI_##name(void *from, int proc)                                                        \
    {                                                                                              \
        ENTER(name);                                                                               \
        type value = PARMCI_##name(from, proc);                                                    \
        moved(call, IMBREX_GET, proc, (int64_t)sizeof value);                                      \
        LEAVE();                                                                                   \
        return value;                                                                              \
    }

GET_VALUE(GetValueInt, int)
GET_VALUE(GetValueLong, long)
GET_VALUE(GetValueFloat, float)
GET_VALUE(GetValueDouble, double)
