! A step in the style of conjugate gradients, in whole numbers: what the sum over all ranks is made
! of goes in front of the update of x, which then goes on while the sum is under way.
program sums_ahead
  use mpi
  implicit none
  integer, parameter :: n = 500
  integer :: ierr, rank, ranks, step, i
  integer :: x(n), p(n), r(n), q(n), own, norm, alpha
  call mpi_init(ierr)
  call mpi_comm_rank(mpi_comm_world, rank, ierr)
  call mpi_comm_size(mpi_comm_world, ranks, ierr)
  x = 0
  do i = 1, n
    p(i) = mod(7 * i + rank, 11)
    r(i) = mod(3 * i + rank, 13)
  end do
  norm = 1
  alpha = 1
  do step = 1, 10
    q = p + step
    x = x + alpha * p
    r = mod(r - q, 17)
    own = sum(r * r)
    call mpi_allreduce(own, norm, 1, mpi_integer, mpi_sum, mpi_comm_world, ierr)
    alpha = mod(norm, 5)
    p = r + mod(norm, 3) * p
    p = mod(p, 101)
  end do
  own = sum(x)
  do i = 0, ranks - 1
    if (i == rank) print '(i0, 2i12)', rank, own, norm
    call mpi_barrier(mpi_comm_world, ierr)
  end do
  call mpi_finalize(ierr)
end program sums_ahead
