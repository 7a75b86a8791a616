! ns per call on one rank: Irecv+Isend+Waitall of 8 bytes on MPI_COMM_SELF (mean of the three), and Iprobe.
! The least of many short repetitions, which noise cannot lower.
program fortran_overhead
#ifdef USE_F08
  use mpi_f08
  implicit none
  type(MPI_Request) :: r(2)
#else
  use mpi
  implicit none
  integer :: r(2)
#endif
  integer, parameter :: rounds = 2000, turns = 200
  integer :: i, turn
  integer, asynchronous :: a(2), b(2)
  double precision :: start, exchange, probe
  logical :: flags(1)
  integer :: error(1)
  call MPI_Init(error(1))
  a = 1
  exchange = huge(exchange)
  probe = huge(probe)
  do turn = 1, turns
    start = MPI_Wtime()
    do i = 1, rounds
      call MPI_Irecv(b, 2, MPI_INTEGER, 0, 1, MPI_COMM_SELF, r(1), error(1))
      call MPI_Isend(a, 2, MPI_INTEGER, 0, 1, MPI_COMM_SELF, r(2), error(1))
      call MPI_Waitall(2, r, MPI_STATUSES_IGNORE, error(1))
    end do
    exchange = min(exchange, (MPI_Wtime() - start) / (3 * rounds))
    start = MPI_Wtime()
    do i = 1, rounds
      call MPI_Iprobe(0, 2, MPI_COMM_SELF, flags(1), MPI_STATUS_IGNORE, error(1))
    end do
    probe = min(probe, (MPI_Wtime() - start) / rounds)
  end do
  print '(f0.2,1x,f0.2)', exchange * 1d9, probe * 1d9
  call MPI_Finalize(error(1))
end program fortran_overhead
