! The scripted program with `use mpi_f08`.
#define W MPI_COMM_WORLD
#define IGNORE MPI_STATUS_IGNORE
#define IGNOREALL MPI_STATUSES_IGNORE
#define ANY MPI_ANY_SOURCE
#define ANYTAG MPI_ANY_TAG
! Elements, because gfortran 12 gives a call another line when an INTENT(OUT) argument is a plain variable.
#define ierr error(1)
#define flag flags(1)
program scripted
      use mpi_f08
      use, intrinsic :: iso_c_binding, only: c_ptr
      use imbrex
      implicit none
#include "counts_declare.inc"
      type(MPI_Request) r(4), many(600)
      type(MPI_Datatype) types(2), vector
      type(MPI_Status) status, statuses(4)
      type(MPI_Message) message
      type(MPI_Win) win
      type(MPI_Comm) turned
      type(c_ptr) detached(1)
#include "counts_body.inc"
end program scripted
