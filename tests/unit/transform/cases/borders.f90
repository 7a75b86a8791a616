module particles
  use mpi
  implicit none
  integer, parameter :: most = 400
  real(8) :: x(most), f(most), out(most, 2), ghost(most, 2)
  integer :: rank, nranks, left, right, nlocal = 100, nghost(2)
contains
  subroutine borders
    integer :: n1, n2, m1, m2, i, ierr, r(4)
    n1 = 0
    n2 = 0
    m1 = 0
    m2 = 0
    do i = 1, nlocal
      if (x(i) < 0.2d0) then
        n1 = n1 + 1
        out(n1, 1) = x(i)
      end if
      if (x(i) > 0.8d0) then
        n2 = n2 + 1
        out(n2, 2) = x(i)
      end if
    end do
    call MPI_Sendrecv(n1, 1, MPI_INTEGER, left, 1, m2, 1, MPI_INTEGER, right, 1, &
      MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Sendrecv(n2, 1, MPI_INTEGER, right, 2, m1, 1, MPI_INTEGER, left, 2, &
      MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Irecv(ghost(1, 2), m2, MPI_DOUBLE_PRECISION, right, 3, MPI_COMM_WORLD, r(1), ierr)
    call MPI_Irecv(ghost(1, 1), m1, MPI_DOUBLE_PRECISION, left, 4, MPI_COMM_WORLD, r(2), ierr)
    call MPI_Isend(out(1, 1), n1, MPI_DOUBLE_PRECISION, left, 3, MPI_COMM_WORLD, r(3), ierr)
    call MPI_Isend(out(1, 2), n2, MPI_DOUBLE_PRECISION, right, 4, MPI_COMM_WORLD, r(4), ierr)
    call MPI_Waitall(4, r, MPI_STATUSES_IGNORE, ierr)
    nghost(1) = m1
    nghost(2) = m2
  end subroutine borders
  subroutine local_forces
    integer :: i, j
    do i = 1, nlocal
      f(i) = 0.0d0
      do j = 1, nlocal
        f(i) = f(i) + 0.001d0 * (x(i) - x(j))
      end do
    end do
  end subroutine local_forces
  subroutine ghost_forces
    integer :: i, j, side
    do i = 1, nlocal
      do side = 1, 2
        do j = 1, nghost(side)
          f(i) = f(i) + 0.001d0 * (x(i) - ghost(j, side)) + 0.0001d0 * side
        end do
      end do
    end do
  end subroutine ghost_forces
end module particles
program main
  use particles
  implicit none
  integer :: i, step, ierr
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nranks, ierr)
  left = rank - 1
  if (rank == 0) left = MPI_PROC_NULL
  right = rank + 1
  if (rank == nranks - 1) right = MPI_PROC_NULL
  do i = 1, nlocal
    x(i) = mod(i * 37 + rank * 11, 100) / 100.0d0
  end do
  do step = 1, 10
    call borders
    call local_forces
    call ghost_forces
    do i = 1, nlocal
      x(i) = 0.5d0 * x(i) + 0.25d0 + 0.01d0 * f(i)
    end do
  end do
  write(*, '(i4,es22.12,2i5)') rank, sum(x(1:nlocal)), nghost
  call MPI_Finalize(ierr)
end program main
