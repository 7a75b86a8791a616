! An object holds its requests and their count: each exchange waits for all that it has started.
module field_mod
  use mpi_f08
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  type :: field_t
    integer :: nx = 0, ny = 0
    real(dp), allocatable :: u(:,:), v(:,:)
    real(dp), allocatable :: sl(:), sr(:), rl(:), rr(:)
    type(MPI_Comm) :: comm
    type(MPI_Request) :: req(4)
    integer :: left, right
    integer :: nreq = 0
  end type field_t
contains
  subroutine field_init(f, nx, ny, comm)
    type(field_t), intent(inout) :: f
    integer, intent(in) :: nx, ny
    type(MPI_Comm), intent(in) :: comm
    integer :: rank, size, i, j
    f%nx = nx
    f%ny = ny
    f%comm = comm
    call MPI_Comm_rank(comm, rank)
    call MPI_Comm_size(comm, size)
    f%left = rank - 1
    if (f%left < 0) f%left = MPI_PROC_NULL
    f%right = rank + 1
    if (f%right >= size) f%right = MPI_PROC_NULL
    allocate(f%u(0:nx+1, 0:ny+1), f%v(0:nx+1, 0:ny+1))
    allocate(f%sl(nx), f%sr(nx), f%rl(nx), f%rr(nx))
    f%u = 0.0_dp
    f%v = 0.0_dp
    f%rl = 0.0_dp
    f%rr = 0.0_dp
    do j = 1, ny
      do i = 1, nx
        f%u(i,j) = sin(0.1_dp * i) + cos(0.2_dp * (j + rank * ny))
      end do
    end do
  end subroutine field_init

  subroutine exchange(f)
    type(field_t), intent(inout) :: f
    f%sl(:) = f%u(1:f%nx, 1)
    f%sr(:) = f%u(1:f%nx, f%ny)
    f%nreq = 0
    if (f%left /= MPI_PROC_NULL) then
      f%nreq = f%nreq + 1
      call MPI_Irecv(f%rl, f%nx, MPI_DOUBLE_PRECISION, f%left, 1, f%comm, f%req(f%nreq))
      f%nreq = f%nreq + 1
      call MPI_Isend(f%sl, f%nx, MPI_DOUBLE_PRECISION, f%left, 2, f%comm, f%req(f%nreq))
    end if
    if (f%right /= MPI_PROC_NULL) then
      f%nreq = f%nreq + 1
      call MPI_Irecv(f%rr, f%nx, MPI_DOUBLE_PRECISION, f%right, 2, f%comm, f%req(f%nreq))
      f%nreq = f%nreq + 1
      call MPI_Isend(f%sr, f%nx, MPI_DOUBLE_PRECISION, f%right, 1, f%comm, f%req(f%nreq))
    end if
    call MPI_Waitall(f%nreq, f%req, MPI_STATUSES_IGNORE)
    if (f%left /= MPI_PROC_NULL) f%u(1:f%nx, 0) = f%rl(:)
    if (f%right /= MPI_PROC_NULL) f%u(1:f%nx, f%ny+1) = f%rr(:)
  end subroutine exchange

  subroutine relax(f)
    type(field_t), intent(inout) :: f
    integer :: i, j
    do j = 1, f%ny
      do i = 1, f%nx
        f%v(i,j) = 0.25_dp * (f%u(i-1,j) + f%u(i+1,j) + f%u(i,j-1) + f%u(i,j+1))
      end do
    end do
  end subroutine relax

  subroutine advance(f)
    type(field_t), intent(inout) :: f
    integer :: i, j
    do j = 1, f%ny
      do i = 1, f%nx
        f%u(i,j) = f%v(i,j)
      end do
    end do
  end subroutine advance
end module field_mod

program heat
  use mpi_f08
  use field_mod
  implicit none
  type(field_t) :: f
  integer :: step, rank
  real(dp) :: local, total
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call field_init(f, 40, 30, MPI_COMM_WORLD)
  do step = 1, 20
    call exchange(f)
    call relax(f)
    call advance(f)
  end do
  local = sum(f%u(1:f%nx, 1:f%ny))
  call MPI_Reduce(local, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD)
  if (rank == 0) print '(a,f18.10)', 'heat ', total
  call MPI_Finalize()
end program heat
