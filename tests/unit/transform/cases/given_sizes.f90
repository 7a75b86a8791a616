! Fields that a routine allocates by sizes that it is given, exchanged by sizes given too.
module fields
  implicit none
  type field
    real(8), allocatable :: a(:,:)
  end type field
contains
  subroutine init(f, n, m)
    type(field), intent(inout) :: f
    integer, intent(in) :: n, m
    allocate(f%a(0:n+1, 0:m+1))
    f%a = 0.0d0
  end subroutine init
  subroutine finish(f)
    type(field), intent(inout) :: f
    deallocate(f%a)
  end subroutine finish
end module fields

module halo
  use mpi
  use fields
  implicit none
contains
  subroutine exchange(f, n, m, left, right, comm)
    type(field), intent(inout) :: f
    integer, intent(in) :: n, m, left, right, comm
    integer :: ierr
    call MPI_Sendrecv(f%a(1,1), n, MPI_DOUBLE_PRECISION, left, 1, &
                      f%a(1,m+1), n, MPI_DOUBLE_PRECISION, right, 1, comm, MPI_STATUS_IGNORE, ierr)
    call MPI_Sendrecv(f%a(1,m), n, MPI_DOUBLE_PRECISION, right, 2, &
                      f%a(1,0), n, MPI_DOUBLE_PRECISION, left, 2, comm, MPI_STATUS_IGNORE, ierr)
  end subroutine exchange
  subroutine sweep(f, g, n, m)
    type(field), intent(in) :: f
    type(field), intent(inout) :: g
    integer, intent(in) :: n, m
    integer :: i, j
    do j = 1, m
      do i = 1, n
        g%a(i,j) = 0.25d0 * (f%a(i-1,j) + f%a(i+1,j) + f%a(i,j-1) + f%a(i,j+1)) + 1.0d0
      end do
    end do
  end subroutine sweep
end module halo

module driver
  use mpi
  use fields
  use halo
  implicit none
contains
  subroutine run(n, m, left, right, rank, comm)
    integer, intent(in) :: n, m, left, right, rank, comm
    type(field) :: u, v
    integer :: it, ierr
    real(8) :: s, t
    call init(u, n, m)
    call init(v, n, m)
    do it = 1, 10
      call exchange(u, n, m, left, right, comm)
      call sweep(u, v, n, m)
      call exchange(v, n, m, left, right, comm)
      call sweep(v, u, n, m)
    end do
    s = sum(u%a(1:n, 1:m))
    call MPI_Reduce(s, t, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, comm, ierr)
    if (rank == 0) print '(f24.12)', t
    call finish(u)
    call finish(v)
  end subroutine run
end module driver
program main
  use mpi
  use driver
  implicit none
  integer :: n, m, ierr, rank, nprocs, left, right, mglobal
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nprocs, ierr)
  if (rank == 0) then
    n = 12
    mglobal = 24
  end if
  call MPI_Bcast(n, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  call MPI_Bcast(mglobal, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  m = mglobal / nprocs
  left = rank - 1
  if (left < 0) left = MPI_PROC_NULL
  right = rank + 1
  if (right >= nprocs) right = MPI_PROC_NULL
  call run(n, m, left, right, rank, MPI_COMM_WORLD)
  call MPI_Finalize(ierr)
end program main
