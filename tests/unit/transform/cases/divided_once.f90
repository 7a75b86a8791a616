! A send that is long under way passes a loop whether it is divided or not: it is divided once, where
! another message can go between its pieces.
module halos
  use mpi_f08
  implicit none
  integer :: wide, high, peer
  real(8), allocatable :: u(:, :), v(:, :), w(:, :)
contains
  subroutine exchange(u)
    real(8), intent(inout) :: u(0:, 0:)
    integer :: i
    type(MPI_Request) :: r(4)
    real(8) :: below(64)
    call MPI_Irecv(below, wide, MPI_REAL8, peer, 1, MPI_COMM_WORLD, r(1))
    call MPI_Irecv(u(1, high + 1), wide, MPI_REAL8, peer, 2, MPI_COMM_WORLD, r(2))
    call MPI_Isend(u(1, high), wide, MPI_REAL8, peer, 1, MPI_COMM_WORLD, r(3))
    call MPI_Isend(u(1, 1), wide, MPI_REAL8, peer, 2, MPI_COMM_WORLD, r(4))
    call MPI_Waitall(4, r, MPI_STATUSES_IGNORE)
    do i = 1, wide
      u(i, 0) = below(i)
    end do
  end subroutine exchange
  subroutine both(u, v)
    real(8), intent(inout) :: u(0:, 0:), v(0:, 0:)
    call exchange(u)
    call exchange(v)
  end subroutine both
  subroutine made(n, m)
    integer, intent(in) :: n, m
    wide = n
    high = m
    allocate (u(0:n + 1, 0:m + 1), v(0:n + 1, 0:m + 1), w(0:n + 1, 0:m + 1))
  end subroutine made
end module halos
program divided
  use mpi_f08
  use halos
  implicit none
  integer :: i, j, rank, got, nx, ny
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  peer = ieor(rank, 1)
  nx = 37
  ny = 12 + 0 * rank
  call made(nx, ny)
  ny = ny - 1
  u = 0.25d0
  v = 0.5d0
  w = 0.125d0
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, peer, 9, got, 1, MPI_INTEGER, peer, 9, &
    MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  do j = 1, 10
    do i = 1, 10
      v(i, j) = 0.5d0 * v(i, j) + i
    end do
  end do
  call both(w, v)
  do j = 1, ny
    do i = 1, nx
      u(i, j) = 0.5d0 * v(i, j) + 0.25d0 * (v(i, j - 1) + v(i, j + 1))
    end do
  end do
  do j = 1, ny
    do i = 1, nx
      u(i, j) = 0.25d0 * (w(i - 1, j) + w(i + 1, j) + w(i, j - 1) + w(i, j + 1))
    end do
  end do
  write(*, '(i10,es25.17)') rank, sum(u)
  write(*, '(i10,es25.17)') got, sum(v)
  call MPI_Finalize()
end program divided
