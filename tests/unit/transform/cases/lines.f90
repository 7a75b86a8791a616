! A stencil of 27 points that adds up lines of neighbours in arrays of its own, as multigrid codes
! do: each iteration fills them anew, so that the planes next to the neighbours can come last.
module field
  implicit none
  integer, parameter :: longest = 40
  double precision :: face(longest * longest, 4)
  integer :: below, above, me, many
  double precision, parameter :: c(0:2) = [-0.375d0, 0.03125d0, -0.015625d0]
end module field

program lines
  use field
  implicit none
  include 'mpif.h'
  double precision, allocatable :: u(:, :, :), r(:, :, :)
  integer :: step, n1, n2, n3, ierr
  call mpi_init(ierr)
  call mpi_comm_rank(MPI_COMM_WORLD, me, ierr)
  call mpi_comm_size(MPI_COMM_WORLD, many, ierr)
  below = mod(me + many - 1, many)
  above = mod(me + 1, many)
  n1 = 10
  n2 = 12
  n3 = 14
  allocate (u(n1, n2, n3), r(n1, n2, n3))
  u = 0.0d0
  r = 1.0d0
  do step = 1, 4
    call residual(u, r, n1, n2, n3)
    call exchange(r, n1, n2, n3)
    call smooth(r, u, n1, n2, n3)
  end do
  print *, 'rank', me, 'sum', sum(u)
  call mpi_finalize(ierr)
end program lines

subroutine residual(u, r, n1, n2, n3)
  use field, only: me
  implicit none
  integer, intent(in) :: n1, n2, n3
  double precision :: u(n1, n2, n3), r(n1, n2, n3)
  integer :: i1, i2, i3
  do i3 = 2, n3 - 1
    do i2 = 2, n2 - 1
      do i1 = 2, n1 - 1
        r(i1, i2, i3) = 0.5d0 * u(i1, i2, i3) + 0.01d0 * i1 + 0.02d0 * i2 * i3 + me
      end do
    end do
  end do
end subroutine residual

subroutine exchange(u, n1, n2, n3)
  use field
  implicit none
  include 'mpif.h'
  integer, intent(in) :: n1, n2, n3
  double precision :: u(n1, n2, n3)
  integer :: i1, i2, ierr, requests(2), status(MPI_STATUS_SIZE)
  call mpi_irecv(face(1, 1), n1 * n2, MPI_DOUBLE_PRECISION, below, 5, MPI_COMM_WORLD, &
    requests(1), ierr)
  call mpi_irecv(face(1, 2), n1 * n2, MPI_DOUBLE_PRECISION, above, 6, MPI_COMM_WORLD, &
    requests(2), ierr)
  do i2 = 1, n2
    do i1 = 1, n1
      face((i2 - 1) * n1 + i1, 3) = u(i1, i2, n3 - 1)
    end do
  end do
  call mpi_send(face(1, 3), n1 * n2, MPI_DOUBLE_PRECISION, above, 5, MPI_COMM_WORLD, ierr)
  do i2 = 1, n2
    do i1 = 1, n1
      face((i2 - 1) * n1 + i1, 4) = u(i1, i2, 2)
    end do
  end do
  call mpi_send(face(1, 4), n1 * n2, MPI_DOUBLE_PRECISION, below, 6, MPI_COMM_WORLD, ierr)
  call mpi_wait(requests(1), status, ierr)
  call mpi_wait(requests(2), status, ierr)
  do i2 = 1, n2
    do i1 = 1, n1
      u(i1, i2, 1) = face((i2 - 1) * n1 + i1, 1)
      u(i1, i2, n3) = face((i2 - 1) * n1 + i1, 2)
    end do
  end do
end subroutine exchange

subroutine smooth(r, u, n1, n2, n3)
  use field, only: c, longest
  implicit none
  integer, intent(in) :: n1, n2, n3
  double precision :: r(n1, n2, n3), u(n1, n2, n3)
  double precision :: r1(longest), r2(longest)
  integer :: i1, i2, i3
  do i3 = 2, n3 - 1
    do i2 = 2, n2 - 1
      do i1 = 1, n1
        r1(i1) = r(i1, i2 - 1, i3) + r(i1, i2 + 1, i3) + r(i1, i2, i3 - 1) + r(i1, i2, i3 + 1)
        r2(i1) = r(i1, i2 - 1, i3 - 1) + r(i1, i2 + 1, i3 - 1) + r(i1, i2 - 1, i3 + 1) &
          + r(i1, i2 + 1, i3 + 1)
      end do
      do i1 = 2, n1 - 1
        u(i1, i2, i3) = u(i1, i2, i3) + c(0) * r(i1, i2, i3) &
          + c(1) * (r(i1 - 1, i2, i3) + r(i1 + 1, i2, i3) + r1(i1)) &
          + c(2) * (r2(i1) + r1(i1 - 1) + r1(i1 + 1))
      end do
    end do
  end do
end subroutine smooth
