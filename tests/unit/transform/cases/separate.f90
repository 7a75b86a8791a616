! An exchange in a submodule, whose arguments the module states: its callers get two halves.
module params
  implicit none
  integer, parameter :: dp = kind(1d0)
end module params

module sea
  use mpi_f08
  use params, only: dp
  implicit none
  private
  public :: exchange, setup, smooth, total, n, m, rank
  integer, parameter :: n = 24, m = 20
  integer :: left, right, rank, nproc
  type(MPI_Comm) :: line
  interface
    module subroutine setup()
    end subroutine setup
    module subroutine exchange(u)
      real(dp), intent(inout) :: u(0:, :)
    end subroutine
    module subroutine smooth(u, w, k)
      real(dp), intent(inout) :: u(0:n + 1, m), w(n, m)
      integer, value :: k
    end subroutine smooth
    module function total(w) result(s)
      real(dp), intent(in) :: w(n, m)
      real(dp) :: s
    end function total
  end interface
end module sea

submodule (sea) messages
contains
  module procedure setup
    call MPI_Init()
    line = MPI_COMM_WORLD
    call MPI_Comm_rank(line, rank)
    call MPI_Comm_size(line, nproc)
    left = mod(rank + nproc - 1, nproc)
    right = mod(rank + 1, nproc)
  end procedure setup

  module procedure exchange
    real(dp) :: sendl(m), recvl(m), sendr(m), recvr(m)
    type(MPI_Request) :: r(4)
    integer :: j
    do j = 1, m
      sendl(j) = u(1, j)
      sendr(j) = u(n, j)
    end do
    call MPI_Irecv(recvl, m, MPI_DOUBLE_PRECISION, left, 1, line, r(1))
    call MPI_Irecv(recvr, m, MPI_DOUBLE_PRECISION, right, 2, line, r(2))
    call MPI_Isend(sendr, m, MPI_DOUBLE_PRECISION, right, 1, line, r(3))
    call MPI_Isend(sendl, m, MPI_DOUBLE_PRECISION, left, 2, line, r(4))
    call MPI_Waitall(4, r, MPI_STATUSES_IGNORE)
    do j = 1, m
      u(0, j) = recvl(j)
      u(n + 1, j) = recvr(j)
    end do
  end procedure exchange

  module procedure smooth
    integer :: i, j
    call exchange(u)
    do j = 1, m
      do i = 1, n
        w(i, j) = mod(w(i, j) + i * j + k, 31d0)
      end do
    end do
    do j = 1, m
      do i = 1, n
        w(i, j) = w(i, j) + u(i - 1, j) + u(i + 1, j)
      end do
    end do
  end procedure smooth

  module procedure total
    real(dp) :: mine
    mine = sum(w)
    call MPI_Allreduce(mine, s, 1, MPI_DOUBLE_PRECISION, MPI_SUM, line)
  end procedure total
end submodule messages

program main
  use mpi_f08, only: MPI_Finalize
  use params, only: dp
  use sea, only: exchange, setup, smooth, total, n, m, rank
  implicit none
  real(dp) :: u(0:n + 1, m), w(n, m), s
  integer :: i, j, it
  call setup()
  do j = 1, m
    do i = 0, n + 1
      u(i, j) = i + j
    end do
  end do
  w = 0
  do it = 1, 4
    call smooth(u, w, it)
    do j = 1, m
      do i = 1, n
        u(i, j) = mod(w(i, j), 11d0)
      end do
    end do
    call exchange(u)
    do j = 1, m
      do i = 1, n
        w(i, j) = w(i, j) + 1
      end do
    end do
    u(1, :) = u(1, :) + u(0, :)
  end do
  s = total(w)
  if (rank == 0) print *, sum(u), s
  call MPI_Finalize()
end program main
