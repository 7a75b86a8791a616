! Arrays of one object by sizes that another object holds, the only one of its type.
module fields
  use mpi
  implicit none
  type domain_t
    integer :: nx, ny, left, right, comm
  end type
  type field_t
    real(8), allocatable :: u(:,:), w(:,:)
  end type
contains
  subroutine domain_init(d, nx, ny)
    type(domain_t), intent(out) :: d
    integer, intent(in) :: nx, ny
    integer :: rank, ranks, ierr
    d%comm = MPI_COMM_WORLD
    call MPI_Comm_rank(d%comm, rank, ierr)
    call MPI_Comm_size(d%comm, ranks, ierr)
    d%nx = nx
    d%ny = ny / ranks
    if (rank < mod(ny, ranks)) d%ny = d%ny + 1
    d%left = rank - 1
    d%right = rank + 1
    if (rank == 0) d%left = MPI_PROC_NULL
    if (rank == ranks - 1) d%right = MPI_PROC_NULL
  end subroutine
  subroutine field_init(f, d)
    type(field_t), intent(out) :: f
    type(domain_t), intent(in) :: d
    integer :: i, j
    allocate(f%u(0:d%nx+1, 0:d%ny+1), f%w(0:d%nx+1, 0:d%ny+1))
    do j = 0, d%ny + 1
      do i = 0, d%nx + 1
        f%u(i, j) = sin(0.1d0 * i) + cos(0.2d0 * j)
        f%w(i, j) = 0
      end do
    end do
  end subroutine
  subroutine exchange(d, f)
    type(domain_t), intent(in) :: d
    type(field_t), intent(inout) :: f
    integer :: ierr, req(4)
    call MPI_Irecv(f%u(1, 0), d%nx, MPI_DOUBLE_PRECISION, d%left, 1, d%comm, req(1), ierr)
    call MPI_Irecv(f%u(1, d%ny+1), d%nx, MPI_DOUBLE_PRECISION, d%right, 2, d%comm, req(2), ierr)
    call MPI_Isend(f%u(1, d%ny), d%nx, MPI_DOUBLE_PRECISION, d%right, 1, d%comm, req(3), ierr)
    call MPI_Isend(f%u(1, 1), d%nx, MPI_DOUBLE_PRECISION, d%left, 2, d%comm, req(4), ierr)
    call MPI_Waitall(4, req, MPI_STATUSES_IGNORE, ierr)
  end subroutine
  subroutine sweep(d, f)
    type(domain_t), intent(in) :: d
    type(field_t), intent(inout) :: f
    integer :: i, j
    do j = 1, d%ny
      do i = 1, d%nx
        f%w(i, j) = 0.25d0 * (f%u(i-1, j) + f%u(i+1, j) + f%u(i, j-1) + f%u(i, j+1))
      end do
    end do
  end subroutine
  subroutine update(d, f)
    type(domain_t), intent(in) :: d
    type(field_t), intent(inout) :: f
    integer :: i, j
    do j = 1, d%ny
      do i = 1, d%nx
        f%u(i, j) = f%w(i, j)
      end do
    end do
  end subroutine
end module
module driver
  use fields
  implicit none
contains
  subroutine advance(rank)
    integer, intent(in) :: rank
    type(domain_t) :: d
    type(field_t) :: f
    integer :: it, ierr
    real(8) :: s, t
    call domain_init(d, 64, 48)
    call field_init(f, d)
    do it = 1, 10
      call exchange(d, f)
      call sweep(d, f)
      call update(d, f)
    end do
    s = sum(f%u(1:d%nx, 1:d%ny))
    call MPI_Allreduce(s, t, 1, MPI_DOUBLE_PRECISION, MPI_SUM, d%comm, ierr)
    if (rank == 0) print '(a,es20.12)', 'sum ', t
  end subroutine
end module
program heat
  use driver
  implicit none
  integer :: ierr, rank
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call advance(rank)
  call MPI_Finalize(ierr)
end program
