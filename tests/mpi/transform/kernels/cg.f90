! In the style of NAS CG: sums over the processes of a row by exchanges in powers of two, then an
! exchange with the transposed process; the scalar products are summed in the same way.
program cg
  use mpi
  implicit none
  integer, parameter :: n = 64, steps = 5
  integer :: me, many, ierr, it, i, levels
  double precision :: p(n), q(n), r(n), x(n), w(n), z(n), a(n, n), rho, rho0, d, alpha, beta
  integer :: partner(8), transposed
  call mpi_init(ierr)
  call mpi_comm_rank(MPI_COMM_WORLD, me, ierr)
  call mpi_comm_size(MPI_COMM_WORLD, many, ierr)
  call setup
  do i = 1, n
    x(i) = 0.0d0
    z(i) = 0.0d0
    r(i) = 1.0d0
    p(i) = r(i)
  end do
  rho = n * many
  do it = 1, steps
    call multiply(a, p, w)
    call row_sum(w, q)
    call transpose_exchange(w, q)
    do i = 1, n
      z(i) = z(i) + 0.5d0 * x(i)
    end do
    d = 0.0d0
    do i = 1, n
      d = d + p(i) * q(i)
    end do
    call scalar_sum(d)
    alpha = rho / d
    do i = 1, n
      x(i) = x(i) + alpha * p(i)
      r(i) = r(i) - alpha * q(i)
    end do
    rho0 = rho
    rho = 0.0d0
    do i = 1, n
      rho = rho + r(i) * r(i)
    end do
    call scalar_sum(rho)
    beta = rho / rho0
    do i = 1, n
      p(i) = r(i) + beta * p(i)
    end do
  end do
  if (me == 0) print *, 'cg: wrong values', merge(0, 1, rho < 1.0d-6 * n)
  print *, 'cg: rank', me, 'sum', sum(x), sum(z)
  call mpi_finalize(ierr)
contains
  subroutine setup
    integer :: j, power
    levels = 0
    power = 1
    do while (2 * power <= many)
      levels = levels + 1
      partner(levels) = ieor(me, power)
      power = 2 * power
    end do
    transposed = many - 1 - me
    do j = 1, n
      do i = 1, n
        a(i, j) = 0.0d0
        if (i == j) a(i, j) = 1.0d0 + 0.0625d0 * mod(i, 3)
      end do
    end do
  end subroutine setup

  subroutine multiply(m, v, y)
    double precision, intent(in) :: m(n, n), v(n)
    double precision, intent(out) :: y(n)
    integer :: j, k
    do j = 1, n
      y(j) = 0.0d0
      do k = 1, n
        y(j) = y(j) + m(k, j) * v(k)
      end do
    end do
  end subroutine multiply

  subroutine row_sum(v, other)
    double precision :: v(n), other(n)
    integer :: level, j, request, status(MPI_STATUS_SIZE)
    do level = 1, levels
      call mpi_irecv(other, n, MPI_DOUBLE_PRECISION, partner(level), level, MPI_COMM_WORLD, &
        request, ierr)
      call mpi_send(v, n, MPI_DOUBLE_PRECISION, partner(level), level, MPI_COMM_WORLD, ierr)
      call mpi_wait(request, status, ierr)
      do j = 1, n
        v(j) = 0.5d0 * (v(j) + other(j))
      end do
    end do
  end subroutine row_sum

  subroutine transpose_exchange(v, other)
    double precision :: v(n), other(n)
    integer :: j, request, status(MPI_STATUS_SIZE)
    if (transposed /= me) then
      call mpi_irecv(other, n, MPI_DOUBLE_PRECISION, transposed, 99, MPI_COMM_WORLD, request, ierr)
      call mpi_send(v, n, MPI_DOUBLE_PRECISION, transposed, 99, MPI_COMM_WORLD, ierr)
      call mpi_wait(request, status, ierr)
    else
      do j = 1, n
        other(j) = v(j)
      end do
    end if
  end subroutine transpose_exchange

  subroutine scalar_sum(s)
    double precision :: s
    double precision :: other
    integer :: level, request, status(MPI_STATUS_SIZE)
    do level = 1, levels
      call mpi_irecv(other, 1, MPI_DOUBLE_PRECISION, partner(level), 50 + level, MPI_COMM_WORLD, &
        request, ierr)
      call mpi_send(s, 1, MPI_DOUBLE_PRECISION, partner(level), 50 + level, MPI_COMM_WORLD, ierr)
      call mpi_wait(request, status, ierr)
      s = s + other
    end do
  end subroutine scalar_sum
end program cg
