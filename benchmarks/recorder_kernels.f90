! As recorder_kernels.c, in Fortran.
module kernels
  implicit none
  integer :: n
  real(8), allocatable :: a(:, :), b(:, :), c(:), x(:), y(:)
  logical, allocatable :: mask(:, :)
  integer, allocatable :: column(:), first(:)
  real(8) :: total, most
contains
  subroutine masked_stencil
    integer :: i, j
    do j = 1, n
      do i = 1, n
        if (mask(i, j)) b(i, j) = 0.25d0 * (a(i - 1, j) + a(i + 1, j) + a(i, j - 1) + a(i, j + 1))
      end do
    end do
  end subroutine
  subroutine sparse_product
    integer :: i, k
    real(8) :: sum
    do i = 1, n * n
      sum = 0
      do k = first(i), first(i + 1) - 1
        sum = sum + c(k) * x(column(k))
      end do
      y(i) = sum
    end do
  end subroutine
  subroutine limit(left, right, limited)
    real(8), intent(in) :: left, right
    real(8), intent(out) :: limited
    limited = 0
    if (left * right > 0) limited = left * right / (left + right)
  end subroutine
  subroutine with_call
    integer :: i, j
    real(8) :: limited
    do j = 1, n
      do i = 1, n
        call limit(a(i, j) - a(i - 1, j), a(i + 1, j) - a(i, j), limited)
        b(i, j) = a(i, j) + limited
      end do
    end do
  end subroutine
  subroutine reduction_with_if
    integer :: i, j
    total = 0
    most = 0
    do j = 0, n + 1
      do i = 0, n + 1
        if (mask(i, j)) total = total + a(i, j) * b(i, j)
        if (a(i, j) > most) most = a(i, j)
      end do
    end do
  end subroutine
  subroutine indirect_update
    integer :: k
    do k = 1, 4 * n * n
      y(column(k)) = y(column(k)) + c(k)
    end do
  end subroutine
end module

program run_kernels
  use mpi
  use kernels
  implicit none
  integer, parameter :: by(2, 5) = reshape([-1, 0, 0, -1, 0, 0, 0, 1, 1, 0], [2, 5])
  character(len=24), parameter :: names(5) = [character(len=24) :: 'stencil with a mask', &
    'sparse matrix, 5 a row', 'call of a subroutine', 'sum and maximum with if', 'indirect update']
  character(len=32) :: text
  integer :: steps, rank, ierr, i, j, k, s, row, at, entries
  real(8) :: begin, end, least
  call mpi_init(ierr)
  call mpi_comm_rank(mpi_comm_world, rank, ierr)
  call get_command_argument(1, text); read (text, *) n
  call get_command_argument(2, text); read (text, *) steps
  allocate(a(0:n + 1, 0:n + 1), b(0:n + 1, 0:n + 1), mask(0:n + 1, 0:n + 1))
  allocate(c(5 * n * n), x(n * n), y(n * n), column(5 * n * n), first(n * n + 1))
  entries = 0
  do i = 1, n * n
    first(i) = entries + 1
    do k = 1, 5
      row = (i - 1) / n + by(1, k)
      at = mod(i - 1, n) + by(2, k)
      entries = entries + 1
      column(entries) = i
      if (row >= 0 .and. row < n .and. at >= 0 .and. at < n) column(entries) = row * n + at + 1
      c(entries) = mod(entries / 37, 3) - 0.9d0
    end do
    x(i) = 1 + mod(i, 13) / 13d0
  end do
  first(n * n + 1) = entries + 1
  y = 0
  b = 0
  do j = 0, n + 1
    do i = 0, n + 1
      a(i, j) = 1 + mod(i + j, 13) / 13d0
      mask(i, j) = (i - n / 2)**2 + (j - n / 2)**2 > n * n / 16
    end do
  end do
  do k = 1, 5
    least = 1d9
    do s = -2, steps - 1
      call exchange(a, (n + 2)**2)
      call exchange(b, (n + 2)**2)
      call exchange(c, 5 * n * n)
      call exchange(x, n * n)
      call exchange(y, n * n)
      call cpu_time(begin)
      select case (k)
      case (1); call masked_stencil
      case (2); call sparse_product
      case (3); call with_call
      case (4); call reduction_with_if
      case (5); call indirect_update
      end select
      call cpu_time(end)
      least = min(least, end - begin)
    end do
    if (rank == 0) print '(3a, f14.9)', 'kernel ', trim(names(k)), ':', least / n / n * 1d9
  end do
  call mpi_finalize(ierr)
contains
  subroutine exchange(memory, elements)
    integer, intent(in) :: elements
    real(8) :: memory(elements)
    call mpi_sendrecv(memory(elements - 2 * n), n, mpi_double_precision, 1 - rank, 1, memory, n, &
      mpi_double_precision, 1 - rank, 1, mpi_comm_world, mpi_status_ignore, ierr)
  end subroutine
end program
