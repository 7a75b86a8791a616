! The scripted program with `use mpi`.
#define W MPI_COMM_WORLD
#define IGNORE MPI_STATUS_IGNORE
#define IGNOREALL MPI_STATUSES_IGNORE
#define ANY MPI_ANY_SOURCE
#define ANYTAG MPI_ANY_TAG
! Elements, because gfortran 12 gives a call another line when an INTENT(OUT) argument is a plain variable.
#define ierr error(1)
#define flag flags(1)
program scripted
      use mpi
      use imbrex
      implicit none
#include "counts_declare.inc"
      integer detached(2), r(4), many(600), types(2), status(MPI_STATUS_SIZE)
      integer statuses(MPI_STATUS_SIZE, 4), message, vector, win, turned
#include "counts_body.inc"
end program scripted
