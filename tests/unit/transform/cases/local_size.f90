! Sizes in a small array, of a decomposition as MPI_Dims_create makes it.
module decomposition
  use mpi
  implicit none
  integer, parameter :: nglobal(2) = (/ 48, 40 /)
  integer :: dims(2), local_size(2), comm2d
  integer :: up, down, left, right
contains
  subroutine decompose
    integer :: ranks, ierr, d
    logical :: periods(2)
    dims = 0
    periods = .false.
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    call MPI_Dims_create(ranks, 2, dims, ierr)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, .false., comm2d, ierr)
    call MPI_Cart_shift(comm2d, 0, 1, left, right, ierr)
    call MPI_Cart_shift(comm2d, 1, 1, down, up, ierr)
    do d = 1, 2
      local_size(d) = nglobal(d) / dims(d)
    end do
  end subroutine
end module
module fields
  use decomposition
  implicit none
  real(8), allocatable :: u(:,:), w(:,:)
contains
  subroutine begin
    integer :: i, j
    allocate(u(0:local_size(1)+1, 0:local_size(2)+1))
    allocate(w(0:local_size(1)+1, 0:local_size(2)+1))
    do j = 0, local_size(2) + 1
      do i = 0, local_size(1) + 1
        u(i, j) = sin(0.1d0 * i) + cos(0.2d0 * j)
        w(i, j) = 0
      end do
    end do
  end subroutine
  subroutine exchange
    integer :: ierr
    call MPI_Sendrecv(u(1, local_size(2)), local_size(1), MPI_DOUBLE_PRECISION, up, 1, &
      u(1, 0), local_size(1), MPI_DOUBLE_PRECISION, down, 1, comm2d, &
      MPI_STATUS_IGNORE, ierr)
    call MPI_Sendrecv(u(1, 1), local_size(1), MPI_DOUBLE_PRECISION, down, 2, &
      u(1, local_size(2)+1), local_size(1), MPI_DOUBLE_PRECISION, up, 2, comm2d, &
      MPI_STATUS_IGNORE, ierr)
  end subroutine
  subroutine sweep
    integer :: i, j
    do j = 1, local_size(2)
      do i = 1, local_size(1)
        w(i, j) = 0.25d0 * (u(i-1, j) + u(i+1, j) + u(i, j-1) + u(i, j+1))
      end do
    end do
  end subroutine
  subroutine update
    integer :: i, j
    do j = 1, local_size(2)
      do i = 1, local_size(1)
        u(i, j) = w(i, j)
      end do
    end do
  end subroutine
end module
program main
  use fields
  implicit none
  integer :: it, ierr, rank
  real(8) :: s, t
  call MPI_Init(ierr)
  call decompose
  call begin
  do it = 1, 10
    call exchange
    call sweep
    call update
  end do
  s = sum(u(1:local_size(1), 1:local_size(2)))
  call MPI_Allreduce(s, t, 1, MPI_DOUBLE_PRECISION, MPI_SUM, comm2d, ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  if (rank == 0) print '(a,es20.12)', 'sum ', t
  call MPI_Finalize(ierr)
end program
