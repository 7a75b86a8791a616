! Heat in a plate on a grid of processes: the routines take arrays of assumed shape and count by
! sizes of their module, by which the main program allocates what it gives them.
module plate_grid
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  integer :: nx, ny
  integer :: plane, west, east, south, north, column
contains
  subroutine divide(n)
    include 'mpif.h'
    integer, intent(in) :: n
    integer :: ierr, np, dims(2)
    logical :: periods(2)
    call MPI_Comm_size(MPI_COMM_WORLD, np, ierr)
    dims = 0
    periods = .false.
    call MPI_Dims_create(np, 2, dims, ierr)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, .true., plane, ierr)
    call MPI_Cart_shift(plane, 0, 1, west, east, ierr)
    call MPI_Cart_shift(plane, 1, 1, south, north, ierr)
    if (mod(n, dims(1)) /= 0 .or. mod(n, dims(2)) /= 0) then
      print *, 'a plate of', n, ' cannot be divided'
      call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
    end if
    nx = n / dims(1)
    ny = n / dims(2)
    call MPI_Type_vector(ny, 1, nx + 2, MPI_DOUBLE_PRECISION, column, ierr)
    call MPI_Type_commit(column, ierr)
  end subroutine divide

  subroutine halo(u)
    include 'mpif.h'
    real(dp), intent(inout) :: u(0:, 0:)
    integer :: ierr, stat(MPI_STATUS_SIZE)
    call MPI_Sendrecv(u(1, ny), nx, MPI_DOUBLE_PRECISION, north, 1, &
      u(1, 0), nx, MPI_DOUBLE_PRECISION, south, 1, plane, stat, ierr)
    call MPI_Sendrecv(u(1, 1), nx, MPI_DOUBLE_PRECISION, south, 2, &
      u(1, ny + 1), nx, MPI_DOUBLE_PRECISION, north, 2, plane, stat, ierr)
    call MPI_Sendrecv(u(nx, 1), 1, column, east, 3, u(0, 1), 1, column, west, 3, plane, stat, ierr)
    call MPI_Sendrecv(u(1, 1), 1, column, west, 4, u(nx + 1, 1), 1, column, east, 4, plane, &
      stat, ierr)
  end subroutine halo

  subroutine step(u, v, dt)
    real(dp), intent(in) :: u(0:, 0:), dt
    real(dp), intent(inout) :: v(0:, 0:)
    integer :: i, j
    do j = 1, ny
      do i = 1, nx
        v(i, j) = u(i, j) + dt * (u(i-1, j) + u(i+1, j) + u(i, j-1) + u(i, j+1) - 4 * u(i, j))
      end do
    end do
  end subroutine step
end module plate_grid

program plate
  use plate_grid
  implicit none
  include 'mpif.h'
  real(dp), allocatable :: u(:, :), v(:, :)
  real(dp) :: total, all
  integer :: ierr, rank, it, i, j
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call divide(48)
  allocate (u(0:nx+1, 0:ny+1), v(0:nx+1, 0:ny+1))
  u = 0
  v = 0
  do j = 1, ny
    do i = 1, nx
      u(i, j) = sin(0.1_dp * i) * cos(0.2_dp * j) + rank
    end do
  end do
  do it = 1, 20
    call halo(u)
    call step(u, v, 0.1_dp)
    call halo(v)
    do j = 1, ny
      do i = 1, nx
        u(i, j) = v(i, j) + 0.1_dp * (v(i-1, j) + v(i+1, j) + v(i, j-1) + v(i, j+1) - 4 * v(i, j))
      end do
    end do
  end do
  total = sum(u(1:nx, 1:ny))
  call MPI_Reduce(total, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, plane, ierr)
  if (rank == 0) print '(es22.14)', all
  call MPI_Type_free(column, ierr)
  call MPI_Finalize(ierr)
end program plate
