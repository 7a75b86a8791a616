module halo
  use mpi
  implicit none
  integer, parameter :: n = 40
  integer :: up, down, rank, nproc
contains
  ! Gives its caller the code of the last call.
  subroutine exchange(u, ierr)
    real(8), intent(inout) :: u(n, 0:n+1)
    integer, intent(out) :: ierr
    integer :: req(4)
    call mpi_irecv(u(1, 0), n, MPI_DOUBLE_PRECISION, up, 0, MPI_COMM_WORLD, req(1), ierr)
    if (ierr /= 0) return
    call mpi_irecv(u(1, n+1), n, MPI_DOUBLE_PRECISION, down, 1, MPI_COMM_WORLD, req(2), ierr)
    if (ierr /= 0) return
    call mpi_isend(u(1, 1), n, MPI_DOUBLE_PRECISION, up, 1, MPI_COMM_WORLD, req(3), ierr)
    call check(ierr, 'send up')
    call mpi_isend(u(1, n), n, MPI_DOUBLE_PRECISION, down, 0, MPI_COMM_WORLD, req(4), ierr)
    call check(ierr, 'send down')
    call mpi_waitall(4, req, MPI_STATUSES_IGNORE, ierr)
  end subroutine exchange

  subroutine check(code, message)
    integer, intent(in) :: code
    character(*), intent(in) :: message
    integer :: e
    if (code /= 0) then
      print *, message, code
      call mpi_abort(MPI_COMM_WORLD, code, e)
    end if
  end subroutine check

  ! Hands the code on where it is asked for.
  subroutine update(u, info)
    real(8), intent(inout) :: u(n, 0:n+1)
    integer, intent(out), optional :: info
    integer :: ierr
    call exchange(u, ierr)
    if (present(info)) info = ierr
  end subroutine update

  ! Where a rank has nothing, the code says so: who asks for it needs it.
  subroutine total(u, s, ierr)
    real(8), intent(in) :: u(n, 0:n+1)
    real(8), intent(out) :: s
    integer, intent(out) :: ierr
    real(8) :: mine
    mine = sum(u(:, 1:n))
    call mpi_allreduce(mine, s, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
    if (abs(s) < 1d-3) ierr = 1
  end subroutine total

  subroutine sweep(u, v)
    real(8), intent(in) :: u(n, 0:n+1)
    real(8), intent(out) :: v(n, 0:n+1)
    integer :: i, j
    do j = 1, n
      do i = 2, n - 1
        v(i, j) = 0.25d0 * (u(i-1, j) + u(i+1, j) + u(i, j-1) + u(i, j+1))
      end do
    end do
  end subroutine sweep
end module halo

program heat
  use halo
  implicit none
  real(8) :: u(n, 0:n+1), v(n, 0:n+1), s
  integer :: ierr, i, j, k, empty
  call mpi_init(ierr)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
  call mpi_comm_size(MPI_COMM_WORLD, nproc, ierr)
  up = merge(rank - 1, MPI_PROC_NULL, rank > 0)
  down = merge(rank + 1, MPI_PROC_NULL, rank < nproc - 1)
  do j = 0, n + 1
    do i = 1, n
      u(i, j) = sin(dble(i * 3 + j + rank))
      v(i, j) = u(i, j)
    end do
  end do
  do k = 1, 10
    call update(u, ierr)
    if (ierr /= 0) call mpi_abort(MPI_COMM_WORLD, ierr, i)
    call sweep(u, v)
    call exchange(v, ierr)
    if (ierr /= 0) stop 'exchange'
    call sweep(v, u)
  end do
  call total(u, s, empty)
  if (rank == 0) print '(es20.10, i3)', s, empty
  call mpi_finalize(ierr)
end program heat
