! Heat equation in two dimensions; exchange routine with assumed-shape dummies and module buffers.
module halo_mod
  use mpi_f08
  implicit none
  private
  public :: halo_init, halo_exchange, halo_end, left, right, down, up, comm, rank, ranks
  type(MPI_Comm) :: comm
  integer :: left, right, down, up, rank, ranks
  real(8), allocatable :: sendl(:), sendr(:), recvl(:), recvr(:)
contains
  subroutine halo_init(ny)
    integer, intent(in) :: ny
    integer :: dims(2)
    logical :: periods(2)
    dims = 0
    periods = .true.
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    call MPI_Dims_create(ranks, 2, dims)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, .false., comm)
    call MPI_Comm_rank(comm, rank)
    call MPI_Cart_shift(comm, 0, 1, left, right)
    call MPI_Cart_shift(comm, 1, 1, down, up)
    allocate (sendl(ny), sendr(ny), recvl(ny), recvr(ny))
  end subroutine halo_init

  subroutine halo_exchange(a)
    real(8), intent(inout) :: a(0:, 0:)
    integer :: nx, ny, j
    type(MPI_Request) :: req(8)
    nx = ubound(a, 1) - 1
    ny = ubound(a, 2) - 1
    call MPI_Irecv(recvl, ny, MPI_DOUBLE_PRECISION, left, 1, comm, req(1))
    call MPI_Irecv(recvr, ny, MPI_DOUBLE_PRECISION, right, 2, comm, req(2))
    call MPI_Irecv(a(1, 0), nx, MPI_DOUBLE_PRECISION, down, 3, comm, req(3))
    call MPI_Irecv(a(1, ny + 1), nx, MPI_DOUBLE_PRECISION, up, 4, comm, req(4))
    do j = 1, ny
      sendl(j) = a(1, j)
      sendr(j) = a(nx, j)
    end do
    call MPI_Isend(sendr, ny, MPI_DOUBLE_PRECISION, right, 1, comm, req(5))
    call MPI_Isend(sendl, ny, MPI_DOUBLE_PRECISION, left, 2, comm, req(6))
    call MPI_Isend(a(1, ny), nx, MPI_DOUBLE_PRECISION, up, 3, comm, req(7))
    call MPI_Isend(a(1, 1), nx, MPI_DOUBLE_PRECISION, down, 4, comm, req(8))
    call MPI_Waitall(8, req, MPI_STATUSES_IGNORE)
    do j = 1, ny
      a(0, j) = recvl(j)
      a(nx + 1, j) = recvr(j)
    end do
  end subroutine halo_exchange

  subroutine halo_end()
    deallocate (sendl, sendr, recvl, recvr)
    call MPI_Comm_free(comm)
  end subroutine halo_end
end module halo_mod

program heat
  use mpi_f08
  use halo_mod
  implicit none
  integer, parameter :: nx = 64, ny = 48, steps = 10
  real(8), allocatable :: u(:, :), v(:, :)
  real(8) :: before, after
  integer :: step, i, j, wrong
  call MPI_Init()
  call halo_init(ny)
  allocate (u(0:nx + 1, 0:ny + 1), v(0:nx + 1, 0:ny + 1))
  u = 0.0d0
  v = 0.0d0
  do j = 1, ny
    do i = 1, nx
      u(i, j) = 1.0d0 + rank + mod(i * j, 7)
    end do
  end do
  before = total(u)
  do step = 1, steps
    call halo_exchange(u)
    do j = 1, ny
      do i = 1, nx
        v(i, j) = 0.25d0 * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1))
      end do
    end do
    do j = 1, ny
      do i = 1, nx
        u(i, j) = v(i, j)
      end do
    end do
  end do
  after = total(u)
  wrong = 0
  if (abs(after - before) > 1.0d-9 * before) wrong = 1
  if (rank == 0) print '(a, i2)', 'wrong values ', wrong
  print '(a, i3, es24.16)', 'rank', rank, sum(u(1:nx, 1:ny))
  call halo_end()
  call MPI_Finalize()
contains
  real(8) function total(a)
    real(8), intent(in) :: a(0:, 0:)
    real(8) :: mine
    mine = sum(a(1:nx, 1:ny))
    call MPI_Allreduce(mine, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, comm)
  end function total
end program heat
