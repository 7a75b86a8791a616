! Faces are copied by a counter that begins anew behind the wait, then all cells are computed by a
! routine whose bounds are those of a module.
module cells
  implicit none
  include 'mpif.h'
  integer, parameter :: nc = 20
  integer :: ncells, next, prev, computed = 0
  double precision :: u(0:nc + 1, nc, 2), rhs(nc, nc, 2)
  double precision :: faces_in(4 * nc), faces_out(4 * nc)
end module cells

program p
  use cells
  implicit none
  integer :: rank, many, step, c, i, j, ierr
  call mpi_init(ierr)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
  call mpi_comm_size(MPI_COMM_WORLD, many, ierr)
  ncells = 1 + mod(many, 2)
  next = mod(rank + 1, many)
  prev = mod(rank + many - 1, many)
  do c = 1, 2
    do j = 1, nc
      do i = 0, nc + 1
        u(i, j, c) = modulo(3 * i + 5 * j + 7 * c + 11 * rank, 16)
      end do
    end do
  end do
  do step = 1, 6
    call copy_faces
    call compute_rhs
    u(1:nc, :, :) = 0.5d0 * u(1:nc, :, :) + 0.5d0 * rhs
  end do
  print *, u(1, 3, 1), u(nc, 4, ncells), computed
  call mpi_finalize(ierr)
end program p

subroutine copy_faces
  use cells
  implicit none
  integer :: requests(4), c, j, p0, p1, first(0:1), ierr
  first(0) = 1
  first(1) = 1 + ncells * nc
  p0 = first(0)
  p1 = first(1)
  do c = 1, ncells
    do j = 1, nc
      faces_out(p0) = u(nc, j, c)
      faces_out(p1) = u(1, j, c)
      p0 = p0 + 1
      p1 = p1 + 1
    end do
  end do
  p0 = ncells * nc
  call mpi_irecv(faces_in(first(0)), p0, MPI_DOUBLE_PRECISION, prev, 1, MPI_COMM_WORLD, &
    requests(1), ierr)
  call mpi_irecv(faces_in(first(1)), p0, MPI_DOUBLE_PRECISION, next, 2, MPI_COMM_WORLD, &
    requests(2), ierr)
  call mpi_isend(faces_out(first(0)), p0, MPI_DOUBLE_PRECISION, next, 1, MPI_COMM_WORLD, &
    requests(3), ierr)
  call mpi_isend(faces_out(first(1)), p0, MPI_DOUBLE_PRECISION, prev, 2, MPI_COMM_WORLD, &
    requests(4), ierr)
  call mpi_waitall(4, requests, MPI_STATUSES_IGNORE, ierr)
  p0 = first(0)
  p1 = first(1)
  do c = 1, ncells
    do j = 1, nc
      u(0, j, c) = faces_in(p0)
      u(nc + 1, j, c) = faces_in(p1)
      p0 = p0 + 1
      p1 = p1 + 1
    end do
  end do
end subroutine copy_faces

subroutine compute_rhs
  use cells
  implicit none
  integer :: c, i, j
  computed = computed + 1
  do c = 1, ncells
    do j = 1, nc
      do i = 1, nc
        rhs(i, j, c) = 0.25d0 * (u(i - 1, j, c) + u(i + 1, j, c)) + 0.125d0 * i
      end do
    end do
  end do
end subroutine compute_rhs
