! Communication in layers: a module that wraps MPI, one that exchanges the columns of a field by it,
! and one that exchanges the fields of the model.
module messages
  use mpi
  implicit none
  integer :: left, right, rank, ranks, comm
contains
  subroutine messages_begin()
    integer :: ierr
    call MPI_Init(ierr)
    comm = MPI_COMM_WORLD
    call MPI_Comm_rank(comm, rank, ierr)
    call MPI_Comm_size(comm, ranks, ierr)
    left = modulo(rank - 1, ranks)
    right = modulo(rank + 1, ranks)
  end subroutine messages_begin
  subroutine send_and_receive(sent, received, n, to, from, tag)
    integer, intent(in) :: n, to, from, tag
    double precision, intent(in) :: sent(n)
    double precision, intent(out) :: received(n)
    integer :: ierr, status(MPI_STATUS_SIZE)
    call MPI_Sendrecv(sent, n, MPI_DOUBLE_PRECISION, to, tag, received, n, &
                      MPI_DOUBLE_PRECISION, from, tag, comm, status, ierr)
  end subroutine send_and_receive
end module messages

module halos
  use messages
  implicit none
contains
  subroutine columns(a, n, m)
    integer, intent(in) :: n, m
    double precision, intent(inout) :: a(n, 0:m + 1)
    call send_and_receive(a(:, m), a(:, 0), n, right, left, 1)
    call send_and_receive(a(:, 1), a(:, m + 1), n, left, right, 2)
  end subroutine columns
  subroutine corners(a, n, m)
    integer, intent(in) :: n, m
    double precision, intent(inout) :: a(n, 0:m + 1)
    call send_and_receive(a(2, m), a(2, 0), n - 2, right, left, 3)
  end subroutine corners
end module halos

module model
  use halos
  implicit none
  integer, parameter :: n = 24, m = 30
  double precision :: u(n, 0:m + 1), v(n, 0:m + 1), w(n, 0:m + 1)
contains
  subroutine update()
    call columns(u, n, m)
    call columns(v, n, m)
  end subroutine update
  subroutine step()
    integer :: i, j
    do j = 1, m
      do i = 1, n
        w(i, j) = 0.25d0*(u(i, j - 1) + u(i, j + 1)) + 0.2d0*(v(i, j - 1) + v(i, j + 1))
      end do
    end do
    do j = 1, m
      do i = 1, n
        v(i, j) = 0.5d0*v(i, j) + 0.5d0*w(i, j)
        u(i, j) = w(i, j)
      end do
    end do
  end subroutine step
  subroutine drift()
    integer :: i, j
    do j = 1, m
      do i = 2, n - 1
        u(i, j) = 0.9d0*u(i, j) + 0.1d0*w(i, j - 1)
      end do
    end do
  end subroutine drift
end module model

program layered
  use model
  implicit none
  integer :: i, j, it, ierr
  call messages_begin()
  do j = 0, m + 1
    do i = 1, n
      u(i, j) = rank + 0.01d0*i*j
      v(i, j) = 1d0/(i + j + 1)
      w(i, j) = 0d0
    end do
  end do
  do it = 1, 12
    call update()
    call step()
    call corners(w, n, m)
    call drift()
  end do
  print '(i4, 2f24.12)', rank, sum(u(:, 1:m)), sum(v(:, 1:m))
  call MPI_Finalize(ierr)
end program layered
