! Calls that the call log must hold, by the module that the compiler is told to use.
program logged
#ifdef F08
  use mpi_f08
  implicit none
  type(MPI_Request) :: requests(2)
  type(MPI_Comm) :: twin
  type(MPI_Status) :: stat
#else
  use mpi
  implicit none
  integer :: requests(2), twin, stat(MPI_STATUS_SIZE)
#endif
  integer :: rank, other, i, error
  double precision :: out(100), in(100)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  other = 1 - rank
  out = rank
  do i = 1, 3
    call MPI_Irecv(in, 100, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 40 + i, MPI_COMM_WORLD, requests(1), error)
    call MPI_Isend(out, 10 * i, MPI_DOUBLE_PRECISION, other, 40 + i, MPI_COMM_WORLD, requests(2), error)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
  end do
  call MPI_Comm_dup(MPI_COMM_WORLD, twin, error)
  if (rank == 0) then
    call MPI_Send(out, 7, MPI_DOUBLE_PRECISION, 1, 50, twin, error)
  else
    call MPI_Recv(in, 100, MPI_DOUBLE_PRECISION, 0, 50, twin, stat, error)
  end if
  call MPI_Bcast(out, 20, MPI_DOUBLE_PRECISION, 1, twin, error)
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call MPI_Finalize(error)
end program
