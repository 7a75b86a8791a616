/* MPI as `imbrex transform` reads it where no other mpi.h is given: names and types only. */
#ifndef IMBREX_TRANSFORM_MPI_H
#define IMBREX_TRANSFORM_MPI_H
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef struct imbrex_comm *MPI_Comm;
typedef struct imbrex_datatype *MPI_Datatype;
typedef struct imbrex_request *MPI_Request;
typedef struct imbrex_op *MPI_Op;
typedef struct imbrex_group *MPI_Group;
typedef struct imbrex_info *MPI_Info;
typedef struct imbrex_win *MPI_Win;
typedef struct imbrex_file *MPI_File;
typedef struct imbrex_errhandler *MPI_Errhandler;
typedef struct imbrex_message *MPI_Message;
typedef ptrdiff_t MPI_Aint;
typedef long long MPI_Offset;
typedef long long MPI_Count;
typedef struct {
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
} MPI_Status;

#define MPI_COMM_WORLD ((MPI_Comm)0x10)
#define MPI_COMM_SELF ((MPI_Comm)0x20)
#define MPI_COMM_NULL ((MPI_Comm)0)
#define MPI_GROUP_NULL ((MPI_Group)0)
#define MPI_INFO_NULL ((MPI_Info)0)
#define MPI_REQUEST_NULL ((MPI_Request)0)
#define MPI_DATATYPE_NULL ((MPI_Datatype)0)
#define MPI_CHAR ((MPI_Datatype)0x01)
#define MPI_SIGNED_CHAR ((MPI_Datatype)0x02)
#define MPI_UNSIGNED_CHAR ((MPI_Datatype)0x03)
#define MPI_BYTE ((MPI_Datatype)0x04)
#define MPI_SHORT ((MPI_Datatype)0x05)
#define MPI_UNSIGNED_SHORT ((MPI_Datatype)0x06)
#define MPI_INT ((MPI_Datatype)0x07)
#define MPI_UNSIGNED ((MPI_Datatype)0x08)
#define MPI_LONG ((MPI_Datatype)0x09)
#define MPI_UNSIGNED_LONG ((MPI_Datatype)0x0a)
#define MPI_LONG_LONG ((MPI_Datatype)0x0b)
#define MPI_LONG_LONG_INT ((MPI_Datatype)0x0b)
#define MPI_UNSIGNED_LONG_LONG ((MPI_Datatype)0x0c)
#define MPI_FLOAT ((MPI_Datatype)0x0d)
#define MPI_DOUBLE ((MPI_Datatype)0x0e)
#define MPI_LONG_DOUBLE ((MPI_Datatype)0x0f)
#define MPI_C_BOOL ((MPI_Datatype)0x11)
#define MPI_INT8_T ((MPI_Datatype)0x12)
#define MPI_INT16_T ((MPI_Datatype)0x13)
#define MPI_INT32_T ((MPI_Datatype)0x14)
#define MPI_INT64_T ((MPI_Datatype)0x15)
#define MPI_UINT8_T ((MPI_Datatype)0x16)
#define MPI_UINT16_T ((MPI_Datatype)0x17)
#define MPI_UINT32_T ((MPI_Datatype)0x18)
#define MPI_UINT64_T ((MPI_Datatype)0x19)
#define MPI_C_DOUBLE_COMPLEX ((MPI_Datatype)0x1a)
#define MPI_DOUBLE_INT ((MPI_Datatype)0x1b)
#define MPI_2INT ((MPI_Datatype)0x1c)
#define MPI_PACKED ((MPI_Datatype)0x1d)
#define MPI_MAX ((MPI_Op)0x01)
#define MPI_MIN ((MPI_Op)0x02)
#define MPI_SUM ((MPI_Op)0x03)
#define MPI_PROD ((MPI_Op)0x04)
#define MPI_LAND ((MPI_Op)0x05)
#define MPI_BAND ((MPI_Op)0x06)
#define MPI_LOR ((MPI_Op)0x07)
#define MPI_BOR ((MPI_Op)0x08)
#define MPI_LXOR ((MPI_Op)0x09)
#define MPI_BXOR ((MPI_Op)0x0a)
#define MPI_MAXLOC ((MPI_Op)0x0b)
#define MPI_MINLOC ((MPI_Op)0x0c)
#define MPI_STATUS_IGNORE ((MPI_Status *)0)
#define MPI_STATUSES_IGNORE ((MPI_Status *)0)
#define MPI_BOTTOM ((void *)0)
#define MPI_IN_PLACE ((void *)-1)
#define MPI_PROC_NULL (-1)
#define MPI_ANY_SOURCE (-2)
#define MPI_ANY_TAG (-1)
#define MPI_ROOT (-3)
#define MPI_UNDEFINED (-32766)
#define MPI_SUCCESS 0
#define MPI_ERR_OTHER 15
#define MPI_MAX_PROCESSOR_NAME 256
#define MPI_MAX_ERROR_STRING 512
#define MPI_BSEND_OVERHEAD 128
#define MPI_THREAD_SINGLE 0
#define MPI_THREAD_FUNNELED 1
#define MPI_THREAD_SERIALIZED 2
#define MPI_THREAD_MULTIPLE 3
#define MPI_ORDER_C 56
#define MPI_ORDER_FORTRAN 57
#define MPI_COMM_TYPE_SHARED 1
#define MPI_ERRORS_ARE_FATAL ((MPI_Errhandler)1)
#define MPI_ERRORS_RETURN ((MPI_Errhandler)2)

