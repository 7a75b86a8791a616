! A product of matrices that go round a ring: each process multiplies the block that it holds while
! the next one is on its way. BLAS is a library: `transform` does not see its sources.
program ring
  use mpi
  implicit none
  integer, parameter :: n = 96
  integer :: me, many, left, right, ierr, step, owner, i, wrong
  double precision :: a(n, n), b(n, n), next(n, n), c(n, n), held(n), size, worth
  double precision, external :: ddot
  call mpi_init(ierr)
  call mpi_comm_rank(MPI_COMM_WORLD, me, ierr)
  call mpi_comm_size(MPI_COMM_WORLD, many, ierr)
  left = mod(me + many - 1, many)
  right = mod(me + 1, many)
  do i = 1, n
    a(i, :) = i
    held(i) = i
  end do
  b = me + 1
  c = 0.0d0
  size = 0.0d0
  do step = 1, many
    call mpi_sendrecv(b, n * n, MPI_DOUBLE_PRECISION, left, 7, next, n * n, MPI_DOUBLE_PRECISION, &
                      right, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call dgemm('N', 'N', n, n, n, 1.0d0, a, n, b, n, 1.0d0, c, n)
    size = size + ddot(n, held, 1, b(1, step), 1)
    call dcopy(n * n, next, 1, b, 1)
  end do
  worth = many * (many + 1) / 2
  wrong = 0
  do i = 1, n
    wrong = wrong + count(c(i, :) /= n * i * worth)
  end do
  if (size /= worth * n * (n + 1) / 2) wrong = wrong + 1
  owner = count(b /= me + 1)
  print '(a, 2i6)', 'wrong values', wrong, owner
  call mpi_finalize(ierr)
end program ring
