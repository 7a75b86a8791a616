! MPI and OpenMP: the routine that computes a step has its directives in both of its parts.
module fields
  implicit none
  include 'mpif.h'
  integer, parameter :: nx = 64, ny = 40
  integer :: left, right
  double precision :: u(nx, 0:ny+1), v(nx, 0:ny+1)
contains
  subroutine exchange()
    integer :: ierr
    call MPI_Sendrecv(u(1, 1), nx, MPI_DOUBLE_PRECISION, left, 1, u(1, ny+1), nx, &
        MPI_DOUBLE_PRECISION, right, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Sendrecv(u(1, ny), nx, MPI_DOUBLE_PRECISION, right, 2, u(1, 0), nx, &
        MPI_DOUBLE_PRECISION, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end subroutine

  subroutine step()
    integer :: i, j
    double precision :: both
    !$omp parallel do private(i, both) &
    !$omp schedule(static)
    do j = 1, ny
      do i = 2, nx - 1
        both = u(i, j-1) + u(i, j+1)
        v(i, j) = 0.25d0 * (both + u(i-1, j) + u(i+1, j))
      end do
    end do
    !$omp end parallel do
  end subroutine
end module

program hybrid
  use fields
  implicit none
  integer :: rank, ranks, ierr, it, i, j
  double precision :: total
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  left = mod(rank + ranks - 1, ranks)
  right = mod(rank + 1, ranks)
  do j = 0, ny + 1
    do i = 1, nx
      u(i, j) = mod(j * 7 + i * 3 + rank, 11)
    end do
  end do
  v = u
  do it = 1, 10
    call exchange()
    call step()
    !$omp parallel do
    do j = 1, ny
      do i = 2, nx - 1
        u(i, j) = v(i, j)
      end do
    end do
  end do
  total = 0
  do j = 1, ny
    do i = 1, nx
      total = total + u(i, j) * mod(i, 7)
    end do
  end do
  print '(i4, es24.16)', rank, total
  call MPI_Finalize(ierr)
end program
