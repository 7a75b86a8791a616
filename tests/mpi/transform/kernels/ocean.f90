! In the style of ocean models: fields in an object, whose halos are exchanged by rows and by
! columns (a vector type); momentum and height are stepped in turn, and the largest change of the
! height is the value of a function.
module precision_of_fields
  implicit none
  integer, parameter :: wp = selected_real_kind(15, 307)
end module precision_of_fields

module fields
  use mpi_f08
  use precision_of_fields, only: wp
  implicit none
  type :: grid
    integer :: nx, ny
    integer :: west, east, south, north
    type(MPI_Comm) :: comm
    type(MPI_Datatype) :: column
    real(wp), allocatable :: u(:, :), v(:, :), h(:, :), hnew(:, :)
  end type grid
contains
  subroutine make(g, nx, ny, dims)
    type(grid), intent(inout) :: g
    integer, intent(in) :: nx, ny, dims(2)
    integer :: me, many
    g%nx = nx; g%ny = ny
    call MPI_Comm_dup(MPI_COMM_WORLD, g%comm)
    call MPI_Comm_rank(g%comm, me)
    call MPI_Comm_size(g%comm, many)
    g%west = modulo(me - 1, dims(1)) + dims(1) * (me / dims(1))
    g%east = modulo(me + 1, dims(1)) + dims(1) * (me / dims(1))
    g%south = modulo(me - dims(1), many)
    g%north = modulo(me + dims(1), many)
    allocate (g%u(0:nx + 1, 0:ny + 1), g%v(0:nx + 1, 0:ny + 1))
    allocate (g%h(0:nx + 1, 0:ny + 1), g%hnew(0:nx + 1, 0:ny + 1))
    call MPI_Type_vector(ny, 1, nx + 2, MPI_DOUBLE_PRECISION, g%column)
    call MPI_Type_commit(g%column)
  end subroutine make

  subroutine halo(g, a)
    type(grid), intent(in) :: g
    real(wp), intent(inout), contiguous :: a(0:, 0:)
    type(MPI_Request) :: r(8)
    call MPI_Irecv(a(0, 1), 1, g%column, g%west, 1, g%comm, r(1))
    call MPI_Irecv(a(g%nx + 1, 1), 1, g%column, g%east, 2, g%comm, r(2))
    call MPI_Irecv(a(1, 0), g%nx, MPI_DOUBLE_PRECISION, g%south, 3, g%comm, r(3))
    call MPI_Irecv(a(1, g%ny + 1), g%nx, MPI_DOUBLE_PRECISION, g%north, 4, g%comm, r(4))
    call MPI_Isend(a(g%nx, 1), 1, g%column, g%east, 1, g%comm, r(5))
    call MPI_Isend(a(1, 1), 1, g%column, g%west, 2, g%comm, r(6))
    call MPI_Isend(a(1, g%ny), g%nx, MPI_DOUBLE_PRECISION, g%north, 3, g%comm, r(7))
    call MPI_Isend(a(1, 1), g%nx, MPI_DOUBLE_PRECISION, g%south, 4, g%comm, r(8))
    call MPI_Waitall(8, r, MPI_STATUSES_IGNORE)
  end subroutine halo

  subroutine momentum(g, dt)
    type(grid), intent(inout) :: g
    real(wp), intent(in) :: dt
    integer :: i, j
    do j = 1, g%ny
      do i = 1, g%nx
        g%u(i, j) = g%u(i, j) - dt * (g%h(i + 1, j) - g%h(i - 1, j))
        g%v(i, j) = g%v(i, j) - dt * (g%h(i, j + 1) - g%h(i, j - 1))
      end do
    end do
  end subroutine momentum

  function height(g, dt) result(change)
    type(grid), intent(inout) :: g
    real(wp), intent(in) :: dt
    real(wp) :: change
    integer :: i, j
    change = 0
    do j = 1, g%ny
      do i = 1, g%nx
        g%hnew(i, j) = g%h(i, j) &
          - dt * (g%u(i + 1, j) - g%u(i - 1, j) + g%v(i, j + 1) - g%v(i, j - 1))
        if (abs(g%hnew(i, j) - g%h(i, j)) > change) change = abs(g%hnew(i, j) - g%h(i, j))
      end do
    end do
  end function height

  subroutine turn(g)
    type(grid), intent(inout) :: g
    integer :: i, j
    do j = 1, g%ny
      do i = 1, g%nx
        g%h(i, j) = g%hnew(i, j)
      end do
    end do
  end subroutine turn
end module fields

program ocean
  use fields
  implicit none
  integer, parameter :: n = 48, steps = 20
  type(grid) :: g
  integer :: me, many, dims(2), it, i, j, bad, total
  real(wp) :: dt, change, mass, before, every
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, me)
  call MPI_Comm_size(MPI_COMM_WORLD, many)
  dims = [1, many]
  if (mod(many, 2) == 0) dims = [2, many / 2]
  call make(g, n / dims(1), n / dims(2), dims)
  dt = 0.1_wp
  do j = 0, g%ny + 1
    do i = 0, g%nx + 1
      g%u(i, j) = 0; g%v(i, j) = 0
      g%h(i, j) = 1 + 0.01_wp * mod(i * j + 3 * me, 17)
    end do
  end do
  before = sum(g%h(1:g%nx, 1:g%ny))
  do it = 1, steps
    call halo(g, g%h)
    call momentum(g, dt)
    call halo(g, g%u)
    call halo(g, g%v)
    change = height(g, dt)
    call turn(g)
  end do
  mass = sum(g%h(1:g%nx, 1:g%ny)) - before
  call MPI_Allreduce(mass, every, 1, MPI_DOUBLE_PRECISION, MPI_SUM, g%comm)
  bad = 0
  if (abs(every) > 1e-9_wp) bad = 1
  call MPI_Allreduce(bad, total, 1, MPI_INTEGER, MPI_SUM, g%comm)
  if (me == 0) print *, 'ocean: wrong values', total
  print *, 'ocean: rank', me, 'sum', sum(g%h), sum(g%u), sum(g%v), change
  call MPI_Finalize()
end program ocean
