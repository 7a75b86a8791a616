! DO CONCURRENT beside an exchange: it computes meanwhile, or is divided by its ranges.
program conc
  implicit none
  include 'mpif.h'
  integer, parameter :: n = 64
  real(8) :: u(0:n+1, 0:n+1), v(0:n+1, 0:n+1), f(n, n), g(n, n)
  real(8) :: sb(n), rb(n)
  integer :: rank, nproc, up, down, it, i, j, ierr, status(MPI_STATUS_SIZE)
  call mpi_init(ierr); call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
  call mpi_comm_size(MPI_COMM_WORLD, nproc, ierr)
  up = rank + 1; if (up == nproc) up = MPI_PROC_NULL
  down = rank - 1; if (down < 0) down = MPI_PROC_NULL
  u = rank; v = 0.0d0; f = 1.0d0; g = 0.0d0
  do it = 1, 6
    call mpi_sendrecv(u(1, n), n, MPI_DOUBLE_PRECISION, up, 1, u(1, 0), n, &
      MPI_DOUBLE_PRECISION, down, 1, MPI_COMM_WORLD, status, ierr)
    call mpi_sendrecv(u(1, 1), n, MPI_DOUBLE_PRECISION, down, 2, u(1, n+1), n, &
      MPI_DOUBLE_PRECISION, up, 2, MPI_COMM_WORLD, status, ierr)
    do concurrent (i = 1:n, j = 1:n)
      g(i, j) = f(i, j) + 0.5d0 * g(i, j)
    end do
    v(1:n, 1:n) = 0.25d0 * (u(0:n-1, 1:n) + u(2:n+1, 1:n) + u(1:n, 0:n-1) + u(1:n, 2:n+1)) + g
    u(1:n, 1:n) = v(1:n, 1:n)
  end do
  do it = 1, 6
    call mpi_sendrecv(u(1, n), n, MPI_DOUBLE_PRECISION, up, 1, u(1, 0), n, &
      MPI_DOUBLE_PRECISION, down, 1, MPI_COMM_WORLD, status, ierr)
    call mpi_sendrecv(u(1, 1), n, MPI_DOUBLE_PRECISION, down, 2, u(1, n+1), n, &
      MPI_DOUBLE_PRECISION, up, 2, MPI_COMM_WORLD, status, ierr)
    do concurrent (j = 1:n, i = 1:n)
      v(i, j) = 0.25d0 * (u(i-1, j) + u(i+1, j) + u(i, j-1) + u(i, j+1))
    end do
    do j = 1, n; do i = 1, n
      u(i, j) = v(i, j); f(i, j) = f(i, j) + v(i, j)
    end do; end do
  end do
  print *, rank, sum(u), sum(f), sum(g)
  call mpi_finalize(ierr)
end program
