! Rank 1 has 100 ms more work in each step than its neighbour, which waits for it in MPI_WAITALL.
program late_rank
  use mpi
  use iso_c_binding, only: c_int
  implicit none
  interface
    integer(c_int) function usleep(microseconds) bind(c)
      import c_int
      integer(c_int), value :: microseconds
    end function
  end interface
  integer :: rank, other, step, error, requests(2)
  double precision :: mine(512), theirs(512)

  call mpi_init(error)
  call mpi_comm_rank(mpi_comm_world, rank, error)
  other = 1 - rank
  mine = rank
  do step = 1, 10
    error = usleep(merge(120000_c_int, 20000_c_int, rank == 1))
    call mpi_irecv(theirs, 512, mpi_double_precision, other, 0, mpi_comm_world, requests(1), error)
    call mpi_isend(mine, 512, mpi_double_precision, other, 0, mpi_comm_world, requests(2), error)
    call mpi_waitall(2, requests, mpi_statuses_ignore, error)
  end do
  call mpi_finalize(error)
end program
