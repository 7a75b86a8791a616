module decomp_m
  use mpi_f08
  implicit none
  private
  type, public :: decomp
    type(MPI_Comm) :: comm
    integer :: me, np, north, south
    integer :: ni, nj
  contains
    procedure, public :: setup
    procedure, public :: fill
  end type decomp
contains
  subroutine setup(this, comm, ni, nj_global)
    class(decomp), intent(out) :: this
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: ni, nj_global
    this%comm = comm
    call MPI_Comm_rank(comm, this%me)
    call MPI_Comm_size(comm, this%np)
    this%north = merge(this%me + 1, MPI_PROC_NULL, this%me + 1 < this%np)
    this%south = merge(this%me - 1, MPI_PROC_NULL, this%me > 0)
    this%ni = ni
    this%nj = nj_global / this%np
  end subroutine setup

  subroutine fill(this, a)
    class(decomp), intent(in) :: this
    real(8), intent(inout) :: a(:, 0:)
    type(MPI_Request) :: r(4)
    call MPI_Irecv(a(1, 0), this%ni, MPI_DOUBLE_PRECISION, this%south, 10, this%comm, r(1))
    call MPI_Irecv(a(1, this%nj + 1), this%ni, MPI_DOUBLE_PRECISION, this%north, 11, this%comm, r(2))
    call MPI_Isend(a(1, this%nj), this%ni, MPI_DOUBLE_PRECISION, this%north, 10, this%comm, r(3))
    call MPI_Isend(a(1, 1), this%ni, MPI_DOUBLE_PRECISION, this%south, 11, this%comm, r(4))
    call MPI_Waitall(4, r, MPI_STATUSES_IGNORE)
  end subroutine fill
end module decomp_m

module model_m
  use decomp_m
  implicit none
  type :: model
    type(decomp) :: d
    real(8), allocatable :: h(:, :), u(:, :), hn(:, :), un(:, :)
    real(8) :: dt = 0.01d0
  contains
    procedure :: create
    procedure :: step
    procedure :: energy
  end type model
contains
  subroutine create(m, comm, ni, njg)
    use mpi_f08
    class(model), intent(inout) :: m
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: ni, njg
    integer :: i, j
    call m%d%setup(comm, ni, njg)
    allocate(m%h(ni, 0:m%d%nj + 1), m%u(ni, 0:m%d%nj + 1))
    allocate(m%hn(ni, 0:m%d%nj + 1), m%un(ni, 0:m%d%nj + 1))
    m%h = 0d0
    m%u = 0d0
    do j = 1, m%d%nj
      do i = 1, ni
        m%h(i, j) = exp(-0.01d0 * ((i - ni / 2)**2 + (j + m%d%me * m%d%nj - njg / 2)**2))
      end do
    end do
  end subroutine create

  subroutine step(m)
    class(model), intent(inout) :: m
    integer :: i, j
    call m%d%fill(m%h)
    call m%d%fill(m%u)
    do j = 1, m%d%nj
      do i = 2, m%d%ni - 1
        m%hn(i, j) = m%h(i, j) - m%dt * (m%u(i, j + 1) - m%u(i, j - 1))
        m%un(i, j) = m%u(i, j) - m%dt * (m%h(i, j + 1) - m%h(i, j - 1))
      end do
    end do
    do j = 1, m%d%nj
      do i = 2, m%d%ni - 1
        m%h(i, j) = m%hn(i, j)
        m%u(i, j) = m%un(i, j)
      end do
    end do
  end subroutine step

  function energy(m) result(e)
    use mpi_f08
    class(model), intent(in) :: m
    real(8) :: e, s
    s = sum(m%h(:, 1:m%d%nj)**2) + sum(m%u(:, 1:m%d%nj)**2)
    call MPI_Allreduce(s, e, 1, MPI_DOUBLE_PRECISION, MPI_SUM, m%d%comm)
  end function energy
end module model_m

program ocean
  use mpi_f08
  use model_m
  implicit none
  type(model) :: m
  integer :: it
  real(8) :: e
  call MPI_Init()
  call m%create(MPI_COMM_WORLD, 64, 96)
  do it = 1, 50
    call m%step()
  end do
  e = m%energy()
  if (m%d%me == 0) print '(f18.10)', e
  call MPI_Finalize()
end program ocean
