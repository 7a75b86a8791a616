! As many fields as an argument or a variable of a module says: all their messages are started.
module fluxes
  use mpi
  implicit none
  integer, parameter :: nx = 16, ny = 12
  integer :: below, above, rank, nproc, first = 1, last = 0
contains
  subroutine exchange(u, nvar)
    integer, intent(in) :: nvar
    real(8), intent(inout) :: u(nx, 0:ny + 1, nvar)
    integer :: l, ierr
    do l = 1, nvar
      call MPI_Sendrecv(u(1, ny, l), nx, MPI_DOUBLE_PRECISION, above, l, u(1, 0, l), nx, &
        MPI_DOUBLE_PRECISION, below, l, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      call MPI_Sendrecv(u(1, 1, l), nx, MPI_DOUBLE_PRECISION, below, l, u(1, ny + 1, l), nx, &
        MPI_DOUBLE_PRECISION, above, l, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    end do
  end subroutine exchange

  subroutine turned(g, w, v)
    real(8), intent(inout) :: g(nx, 0:1, *), w(nx, ny), v(nx, ny)
    integer :: i, j, l, ierr
    do l = first, last
      call MPI_Sendrecv(g(1, 1, l), nx, MPI_DOUBLE_PRECISION, above, 7, g(1, 0, l), nx, &
        MPI_DOUBLE_PRECISION, below, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    end do
    do j = 1, ny
      do i = 1, nx
        v(i, j) = 0.5d0 * w(i, j) + i
      end do
    end do
    do l = first, last
      do i = 1, nx
        v(i, 1) = v(i, 1) + g(i, 0, l)
      end do
    end do
  end subroutine turned
end module fluxes

program main
  use fluxes
  implicit none
  integer, parameter :: fields = 5
  real(8) :: u(nx, 0:ny + 1, fields), g(nx, 0:1, fields), w(nx, ny), v(nx, ny), mine, all
  integer :: i, j, l, it, m, ierr
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nproc, ierr)
  below = mod(rank + nproc - 1, nproc)
  above = mod(rank + 1, nproc)
  do l = 1, fields
    do j = 0, ny + 1
      do i = 1, nx
        u(i, j, l) = i + 2 * j + 3 * l + rank
      end do
    end do
    g(:, :, l) = l + rank
  end do
  w = 1
  v = 0
  first = 2
  do it = 0, fields
    m = it
    last = it - 1
    call exchange(u, m)
    do j = 1, ny
      do i = 1, nx
        w(i, j) = mod(w(i, j) * 3 + i + j + it, 101d0)
      end do
    end do
    m = fields
    do l = 1, m
      do i = 1, nx
        w(i, 1) = w(i, 1) + u(i, 0, l) + u(i, ny + 1, l)
      end do
    end do
    call turned(g, w, v)
    do l = 1, fields
      do i = 1, nx
        u(i, 1, l) = mod(v(i, 1), 17d0) + l
        u(i, ny, l) = mod(v(i, ny), 13d0) + l
        g(i, 1, l) = mod(g(i, 1, l) + v(i, 2), 19d0)
      end do
    end do
  end do
  mine = sum(v) + sum(w) + sum(u) + sum(g)
  call MPI_Reduce(mine, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0) print *, all
  call MPI_Finalize(ierr)
end program main
