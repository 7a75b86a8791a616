! What a progress thread does for Fortran, two ranks: each posts a large message and then makes no
! call of MPI until the other's is there, which it looks for in its memory, or 20 s are over.
program helped
#ifdef F08
  use mpi_f08
  implicit none
  type(MPI_Request) :: requests(2)
#elif defined MODULE
  use mpi
  implicit none
  integer :: requests(2)
#else
  implicit none
  include 'mpif.h'
  integer :: requests(2)
#endif
  integer, parameter :: words = 1048576, steps(2) = [1000003, 2000006]
  integer, save :: out(words), ours(2), all(2)
  integer, save, volatile :: in(words)
  integer :: rank, other, i, error, provided, level
  integer(8) :: now, last, rate
  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, error)
  call MPI_Query_thread(level, error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  other = 1 - rank
  do i = 1, words
    out(i) = steps(rank + 1) + i
    in(i) = -1
  end do
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call MPI_Irecv(in, words, MPI_INTEGER, other, 0, MPI_COMM_WORLD, requests(1), error)
  call MPI_Isend(out, words, MPI_INTEGER, other, 0, MPI_COMM_WORLD, requests(2), error)
  call system_clock(now, rate)
  last = now + 20 * rate
  do while (in(words) == -1 .and. now < last)
    call system_clock(now)
  end do
  ours = 1
  if (in(words) == -1) ours(1) = 0
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
  if (provided /= level) ours(2) = 0
  do i = 1, words
    if (in(i) /= steps(other + 1) + i) ours(2) = 0
  end do
  call MPI_Allreduce(ours, all, 2, MPI_INTEGER, MPI_MIN, MPI_COMM_WORLD, error)
  if (rank == 0) then
    print '(a)', trim(merge('moved    ', 'not moved', all(1) == 1))
    print '(a)', merge('right', 'wrong', all(2) == 1)
  end if
  call MPI_Finalize(error)
end program
