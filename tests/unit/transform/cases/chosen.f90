! A tracer is exchanged with the field where there is one.
module tracers
  use mpi
  implicit none
  integer, parameter :: n = 200
  integer :: left, right, ranks, rank, ierr
contains
  subroutine exchange(a)
    real(8), intent(inout) :: a(0:n+1)
    call MPI_SENDRECV(a(1), 1, MPI_DOUBLE_PRECISION, left, 0, a(n+1), 1, MPI_DOUBLE_PRECISION, &
      right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_SENDRECV(a(n), 1, MPI_DOUBLE_PRECISION, right, 1, a(0), 1, MPI_DOUBLE_PRECISION, &
      left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end subroutine exchange

  subroutine exchange_all(field, tracer, other)
    real(8), intent(inout) :: field(0:n+1)
    real(8), intent(inout), optional :: tracer(0:n+1), other(0:n+1)
    if (ranks == 1) return
    call exchange(field)
    if (present(tracer)) call exchange(tracer)
    if (present(other)) then
      call exchange(other)
    end if
  end subroutine exchange_all
end module tracers

program chosen
  use tracers
  implicit none
  integer :: step, i
  real(8) :: u(0:n+1), v(0:n+1), w(0:n+1)
  call MPI_INIT(ierr)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, ierr)
  left = merge(rank - 1, MPI_PROC_NULL, rank > 0)
  right = merge(rank + 1, MPI_PROC_NULL, rank < ranks - 1)
  do i = 0, n + 1
    u(i) = rank + 0.001d0*i
    v(i) = 0
  end do
  do step = 1, 30
    call exchange_all(u, v)
    do i = 1, n
      w(i) = 0.5d0*u(i) + 0.25d0*(u(i-1) + u(i+1)) + v(i-1) - v(i+1)
    end do
    do i = 1, n
      v(i) = 0.5d0*u(i)
      u(i) = w(i)
    end do
  end do
  print '(i0,1x,es20.12)', rank, sum(u(1:n))
  call MPI_FINALIZE(ierr)
end program chosen
