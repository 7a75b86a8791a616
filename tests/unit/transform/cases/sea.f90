! Rows and columns of components in mpi_f08; the columns' type is a component, too.
module grid_m
  use mpi_f08
  implicit none
  type :: grid_t
    integer :: nx, ny, left, right, down, up
    type(MPI_Comm) :: comm
    type(MPI_Datatype) :: col
    real(8), allocatable :: u(:,:), v(:,:), h(:,:)
  end type
contains
  subroutine setup(g, nx, ny)
    type(grid_t), intent(inout) :: g
    integer, intent(in) :: nx, ny
    integer :: dims(2), p
    call MPI_Comm_size(MPI_COMM_WORLD, p)
    dims = 0
    call MPI_Dims_create(p, 2, dims)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.false., .false.], .false., g%comm)
    call MPI_Cart_shift(g%comm, 0, 1, g%left, g%right)
    call MPI_Cart_shift(g%comm, 1, 1, g%down, g%up)
    g%nx = nx
    g%ny = ny
    allocate(g%u(0:nx+1,0:ny+1), g%v(0:nx+1,0:ny+1), g%h(0:nx+1,0:ny+1))
    g%u = 0; g%v = 0; g%h = 1
    call MPI_Type_vector(ny, 1, nx+2, MPI_DOUBLE_PRECISION, g%col)
    call MPI_Type_commit(g%col)
  end subroutine
  subroutine halo(g, a)
    type(grid_t), intent(in) :: g
    real(8), intent(inout), asynchronous :: a(0:g%nx+1,0:g%ny+1)
    type(MPI_Request) :: r(8)
    call MPI_Irecv(a(0,1), 1, g%col, g%left, 1, g%comm, r(1))
    call MPI_Irecv(a(g%nx+1,1), 1, g%col, g%right, 2, g%comm, r(2))
    call MPI_Isend(a(1,1), 1, g%col, g%left, 2, g%comm, r(3))
    call MPI_Isend(a(g%nx,1), 1, g%col, g%right, 1, g%comm, r(4))
    call MPI_Irecv(a(1:g%nx,0), g%nx, MPI_DOUBLE_PRECISION, g%down, 3, g%comm, r(5))
    call MPI_Irecv(a(1:g%nx,g%ny+1), g%nx, MPI_DOUBLE_PRECISION, g%up, 4, g%comm, r(6))
    call MPI_Isend(a(1:g%nx,1), g%nx, MPI_DOUBLE_PRECISION, g%down, 4, g%comm, r(7))
    call MPI_Isend(a(1:g%nx,g%ny), g%nx, MPI_DOUBLE_PRECISION, g%up, 3, g%comm, r(8))
    call MPI_Waitall(8, r, MPI_STATUSES_IGNORE)
  end subroutine
end module
program ocean
  use grid_m
  implicit none
  type(grid_t) :: g
  integer :: it, i, j, rank
  real(8) :: e, dt
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call setup(g, 40, 30)
  g%h(20,15) = 2 + rank
  dt = 0.1d0
  do it = 1, 12
    call halo(g, g%h)
    do j = 1, g%ny
      do i = 1, g%nx
        g%u(i,j) = g%u(i,j) - dt*(g%h(i+1,j)-g%h(i-1,j))
        g%v(i,j) = g%v(i,j) - dt*(g%h(i,j+1)-g%h(i,j-1))
      end do
    end do
    call halo(g, g%u)
    call halo(g, g%v)
    e = 0
    do j = 1, g%ny
      do i = 1, g%nx
        g%h(i,j) = g%h(i,j) - dt*(g%u(i+1,j)-g%u(i-1,j)+g%v(i,j+1)-g%v(i,j-1))
        e = e + g%h(i,j)**2
      end do
    end do
  end do
  print '(i4,es24.16)', rank, e
  call MPI_Finalize()
end program
