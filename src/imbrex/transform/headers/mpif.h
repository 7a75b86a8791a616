!     MPI for compiling the tests of imbrex transform without an MPI: fixed and free form.
      integer MPI_STATUS_SIZE, MPI_COMM_WORLD, MPI_DOUBLE_PRECISION
      integer MPI_REQUEST_NULL, MPI_PROC_NULL, MPI_ANY_SOURCE
      integer MPI_INTEGER, MPI_REAL, MPI_SUM, MPI_MAX, MPI_ANY_TAG
      parameter (MPI_STATUS_SIZE=6, MPI_COMM_WORLD=0)
      parameter (MPI_DOUBLE_PRECISION=17, MPI_REQUEST_NULL=-1)
      parameter (MPI_PROC_NULL=-2, MPI_ANY_SOURCE=-1, MPI_ANY_TAG=-1)
      integer MPI_ADDRESS_KIND
      parameter (MPI_ADDRESS_KIND=8)
      parameter (MPI_INTEGER=7, MPI_REAL=13, MPI_SUM=3, MPI_MAX=1)
      integer MPI_STATUS_IGNORE(MPI_STATUS_SIZE)
      integer MPI_STATUSES_IGNORE(MPI_STATUS_SIZE,1)
      common /imbrex_mpi/ MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE
      integer MPI_IN_PLACE
      common /imbrex_place/ MPI_IN_PLACE
      double precision MPI_WTIME
      external MPI_WTIME
