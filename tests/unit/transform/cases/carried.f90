! A reduction whose result is wanted late in the next iteration, and an exchange likewise: both are
! waited for there, and behind the loop.
program carried
  implicit none
  include 'mpif.h'
  integer, parameter :: n = 500
  double precision :: u(n), v(n), total
  integer :: to_right(n), from_left(n)
  integer :: mine(4), sums(4)
  integer :: i, k, ierr, rank, nproc, right, left
  integer :: status(MPI_STATUS_SIZE)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, nproc, ierr)
  right = mod(rank + 1, nproc)
  left = mod(rank + nproc - 1, nproc)
  total = 0
  v = 1
  do i = 1, 4
    sums(i) = i
  end do
  do i = 1, n
    u(i) = i + rank
    from_left(i) = 0
  end do
  do k = 1, 10
    do i = 1, n
      v(i) = u(i) * 0.5d0 + k * v(max(1, i - 1)) * u(max(1, i - 1))
    end do
    do i = 1, 4
      total = total + sums(i)
      mine(i) = i * k + rank
    end do
    do i = 1, n
      u(i) = 1.0d-3 * v(i) + 0.125d0 * from_left(i)
      to_right(i) = int(u(i))
    end do
    if (mod(k, 2) == 0) then
      call MPI_Sendrecv(to_right, n, MPI_INTEGER, right, 1, from_left, n, MPI_INTEGER, &
        left, 1, MPI_COMM_WORLD, status, ierr)
    end if
    call MPI_Allreduce(mine, sums, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  end do
  do i = 1, n
    total = total + u(i) + from_left(i)
  end do
  print *, rank, total
  call MPI_Finalize(ierr)
end program carried
