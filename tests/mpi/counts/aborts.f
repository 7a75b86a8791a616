C     Starts and aborts the job from Fortran.
      PROGRAM ABORTS
      INCLUDE 'mpif.h'
      INTEGER IERR
      CALL MPI_INIT(IERR)
      CALL MPI_BARRIER(MPI_COMM_WORLD, IERR)
      CALL MPI_ABORT(MPI_COMM_WORLD, 3, IERR)
      END
