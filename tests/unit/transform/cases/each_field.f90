! Each field has its messages, one field after the other.
module fields
  use mpi
  implicit none
  integer, parameter :: n = 200, nv = 3
  integer :: left, right, ranks, rank
contains
  subroutine exchange(u)
    real(8), intent(inout) :: u(0:n+1,nv)
    real(8) :: out(nv), in(nv)
    integer :: ierr, k
    do k = 1, nv
      out(k) = u(1,k)
      call MPI_SENDRECV(out(k), 1, MPI_DOUBLE_PRECISION, left, k, in(k), 1, &
        MPI_DOUBLE_PRECISION, right, k, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      if (right /= MPI_PROC_NULL) u(n+1,k) = in(k)
    end do
    do k = 1, nv
      if (right /= MPI_PROC_NULL) call MPI_SEND(u(n,k), 1, MPI_DOUBLE_PRECISION, right, 9, &
        MPI_COMM_WORLD, ierr)
      if (left /= MPI_PROC_NULL) then
        call MPI_RECV(u(0,k), 1, MPI_DOUBLE_PRECISION, left, 9, MPI_COMM_WORLD, &
          MPI_STATUS_IGNORE, ierr)
      end if
    end do
  end subroutine exchange
end module fields

program each_field
  use fields
  implicit none
  integer :: step, i, k, ierr
  real(8) :: u(0:n+1,nv), v(0:n+1,nv)
  call MPI_INIT(ierr)
  call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
  call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, ierr)
  left = merge(rank - 1, MPI_PROC_NULL, rank > 0)
  right = merge(rank + 1, MPI_PROC_NULL, rank < ranks - 1)
  do k = 1, nv
    do i = 0, n + 1
      u(i,k) = rank + 0.001d0*i + k
      v(i,k) = 0
    end do
  end do
  do step = 1, 20
    call exchange(u)
    do k = 1, nv
      do i = 1, n
        v(i,k) = 0.5d0*u(i,k) + 0.25d0*(u(i-1,k) + u(i+1,k))
      end do
    end do
    do k = 1, nv
      call MPI_SENDRECV(v(1,k), 1, MPI_DOUBLE_PRECISION, left, 0, v(n+1,k), 1, &
        MPI_DOUBLE_PRECISION, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    end do
    do k = 1, nv
      do i = 1, n
        u(i,k) = 0.75d0*v(i,k) + 0.25d0*v(i+1,k)
      end do
    end do
  end do
  print '(i0,1x,es20.12)', rank, sum(u(1:n,:))
  call MPI_FINALIZE(ierr)
end program each_field
