module sides_m
  use mpi_f08
  implicit none
  private
  public :: n, m, across, along
  integer :: n, m
contains
  subroutine across(x, comm, left, right)
    real(8), intent(inout) :: x(0:, 0:)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: left, right
    real(8) :: west(64), east(64), from_west(64), from_east(64)
    integer :: j
    do j = 1, m
      west(j) = x(1, j)
      east(j) = x(n, j)
      from_west(j) = x(0, j)
      from_east(j) = x(n + 1, j)
    end do
    call MPI_Sendrecv(west, m, MPI_DOUBLE_PRECISION, left, 3, from_east, m, &
      MPI_DOUBLE_PRECISION, right, 3, comm, MPI_STATUS_IGNORE)
    call MPI_Sendrecv(east, m, MPI_DOUBLE_PRECISION, right, 4, from_west, m, &
      MPI_DOUBLE_PRECISION, left, 4, comm, MPI_STATUS_IGNORE)
    do j = 1, m
      x(0, j) = from_west(j)
      x(n + 1, j) = from_east(j)
    end do
  end subroutine across

  subroutine along(x, comm, down, up)
    real(8), intent(inout) :: x(0:, 0:)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: down, up
    type(MPI_Request) :: r(4)
    call MPI_Irecv(x(1, 0), n, MPI_DOUBLE_PRECISION, down, 10, comm, r(1))
    call MPI_Irecv(x(1, m + 1), n, MPI_DOUBLE_PRECISION, up, 11, comm, r(2))
    call MPI_Isend(x(1, m), n, MPI_DOUBLE_PRECISION, up, 10, comm, r(3))
    call MPI_Isend(x(1, 1), n, MPI_DOUBLE_PRECISION, down, 11, comm, r(4))
    call MPI_Waitall(4, r, MPI_STATUSES_IGNORE)
  end subroutine along
end module sides_m

program sequence
  use mpi_f08
  use sides_m, only: n, m, across, along
  implicit none
  type(MPI_Comm) :: comm
  integer :: np, me, dims(2), left, right, down, up, i, j, it
  real(8), allocatable :: u(:, :), v(:, :), q(:, :)
  real(8) :: s, all
  call MPI_Init()
  call MPI_Comm_size(MPI_COMM_WORLD, np)
  dims = 0
  call MPI_Dims_create(np, 2, dims)
  call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.false., .true.], .false., comm)
  call MPI_Comm_rank(comm, me)
  call MPI_Cart_shift(comm, 0, 1, left, right)
  call MPI_Cart_shift(comm, 1, 1, down, up)
  n = 48
  m = 40
  allocate (u(0:n + 1, 0:m + 1), v(0:n + 1, 0:m + 1), q(0:n + 1, 0:m + 1))
  do j = 0, m + 1
    do i = 0, n + 1
      u(i, j) = sin(0.1d0 * (i + 3 * j + 7 * me))
      q(i, j) = cos(0.2d0 * (i - j + me))
    end do
  end do
  v = 0
  do it = 1, 20
    call across(u, comm, left, right)
    call along(u, comm, down, up)
    call along(q, comm, down, up)
    do j = 1, m
      do i = 1, n
        v(i, j) = u(i, j) + 0.1d0 * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) &
          - 4 * u(i, j)) + 0.01d0 * (q(i, j + 1) - q(i, j - 1))
      end do
    end do
    do j = 1, m
      do i = 1, n
        u(i, j) = v(i, j)
        q(i, j) = 0.9d0 * q(i, j) + 0.1d0 * v(i, j)
      end do
    end do
  end do
  s = sum(u(1:n, 1:m)) + sum(q(1:n, 1:m))
  call MPI_Allreduce(s, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, comm)
  if (me == 0) print '(es22.14)', all
  call MPI_Finalize()
end program sequence
