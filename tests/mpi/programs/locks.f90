! A lock of each type on the window of the process itself.
program locks
#ifdef F08
  use mpi_f08
  implicit none
  type(MPI_Win) :: window
#else
  use mpi
  implicit none
  integer :: window
#endif
  double precision :: part(8)
  integer :: rank, code
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Win_create(part, 64_MPI_ADDRESS_KIND, 8, MPI_INFO_NULL, MPI_COMM_WORLD, window, code)
  call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window, code)
  call MPI_Win_unlock(rank, window, code)
  call MPI_Win_lock(MPI_LOCK_SHARED, rank, MPI_MODE_NOCHECK, window, code)
  call MPI_Win_unlock(rank, window, code)
  call MPI_Win_free(window, code)
  call MPI_Finalize(code)
end program
