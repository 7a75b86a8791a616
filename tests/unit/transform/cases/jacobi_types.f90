! A solver whose exchange is a component: both keep the size that the solver is given.
module halo_mod
  use mpi_f08
  implicit none
  type :: halo_t
    integer :: n
    integer :: left, right
    type(MPI_Comm) :: comm
    real(8), allocatable :: sendl(:), sendr(:), recvl(:), recvr(:)
  contains
    procedure :: init => halo_init
    procedure :: exchange => halo_exchange
  end type halo_t
contains
  subroutine halo_init(self, comm, n)
    class(halo_t), intent(inout) :: self
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: n
    integer :: rank, nranks
    self%n = n
    self%comm = comm
    call MPI_Comm_rank(comm, rank)
    call MPI_Comm_size(comm, nranks)
    self%left = merge(rank - 1, MPI_PROC_NULL, rank > 0)
    self%right = merge(rank + 1, MPI_PROC_NULL, rank < nranks - 1)
    allocate (self%sendl(n), self%sendr(n), self%recvl(n), self%recvr(n))
    self%recvl = 0
    self%recvr = 0
  end subroutine halo_init
  subroutine halo_exchange(self, u)
    class(halo_t), intent(inout) :: self
    real(8), intent(inout) :: u(:, 0:)
    type(MPI_Request) :: r(4)
    integer :: i
    do i = 1, self%n
      self%sendl(i) = u(i, 1)
      self%sendr(i) = u(i, self%n)
    end do
    call MPI_Irecv(self%recvl, self%n, MPI_DOUBLE_PRECISION, self%left, 0, self%comm, r(1))
    call MPI_Irecv(self%recvr, self%n, MPI_DOUBLE_PRECISION, self%right, 1, self%comm, r(2))
    call MPI_Isend(self%sendl, self%n, MPI_DOUBLE_PRECISION, self%left, 1, self%comm, r(3))
    call MPI_Isend(self%sendr, self%n, MPI_DOUBLE_PRECISION, self%right, 0, self%comm, r(4))
    call MPI_Waitall(4, r, MPI_STATUSES_IGNORE)
    do i = 1, self%n
      u(i, 0) = self%recvl(i)
      u(i, self%n + 1) = self%recvr(i)
    end do
  end subroutine halo_exchange
end module halo_mod
module solver_mod
  use halo_mod
  implicit none
  type :: solver_t
    integer :: n
    type(halo_t) :: halo
    real(8), allocatable :: u(:, :), v(:, :)
  contains
    procedure :: init => solver_init
    procedure :: step => solver_step
  end type solver_t
contains
  subroutine solver_init(self, comm, n)
    class(solver_t), intent(inout) :: self
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: n
    integer :: i, j
    self%n = n
    call self%halo%init(comm, n)
    allocate (self%u(n, 0:n + 1), self%v(n, 0:n + 1))
    do j = 0, n + 1
      do i = 1, n
        self%u(i, j) = mod(i * 7 + j, 11) / 4.0d0
      end do
    end do
    self%v = 0
  end subroutine solver_init
  subroutine solver_step(self, change)
    class(solver_t), intent(inout) :: self
    real(8), intent(out) :: change
    integer :: i, j
    real(8), allocatable :: t(:, :)
    call self%halo%exchange(self%u)
    change = 0
    do j = 1, self%n
      do i = 2, self%n - 1
        self%v(i, j) = 0.25d0 * (self%u(i - 1, j) + self%u(i + 1, j) &
          + self%u(i, j - 1) + self%u(i, j + 1))
        if (abs(self%v(i, j) - self%u(i, j)) > change) change = abs(self%v(i, j) - self%u(i, j))
      end do
    end do
    call move_alloc(self%u, t)
    call move_alloc(self%v, self%u)
    call move_alloc(t, self%v)
  end subroutine solver_step
end module solver_mod
program main
  use solver_mod
  implicit none
  type(solver_t) :: solver
  integer :: k, rank
  real(8) :: change
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call solver%init(MPI_COMM_WORLD, 20)
  do k = 1, 10
    call solver%step(change)
  end do
  write(*, '(i4,2es22.12)') rank, change, sum(solver%u)
  call MPI_Finalize()
end program main
