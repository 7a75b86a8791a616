C     Sections of a Fortran 77 program: no module, no interface.
      PROGRAM NAMED
      INCLUDE 'mpif.h'
      INTEGER IERR, MINE, ALL
      CALL MPI_INIT(IERR)
      MINE = 1
      CALL IMBREX_BEGIN('OUTER')
      CALL IMBREX_BEGIN('INNER   ')
      CALL MPI_ALLREDUCE(MINE, ALL, 1, MPI_INTEGER, MPI_SUM,
     &                   MPI_COMM_WORLD, IERR)
      CALL IMBREX_END('INNER')
      CALL IMBREX_END('OUTER')
      CALL MPI_FINALIZE(IERR)
      END
