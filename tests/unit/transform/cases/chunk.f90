! In the style of TeaLeaf: packed faces of a chunk, fields in a type of types, a count of messages.
module definitions
  implicit none
  type field_type
    double precision, dimension(:, :), allocatable :: u, un, kx, ky, r
  end type
  type chunk_type
    integer :: left, right, bottom, top, x_cells, y_cells
    type(field_type) :: field
    double precision, dimension(:), allocatable :: left_snd, left_rcv, right_snd, right_rcv
    double precision, dimension(:), allocatable :: bottom_snd, bottom_rcv, top_snd, top_rcv
  end type
  type(chunk_type) :: chunk
  integer :: rank, nproc, comm
end module
module tea_comms
  use definitions
  implicit none
  include 'mpif.h'
contains
  subroutine tea_exchange(u, nx, ny)
    integer, intent(in) :: nx, ny
    double precision, intent(inout) :: u(0:nx+1, 0:ny+1)
    integer :: request(4), message_count, err, status(MPI_STATUS_SIZE, 4), j, k
    message_count = 0
    if (chunk%left /= MPI_PROC_NULL) then
      do k = 1, ny
        chunk%left_snd(k) = u(1, k)
      end do
      call mpi_isend(chunk%left_snd, ny, MPI_DOUBLE_PRECISION, chunk%left, 1, comm, &
        request(message_count+1), err)
      call mpi_irecv(chunk%left_rcv, ny, MPI_DOUBLE_PRECISION, chunk%left, 2, comm, &
        request(message_count+2), err)
      message_count = message_count + 2
    end if
    if (chunk%right /= MPI_PROC_NULL) then
      do k = 1, ny
        chunk%right_snd(k) = u(nx, k)
      end do
      call mpi_isend(chunk%right_snd, ny, MPI_DOUBLE_PRECISION, chunk%right, 2, comm, &
        request(message_count+1), err)
      call mpi_irecv(chunk%right_rcv, ny, MPI_DOUBLE_PRECISION, chunk%right, 1, comm, &
        request(message_count+2), err)
      message_count = message_count + 2
    end if
    call mpi_waitall(message_count, request, status, err)
    if (chunk%left /= MPI_PROC_NULL) then
      do k = 1, ny
        u(0, k) = chunk%left_rcv(k)
      end do
    end if
    if (chunk%right /= MPI_PROC_NULL) then
      do k = 1, ny
        u(nx+1, k) = chunk%right_rcv(k)
      end do
    end if
  end subroutine
  subroutine tea_sum(x)
    double precision :: x, total
    integer :: err
    total = x
    call mpi_allreduce(x, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, comm, err)
    x = total
  end subroutine
end module
module kernels
  implicit none
contains
  subroutine jacobi(nx, ny, kx, ky, u, un, r)
    integer, intent(in) :: nx, ny
    double precision, dimension(0:nx+1, 0:ny+1) :: kx, ky, u, un, r
    integer :: j, k
    do k = 1, ny
      do j = 1, nx
        un(j, k) = (r(j, k) + kx(j+1, k)*u(j+1, k) + kx(j, k)*u(j-1, k) &
          + ky(j, k+1)*u(j, k+1) + ky(j, k)*u(j, k-1)) / (1.0d0 + kx(j, k) + kx(j+1, &
            k) + ky(j, k) + ky(j, k+1))
      end do
    end do
  end subroutine
  subroutine copy_back(nx, ny, u, un, error)
    integer, intent(in) :: nx, ny
    double precision, dimension(0:nx+1, 0:ny+1) :: u, un
    double precision :: error
    integer :: j, k
    error = 0.0d0
    do k = 1, ny
      do j = 1, nx
        error = error + abs(un(j, k) - u(j, k))
        u(j, k) = un(j, k)
      end do
    end do
  end subroutine
end module
program tea
  use definitions
  use tea_comms
  use kernels
  implicit none
  integer :: err, step, j, k, nx, ny
  double precision :: error
  call mpi_init(err)
  comm = MPI_COMM_WORLD
  call mpi_comm_rank(comm, rank, err)
  call mpi_comm_size(comm, nproc, err)
  chunk%x_cells = 40
  chunk%y_cells = 30
  nx = chunk%x_cells
  ny = chunk%y_cells
  chunk%left = rank - 1
  if (rank == 0) chunk%left = MPI_PROC_NULL
  chunk%right = rank + 1
  if (rank == nproc - 1) chunk%right = MPI_PROC_NULL
  allocate(chunk%field%u(0:nx+1, 0:ny+1), chunk%field%un(0:nx+1, 0:ny+1), &
    chunk%field%kx(0:nx+1, 0:ny+1))
  allocate(chunk%field%ky(0:nx+1, 0:ny+1), chunk%field%r(0:nx+1, 0:ny+1))
  allocate(chunk%left_snd(ny), chunk%left_rcv(ny), chunk%right_snd(ny), chunk%right_rcv(ny))
  do k = 0, ny + 1
    do j = 0, nx + 1
      chunk%field%u(j, k) = modulo(j * k + rank, 7)
      chunk%field%kx(j, k) = 0.1d0 * modulo(j + k, 3)
      chunk%field%ky(j, k) = 0.2d0
      chunk%field%r(j, k) = chunk%field%u(j, k)
      chunk%field%un(j, k) = 0.0d0
    end do
  end do
  do step = 1, 5
    call tea_exchange(chunk%field%u, chunk%x_cells, chunk%y_cells)
    call jacobi(chunk%x_cells, chunk%y_cells, chunk%field%kx, chunk%field%ky, chunk%field%u, &
      chunk%field%un, chunk%field%r)
    call copy_back(chunk%x_cells, chunk%y_cells, chunk%field%u, chunk%field%un, error)
    call tea_sum(error)
    if (rank == 0) print *, step, error
  end do
  print *, rank, sum(chunk%field%u(1:nx, 1:ny))
  call mpi_finalize(err)
end program