int MPI_Init(int *, char ***);
int MPI_Init_thread(int *, char ***, int, int *);
int MPI_Initialized(int *);
int MPI_Finalize(void);
int MPI_Finalized(int *);
int MPI_Abort(MPI_Comm, int);
double MPI_Wtime(void);
double MPI_Wtick(void);
int MPI_Get_processor_name(char *, int *);
int MPI_Comm_rank(MPI_Comm, int *);
int MPI_Comm_size(MPI_Comm, int *);
int MPI_Comm_dup(MPI_Comm, MPI_Comm *);
int MPI_Comm_free(MPI_Comm *);
int MPI_Comm_split(MPI_Comm, int, int, MPI_Comm *);
int MPI_Comm_split_type(MPI_Comm, int, int, MPI_Info, MPI_Comm *);
int MPI_Comm_set_errhandler(MPI_Comm, MPI_Errhandler);
int MPI_Dims_create(int, int, int *);
int MPI_Cart_create(MPI_Comm, int, const int *, const int *, int, MPI_Comm *);
int MPI_Cart_coords(MPI_Comm, int, int, int *);
int MPI_Cart_rank(MPI_Comm, const int *, int *);
int MPI_Cart_shift(MPI_Comm, int, int, int *, int *);
int MPI_Cart_get(MPI_Comm, int, int *, int *, int *);
int MPI_Type_contiguous(int, MPI_Datatype, MPI_Datatype *);
int MPI_Type_vector(int, int, int, MPI_Datatype, MPI_Datatype *);
int MPI_Type_create_hvector(int, int, MPI_Aint, MPI_Datatype, MPI_Datatype *);
int MPI_Type_indexed(int, const int *, const int *, MPI_Datatype, MPI_Datatype *);
int MPI_Type_create_struct(int, const int *, const MPI_Aint *, const MPI_Datatype *,
                           MPI_Datatype *);
int MPI_Type_create_subarray(int, const int *, const int *, const int *, int, MPI_Datatype,
                             MPI_Datatype *);
int MPI_Type_create_resized(MPI_Datatype, MPI_Aint, MPI_Aint, MPI_Datatype *);
int MPI_Type_commit(MPI_Datatype *);
int MPI_Type_free(MPI_Datatype *);
int MPI_Type_size(MPI_Datatype, int *);
int MPI_Get_address(const void *, MPI_Aint *);
int MPI_Get_count(const MPI_Status *, MPI_Datatype, int *);
int MPI_Error_string(int, char *, int *);
int MPI_Pcontrol(const int, ...);
int MPI_Buffer_attach(void *, int);
int MPI_Buffer_detach(void *, int *);
int MPI_Op_create(void (*)(void *, void *, int *, MPI_Datatype *), int, MPI_Op *);
int MPI_Op_free(MPI_Op *);

