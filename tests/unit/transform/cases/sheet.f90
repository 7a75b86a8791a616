! Heat in arrays of a module: one routine reads their sizes, another allocates them, and the exchange
! takes one of them as an array of assumed shape.
module params
  implicit none
  integer :: nx, nyl, steps
end module params
module fields
  use params
  implicit none
  double precision, allocatable :: t(:, :), tn(:, :)
contains
  subroutine setup_fields()
    allocate (t(0:nx+1, 0:nyl+1))
    allocate (tn(0:nx+1, 0:nyl+1))
    t = 0
    tn = 0
  end subroutine
end module fields
module comms
  use params
  implicit none
  integer :: rank, np, prev, next
contains
  subroutine start_comms()
    include 'mpif.h'
    integer :: ierr
    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, np, ierr)
    prev = rank - 1
    if (prev < 0) prev = MPI_PROC_NULL
    next = rank + 1
    if (next >= np) next = MPI_PROC_NULL
  end subroutine
  subroutine input()
    include 'mpif.h'
    integer :: ierr
    if (rank == 0) then
      nx = 64
      steps = 30
    end if
    call MPI_Bcast(nx, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    call MPI_Bcast(steps, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    nyl = 60 / np
  end subroutine
  subroutine exchange(a)
    include 'mpif.h'
    double precision, intent(inout) :: a(0:, 0:)
    integer :: ierr, req(4), stats(MPI_STATUS_SIZE, 4)
    call MPI_Irecv(a(0, 0), nx + 2, MPI_DOUBLE_PRECISION, prev, 1, MPI_COMM_WORLD, req(1), ierr)
    call MPI_Irecv(a(0, nyl+1), nx + 2, MPI_DOUBLE_PRECISION, next, 2, MPI_COMM_WORLD, req(2), ierr)
    call MPI_Isend(a(0, nyl), nx + 2, MPI_DOUBLE_PRECISION, next, 1, MPI_COMM_WORLD, req(3), ierr)
    call MPI_Isend(a(0, 1), nx + 2, MPI_DOUBLE_PRECISION, prev, 2, MPI_COMM_WORLD, req(4), ierr)
    call MPI_Waitall(4, req, stats, ierr)
  end subroutine
end module comms
module kernel
  use params
  use fields
  use comms, only: exchange
  implicit none
contains
  subroutine advance()
    integer :: i, j
    call exchange(t)
    do j = 1, nyl
      do i = 1, nx
        tn(i, j) = t(i, j) + 0.1d0 * (t(i-1, j) + t(i+1, j) + t(i, j-1) + t(i, j+1) - 4 * t(i, j))
      end do
    end do
    do j = 1, nyl
      do i = 1, nx
        t(i, j) = tn(i, j)
      end do
    end do
  end subroutine
end module kernel
program sheet
  use params
  use fields
  use comms
  use kernel
  implicit none
  include 'mpif.h'
  integer :: it, ierr
  double precision :: s, total
  call start_comms()
  call input()
  call setup_fields()
  t(20:40, :) = 1 + rank
  do it = 1, steps
    call advance()
  end do
  s = sum(t(1:nx, 1:nyl))
  call MPI_Reduce(s, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(es22.14)', total
  call MPI_Finalize(ierr)
end program sheet
