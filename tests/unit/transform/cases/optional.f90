! Arguments by their names, and optional ones left out: what follows them has a name too.
module fields
  use mpi
  implicit none
  integer, parameter :: dp = kind(1d0)
  type :: layout
    integer :: nx = 0, ny = 0, lo = MPI_PROC_NULL, hi = MPI_PROC_NULL
  contains
    procedure :: exchange => layout_exchange
    procedure :: both => layout_both
  end type layout
  interface update
    module procedure update_one, update_two
  end interface
contains
  subroutine layout_exchange(self, a, depth, tag)
    class(layout), intent(in) :: self
    real(dp), intent(inout) :: a(0:, -1:)
    integer, intent(in), optional :: depth, tag
    integer :: d, t, ierr, req(4)
    d = 2
    if (present(depth)) d = depth
    t = 10
    if (present(tag)) t = tag
    call MPI_Irecv(a(0, 1-d), d*(self%nx+2), MPI_DOUBLE_PRECISION, self%lo, t, MPI_COMM_WORLD, req(1), ierr)
    call MPI_Irecv(a(0, self%ny+1), d*(self%nx+2), MPI_DOUBLE_PRECISION, self%hi, t+1, MPI_COMM_WORLD, req(2), ierr)
    call MPI_Isend(a(0, self%ny-d+1), d*(self%nx+2), MPI_DOUBLE_PRECISION, self%hi, t, MPI_COMM_WORLD, req(3), ierr)
    call MPI_Isend(a(0, 1), d*(self%nx+2), MPI_DOUBLE_PRECISION, self%lo, t+1, MPI_COMM_WORLD, req(4), ierr)
    call MPI_Waitall(4, req, MPI_STATUSES_IGNORE, ierr)
  end subroutine layout_exchange

  subroutine layout_both(self, a, b)
    class(layout), intent(in) :: self
    real(dp), intent(inout) :: a(0:, -1:), b(0:, -1:)
    call self%exchange(a, tag=100)
    call self%exchange(b, depth=1)
  end subroutine layout_both

  subroutine update_one(a, n, m, weight)
    integer, intent(in) :: n, m
    real(dp), intent(inout) :: a(n, m)
    real(dp), intent(in), optional :: weight
    real(dp) :: w
    integer :: i, j
    w = 0.5_dp
    if (present(weight)) w = weight
    do j = 1, m
      do i = 1, n
        a(i, j) = w * a(i, j) + 1
      end do
    end do
  end subroutine update_one

  subroutine update_two(a, b, n, m, weight)
    integer, intent(in) :: n, m
    real(dp), intent(inout) :: a(n, m)
    real(dp), intent(in) :: b(n, m)
    real(dp), intent(in), optional :: weight
    real(dp) :: w
    integer :: i, j
    w = 0.5_dp
    if (present(weight)) w = weight
    do j = 1, m
      do i = 1, n
        a(i, j) = w * a(i, j) + (1 - w) * b(i, j)
      end do
    end do
  end subroutine update_two
end module fields

program words
  use mpi
  use fields
  implicit none
  type(layout) :: lay
  integer, parameter :: nx = 20, ny = 16
  real(dp), allocatable :: u(:,:), v(:,:), w(:,:), z(:,:)
  integer :: ierr, me, np, it, i, j
  real(dp) :: s, t
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, np, ierr)
  lay%nx = nx
  lay%ny = ny
  if (me > 0) lay%lo = me - 1
  if (me < np - 1) lay%hi = me + 1
  allocate(u(0:nx+1, -1:ny+2), v(0:nx+1, -1:ny+2), w(nx, ny), z(nx, ny))
  u = 0; v = 0; w = 1; z = 2
  do j = 1, ny
    do i = 1, nx
      u(i, j) = mod(i + 3*j + me, 8)
      v(i, j) = mod(2*i + j + me, 6)
    end do
  end do
  do it = 1, 12
    call lay%exchange(tag=7, a=u)
    call update(w, nx, ny, weight=0.25_dp)
    do j = 1, ny
      do i = 1, nx
        w(i, j) = w(i, j) + u(i, j-2) - u(i, j+2)
      end do
    end do
    call lay%both(u, v)
    call update(b=w, a=z, m=ny, n=nx)
    do j = 1, ny
      do i = 1, nx
        z(i, j) = z(i, j) + 0.1_dp * (v(i, j-1) + v(i, j+1) + u(i, j-1))
      end do
    end do
    u(1:nx, 1:ny) = 0.5_dp * (u(1:nx, 1:ny) + w / 10)
    v(1:nx, 1:ny) = 0.5_dp * (v(1:nx, 1:ny) + z / 10)
  end do
  s = sum(z) + sum(w)
  call MPI_Reduce(s, t, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  if (me == 0) print '(a,f24.12)', 'words', t
  call MPI_Finalize(ierr)
end program words