#define IMBREX_SEND(NAME) int NAME(const void *, int, MPI_Datatype, int, int, MPI_Comm)
#define IMBREX_ISEND(NAME)                                                                         \
    int NAME(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *)
IMBREX_SEND(MPI_Send);
IMBREX_SEND(MPI_Ssend);
IMBREX_SEND(MPI_Rsend);
IMBREX_SEND(MPI_Bsend);
IMBREX_ISEND(MPI_Isend);
IMBREX_ISEND(MPI_Issend);
IMBREX_ISEND(MPI_Irsend);
IMBREX_ISEND(MPI_Ibsend);
IMBREX_ISEND(MPI_Send_init);
int MPI_Recv_init(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
int MPI_Start(MPI_Request *);
int MPI_Startall(int, MPI_Request *);
int MPI_Recv(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);
int MPI_Irecv(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
int MPI_Sendrecv(const void *, int, MPI_Datatype, int, int, void *, int, MPI_Datatype, int, int,
                 MPI_Comm, MPI_Status *);
int MPI_Sendrecv_replace(void *, int, MPI_Datatype, int, int, int, int, MPI_Comm, MPI_Status *);
int MPI_Wait(MPI_Request *, MPI_Status *);
int MPI_Waitall(int, MPI_Request *, MPI_Status *);
int MPI_Waitany(int, MPI_Request *, int *, MPI_Status *);
int MPI_Waitsome(int, MPI_Request *, int *, int *, MPI_Status *);
int MPI_Test(MPI_Request *, int *, MPI_Status *);
int MPI_Testall(int, MPI_Request *, int *, MPI_Status *);
int MPI_Testany(int, MPI_Request *, int *, int *, MPI_Status *);
int MPI_Testsome(int, MPI_Request *, int *, int *, MPI_Status *);
int MPI_Request_free(MPI_Request *);
int MPI_Request_get_status(MPI_Request, int *, MPI_Status *);
int MPI_Cancel(MPI_Request *);
int MPI_Probe(int, int, MPI_Comm, MPI_Status *);
int MPI_Iprobe(int, int, MPI_Comm, int *, MPI_Status *);

int MPI_Barrier(MPI_Comm);
int MPI_Bcast(void *, int, MPI_Datatype, int, MPI_Comm);
int MPI_Gather(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm);
int MPI_Gatherv(const void *, int, MPI_Datatype, void *, const int *, const int *, MPI_Datatype,
                int, MPI_Comm);
int MPI_Scatter(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm);
int MPI_Scatterv(const void *, const int *, const int *, MPI_Datatype, void *, int, MPI_Datatype,
                 int, MPI_Comm);
int MPI_Allgather(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
int MPI_Allgatherv(const void *, int, MPI_Datatype, void *, const int *, const int *, MPI_Datatype,
                   MPI_Comm);
int MPI_Alltoall(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
int MPI_Alltoallv(const void *, const int *, const int *, MPI_Datatype, void *, const int *,
                  const int *, MPI_Datatype, MPI_Comm);
int MPI_Reduce(const void *, void *, int, MPI_Datatype, MPI_Op, int, MPI_Comm);
int MPI_Allreduce(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
int MPI_Reduce_scatter(const void *, void *, const int *, MPI_Datatype, MPI_Op, MPI_Comm);
int MPI_Reduce_scatter_block(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
int MPI_Scan(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
int MPI_Exscan(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
int MPI_Ibarrier(MPI_Comm, MPI_Request *);
int MPI_Ibcast(void *, int, MPI_Datatype, int, MPI_Comm, MPI_Request *);
int MPI_Igather(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm,
                MPI_Request *);
int MPI_Igatherv(const void *, int, MPI_Datatype, void *, const int *, const int *, MPI_Datatype,
                 int, MPI_Comm, MPI_Request *);
int MPI_Iscatter(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int, MPI_Comm,
                 MPI_Request *);
int MPI_Iscatterv(const void *, const int *, const int *, MPI_Datatype, void *, int, MPI_Datatype,
                  int, MPI_Comm, MPI_Request *);
int MPI_Iallgather(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm,
                   MPI_Request *);
int MPI_Iallgatherv(const void *, int, MPI_Datatype, void *, const int *, const int *, MPI_Datatype,
                    MPI_Comm, MPI_Request *);
int MPI_Ialltoall(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm,
                  MPI_Request *);
int MPI_Ialltoallv(const void *, const int *, const int *, MPI_Datatype, void *, const int *,
                   const int *, MPI_Datatype, MPI_Comm, MPI_Request *);
int MPI_Ireduce(const void *, void *, int, MPI_Datatype, MPI_Op, int, MPI_Comm, MPI_Request *);
int MPI_Iallreduce(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request *);

int MPI_Win_create(void *, MPI_Aint, int, MPI_Info, MPI_Comm, MPI_Win *);
int MPI_Win_allocate(MPI_Aint, int, MPI_Info, MPI_Comm, void *, MPI_Win *);
int MPI_Win_fence(int, MPI_Win);
int MPI_Win_free(MPI_Win *);
int MPI_Put(const void *, int, MPI_Datatype, int, MPI_Aint, int, MPI_Datatype, MPI_Win);
int MPI_Get(void *, int, MPI_Datatype, int, MPI_Aint, int, MPI_Datatype, MPI_Win);

/* What MPI 3 removed and MPI 2 deprecated, for programs that still call it. */
typedef void MPI_Handler_function(MPI_Comm *, int *, ...);
typedef int MPI_Copy_function(MPI_Comm, int, void *, void *, void *, int *);
typedef int MPI_Delete_function(MPI_Comm, int, void *, void *);
#define MPI_NULL_COPY_FN ((MPI_Copy_function *)0)
#define MPI_DUP_FN ((MPI_Copy_function *)0)
#define MPI_NULL_DELETE_FN ((MPI_Delete_function *)0)
#define MPI_LB ((MPI_Datatype)0x7e)
#define MPI_UB ((MPI_Datatype)0x7f)
int MPI_Address(void *, MPI_Aint *);
int MPI_Attr_delete(MPI_Comm, int);
int MPI_Attr_get(MPI_Comm, int, void *, int *);
int MPI_Attr_put(MPI_Comm, int, void *);
int MPI_Errhandler_create(MPI_Handler_function *, MPI_Errhandler *);
int MPI_Errhandler_get(MPI_Comm, MPI_Errhandler *);
int MPI_Errhandler_set(MPI_Comm, MPI_Errhandler);
int MPI_Keyval_create(MPI_Copy_function *, MPI_Delete_function *, int *, void *);
int MPI_Keyval_free(int *);
int MPI_Type_extent(MPI_Datatype, MPI_Aint *);
int MPI_Type_hindexed(int, int *, MPI_Aint *, MPI_Datatype, MPI_Datatype *);
int MPI_Type_hvector(int, int, MPI_Aint, MPI_Datatype, MPI_Datatype *);
int MPI_Type_lb(MPI_Datatype, MPI_Aint *);
int MPI_Type_struct(int, int *, MPI_Aint *, MPI_Datatype *, MPI_Datatype *);
int MPI_Type_ub(MPI_Datatype, MPI_Aint *);

#include "mpi_objects.h"
/* The constants are of their types. */
#include "mpi_constants.h"
#include "mpi_files.h"

/* Further functions out of the table of facts, where the reader supplies them. */
#ifdef __has_include
#if __has_include("mpi_functions.h")
#include "mpi_functions.h"
#endif
#endif

#undef IMBREX_SEND
#undef IMBREX_ISEND
#ifdef __cplusplus
}
#endif
#endif
