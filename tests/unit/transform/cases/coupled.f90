! Two models with procedures of the same names: each exchanges its field and steps on.
module air
  use mpi
  implicit none
  private
  public :: air_step, init, total
  integer, parameter :: n = 120
  real(8) :: u(0:n + 1, 0:n + 1), v(0:n + 1, 0:n + 1)
contains
  subroutine init(rank)
    integer, intent(in) :: rank
    integer :: i, j
    do j = 0, n + 1
      do i = 0, n + 1
        u(i, j) = mod(7*i + 3*j + rank, 11)
        v(i, j) = 0
      end do
    end do
  end subroutine init

  subroutine exchange(left, right)
    integer, intent(in) :: left, right
    integer :: ierr
    call MPI_Sendrecv(u(:, n), n + 2, MPI_DOUBLE_PRECISION, right, 1, &
         u(:, 0), n + 2, MPI_DOUBLE_PRECISION, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Sendrecv(u(:, 1), n + 2, MPI_DOUBLE_PRECISION, left, 2, &
         u(:, n + 1), n + 2, MPI_DOUBLE_PRECISION, right, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end subroutine exchange

  subroutine smooth()
    integer :: i, j
    do j = 1, n
      do i = 1, n
        v(i, j) = 0.25d0*(u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1))
      end do
    end do
  end subroutine smooth

  subroutine air_step(left, right)
    integer, intent(in) :: left, right
    call exchange(left, right)
    call smooth()
    u(1:n, 1:n) = v(1:n, 1:n)
  end subroutine air_step

  function total() result(sums)
    real(8) :: sums
    sums = sum(u(1:n, 1:n))
  end function total
end module air

module sea
  use mpi
  implicit none
  private
  public :: exchange, smooth, init, total
  integer, parameter :: n = 90
  real(8) :: w(0:n + 1, 0:n + 1), z(0:n + 1, 0:n + 1)
contains
  subroutine init(rank)
    integer, intent(in) :: rank
    integer :: i, j
    do j = 0, n + 1
      do i = 0, n + 1
        w(i, j) = mod(5*i + 2*j + rank, 13)
        z(i, j) = 0
      end do
    end do
  end subroutine init

  subroutine exchange(left, right)
    integer, intent(in) :: left, right
    integer :: ierr
    call MPI_Sendrecv(w(:, n), n + 2, MPI_DOUBLE_PRECISION, right, 3, &
         w(:, 0), n + 2, MPI_DOUBLE_PRECISION, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Sendrecv(w(:, 1), n + 2, MPI_DOUBLE_PRECISION, left, 4, &
         w(:, n + 1), n + 2, MPI_DOUBLE_PRECISION, right, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end subroutine exchange

  subroutine smooth()
    integer :: i, j
    do j = 1, n
      do i = 1, n
        z(i, j) = 0.5d0*w(i, j) + 0.125d0*(w(i - 1, j) + w(i + 1, j) + w(i, j - 1) + w(i, j + 1))
      end do
    end do
    w(1:n, 1:n) = z(1:n, 1:n)
  end subroutine smooth

  function total() result(sums)
    real(8) :: sums
    sums = sum(w(1:n, 1:n))
  end function total
end module sea

program coupled
  use mpi
  use air, only: air_step, init_air => init, air_total => total
  use sea, only: sea_exchange => exchange, smooth, init_sea => init, sea_total => total
  implicit none
  integer :: rank, ranks, left, right, step, i, j, ierr
  integer, parameter :: m = 150
  real(8) :: own(m, m), here(3), all(3)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  left = mod(rank - 1 + ranks, ranks)
  right = mod(rank + 1, ranks)
  call init_air(rank)
  call init_sea(rank)
  own = 0
  do step = 1, 8
    call air_step(left, right)
    call sea_exchange(left, right)
    do j = 1, m
      do i = 1, m
        own(i, j) = 0.5d0*own(i, j) + step*i + j
      end do
    end do
    call smooth()
  end do
  here(1) = air_total()
  here(2) = sea_total()
  here(3) = sum(own)
  call MPI_Reduce(here, all, 3, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(3f20.6)', all
  call MPI_Finalize(ierr)
end program coupled
