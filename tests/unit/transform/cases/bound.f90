! Procedures are called by the types of objects: as their own names, they stand for one routine each.
module heat_fields
  use mpi
  implicit none
  private
  type, public :: field_t
     integer :: nx, ny, up, down, comm
     real(8), allocatable :: u(:, :), v(:, :)
   contains
     procedure :: init => field_init
     procedure, pass(self) :: exchange => field_exchange
     procedure :: sweep => field_sweep
     procedure :: advance
     procedure, private :: set_all, set_one
     generic :: set => set_all
     generic, public :: set => set_one
     procedure, nopass :: weight
     procedure :: total
  end type field_t
contains
  subroutine field_init(self, nx, ny, comm)
    class(field_t), intent(inout) :: self
    integer, intent(in) :: nx, ny, comm
    integer :: rank, size, ierr
    self%nx = nx
    self%ny = ny
    self%comm = comm
    call MPI_Comm_rank(comm, rank, ierr)
    call MPI_Comm_size(comm, size, ierr)
    self%down = merge(rank - 1, MPI_PROC_NULL, rank > 0)
    self%up = merge(rank + 1, MPI_PROC_NULL, rank < size - 1)
    allocate (self%u(nx, 0:ny + 1), self%v(nx, 0:ny + 1))
    call self%set(0.25d0 * rank)
    call self%set(nx / 2, ny / 2, 100d0)
    self%v = self%u
  end subroutine field_init

  subroutine set_all(self, value)
    class(field_t), intent(inout) :: self
    real(8), intent(in) :: value
    integer :: i, j
    do j = 0, self%ny + 1
       do i = 1, self%nx
          self%u(i, j) = value + sin(0.1d0 * i + j)
       end do
    end do
  end subroutine set_all

  subroutine set_one(self, i, j, value)
    class(field_t), intent(inout) :: self
    integer, intent(in) :: i, j
    real(8), intent(in) :: value
    self%u(i, j) = value
  end subroutine set_one

  pure real(8) function weight(n)
    integer, intent(in) :: n
    weight = 1d0 / n
  end function weight

  subroutine field_exchange(tag, self)
    integer, intent(in) :: tag
    class(field_t), intent(inout) :: self
    integer :: ierr
    call MPI_Sendrecv(self%u(1, self%ny), self%nx, MPI_DOUBLE_PRECISION, self%up, tag, &
         self%u(1, 0), self%nx, MPI_DOUBLE_PRECISION, self%down, tag, self%comm, MPI_STATUS_IGNORE, ierr)
    call MPI_Sendrecv(self%u(1, 1), self%nx, MPI_DOUBLE_PRECISION, self%down, tag + 1, &
         self%u(1, self%ny + 1), self%nx, MPI_DOUBLE_PRECISION, self%up, tag + 1, self%comm, &
         MPI_STATUS_IGNORE, ierr)
  end subroutine field_exchange

  subroutine field_sweep(self)
    class(field_t), intent(inout) :: self
    integer :: i, j
    do j = 1, self%ny
       do i = 2, self%nx - 1
          self%v(i, j) = 0.25d0 * (self%u(i - 1, j) + self%u(i + 1, j) + self%u(i, j - 1) + self%u(i, j + 1))
       end do
    end do
    do j = 1, self%ny
       do i = 2, self%nx - 1
          self%u(i, j) = self%v(i, j)
       end do
    end do
  end subroutine field_sweep

  subroutine advance(self, n)
    class(field_t), intent(inout) :: self
    integer, intent(in) :: n
    integer :: k
    do k = 1, n
       call self%exchange(11)
       call self % sweep
    end do
  end subroutine advance

  real(8) function total(self)
    class(field_t), intent(in) :: self
    real(8) :: part
    integer :: ierr
    part = sum(self%u(:, 1:self%ny)) * self%weight(self%nx)
    call MPI_Allreduce(part, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, self%comm, ierr)
  end function total
end module heat_fields

program heat
  use mpi
  use heat_fields, only: field_t
  implicit none
  type(field_t) :: f
  integer :: ierr, rank, n
  real(8) :: t
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call f%init(120, 80, MPI_COMM_WORLD)
  do n = 1, 20
     call f%exchange(21)
     call f%sweep()
  end do
  call f%advance(20)
  t = f%total()
  if (rank == 0) print '(f20.10)', t
  call MPI_Finalize(ierr)
end program heat
