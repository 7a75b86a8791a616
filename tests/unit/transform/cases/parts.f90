! Fields that are parts of a state, allocated and exchanged by procedures of their type.
module fields
  use mpi
  implicit none
  type :: field
    real(8), allocatable :: a(:,:)
  contains
    procedure :: init => field_init
    procedure :: exchange => field_exchange
  end type field
  type :: state
    integer :: nx, ny
    type(field) :: u, v
  end type state
contains
  subroutine field_init(self, n, m)
    class(field), intent(inout) :: self
    integer, intent(in) :: n, m
    allocate(self%a(0:n+1, 0:m+1))
    self%a = 0.0d0
  end subroutine field_init
  subroutine field_exchange(self, n, m, left, right)
    class(field), intent(inout) :: self
    integer, intent(in) :: n, m, left, right
    integer :: ierr
    call MPI_Sendrecv(self%a(1,1), n, MPI_DOUBLE_PRECISION, left, 1, &
                      self%a(1,m+1), n, MPI_DOUBLE_PRECISION, right, 1, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Sendrecv(self%a(1,m), n, MPI_DOUBLE_PRECISION, right, 2, &
                      self%a(1,0), n, MPI_DOUBLE_PRECISION, left, 2, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end subroutine field_exchange
  subroutine state_init(s, n, m)
    type(state), intent(inout) :: s
    integer, intent(in) :: n, m
    s%nx = n
    s%ny = m
    call s%u%init(n, m)
    call s%v%init(n, m)
  end subroutine state_init
  subroutine step(s)
    type(state), intent(inout) :: s
    integer :: i, j
    do j = 1, s%ny
      do i = 1, s%nx
        s%v%a(i,j) = 0.25d0 * (s%u%a(i-1,j) + s%u%a(i+1,j) + s%u%a(i,j-1) + s%u%a(i,j+1)) + 1.0d0
      end do
    end do
  end subroutine step
end module fields
program main
  use mpi
  use fields
  implicit none
  type(state) :: s
  integer :: it, ierr, rank, nprocs, left, right, nloc
  real(8) :: x, t
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
  left = rank - 1
  if (left < 0) left = MPI_PROC_NULL
  right = rank + 1
  if (right >= nprocs) right = MPI_PROC_NULL
  nloc = 24 / nprocs
  call state_init(s, 12, nloc)
  do it = 1, 10
    call s%u%exchange(s%nx, s%ny, left, right)
    call step(s)
    s%u%a(1:s%nx, 1:s%ny) = s%v%a(1:s%nx, 1:s%ny)
  end do
  x = sum(s%u%a(1:s%nx, 1:s%ny))
  call MPI_Reduce(x, t, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(f24.12)', t
  call MPI_Finalize(ierr)
end program main
