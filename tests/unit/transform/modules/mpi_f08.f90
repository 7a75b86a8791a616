! As much of mpi_f08 as the cases need: they compile where no MPI is installed.
module mpi_f08
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  type, bind(c) :: MPI_Comm
    integer(c_int) :: mpi_val
  end type MPI_Comm
  type, bind(c) :: MPI_Datatype
    integer(c_int) :: mpi_val
  end type MPI_Datatype
  type, bind(c) :: MPI_Op
    integer(c_int) :: mpi_val
  end type MPI_Op
  type, bind(c) :: MPI_Request
    integer(c_int) :: mpi_val
  end type MPI_Request
  type, bind(c) :: MPI_Status
    integer(c_int) :: mpi_source, mpi_tag, mpi_error
  end type MPI_Status
  type(MPI_Comm), parameter :: MPI_COMM_WORLD = MPI_Comm(1)
  type(MPI_Datatype), parameter :: MPI_DOUBLE_PRECISION = MPI_Datatype(2)
  type(MPI_Datatype), parameter :: MPI_REAL8 = MPI_Datatype(3)
  type(MPI_Datatype), parameter :: MPI_INTEGER = MPI_Datatype(4)
  type(MPI_Op), parameter :: MPI_SUM = MPI_Op(5)
  integer, parameter :: MPI_PROC_NULL = -2
  type(MPI_Status) :: MPI_STATUSES_IGNORE(1), MPI_STATUS_IGNORE
  interface
    subroutine MPI_Init(ierror)
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Init
    subroutine MPI_Finalize(ierror)
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Finalize
    subroutine MPI_Comm_rank(comm, rank, ierror)
      import :: MPI_Comm
      type(MPI_Comm), intent(in) :: comm
      integer, intent(out) :: rank
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Comm_rank
    subroutine MPI_Comm_size(comm, size, ierror)
      import :: MPI_Comm
      type(MPI_Comm), intent(in) :: comm
      integer, intent(out) :: size
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Comm_size
    subroutine MPI_Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, &
      recvtype, source, recvtag, comm, status, ierror)
      import :: MPI_Comm, MPI_Datatype, MPI_Status
      type(*), dimension(..), intent(in) :: sendbuf
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: sendcount, dest, sendtag, recvcount, source, recvtag
      type(MPI_Datatype), intent(in) :: sendtype, recvtype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Sendrecv
    subroutine MPI_Wait(request, status, ierror)
      import :: MPI_Request, MPI_Status
      type(MPI_Request), intent(inout) :: request
      type(MPI_Status) :: status
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Wait
    subroutine MPI_Irecv(buf, count, datatype, source, tag, comm, request, ierror)
      import :: MPI_Comm, MPI_Datatype, MPI_Request
      type(*), dimension(..), asynchronous :: buf
      integer, intent(in) :: count, source, tag
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request), intent(out) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Irecv
    subroutine MPI_Isend(buf, count, datatype, dest, tag, comm, request, ierror)
      import :: MPI_Comm, MPI_Datatype, MPI_Request
      type(*), dimension(..), asynchronous, intent(in) :: buf
      integer, intent(in) :: count, dest, tag
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request), intent(out) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Isend
    subroutine MPI_Waitall(count, array_of_requests, array_of_statuses, ierror)
      import :: MPI_Request, MPI_Status
      integer, intent(in) :: count
      type(MPI_Request), intent(inout) :: array_of_requests(count)
      type(MPI_Status) :: array_of_statuses(*)
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Waitall
    subroutine MPI_Bcast(buffer, count, datatype, root, comm, ierror)
      import :: MPI_Comm, MPI_Datatype
      type(*), dimension(..) :: buffer
      integer, intent(in) :: count, root
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Bcast
    subroutine MPI_Ibcast(buffer, count, datatype, root, comm, request, ierror)
      import :: MPI_Comm, MPI_Datatype, MPI_Request
      type(*), dimension(..), asynchronous :: buffer
      integer, intent(in) :: count, root
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request), intent(out) :: request
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Ibcast
    subroutine MPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm, ierror)
      import :: MPI_Comm, MPI_Datatype, MPI_Op
      type(*), dimension(..), intent(in) :: sendbuf
      type(*), dimension(..) :: recvbuf
      integer, intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      integer, optional, intent(out) :: ierror
    end subroutine MPI_Allreduce
    subroutine MPI_F_sync_reg(buf)
      type(*), dimension(..), asynchronous :: buf
    end subroutine MPI_F_sync_reg
  end interface
end module mpi_f08
