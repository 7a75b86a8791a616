! An object of a module with objects in it: components of components, and of elements of an array.
module domains
  use mpi_f08
  implicit none
  type :: ends_t
    integer :: below, above, tag
  end type ends_t
  type :: block_t
    double precision :: edge(400), ghost(400), inner(4000)
    type(ends_t) :: ends
  end type block_t
  type :: domain_t
    integer :: many
    type(MPI_Comm) :: comm
    type(block_t) :: blocks(2)
  end type domain_t
  type(domain_t) :: d
contains
  subroutine exchange()
    integer :: ierr, i
    call MPI_Sendrecv(d%blocks(1)%edge, 400, MPI_DOUBLE_PRECISION, d%blocks(1)%ends%above, &
      d%blocks(1)%ends%tag, d%blocks(2)%ghost, 400, MPI_DOUBLE_PRECISION, &
      d%blocks(2)%ends%below, d%blocks(2)%ends%tag, d%comm, MPI_STATUS_IGNORE, ierr)
    do i = 1, 4000
      d%blocks(1)%inner(i) = 0.5d0 * d%blocks(1)%inner(i) + 0.125d0 * d%blocks(2)%inner(i)
    end do
    do i = 1, 400
      d%blocks(1)%edge(i) = d%blocks(2)%ghost(i) + d%blocks(1)%inner(i)
    end do
  end subroutine exchange
end module domains

program main
  use domains
  implicit none
  integer :: ierr, rank, k, i, it
  call MPI_Init(ierr)
  d%comm = MPI_COMM_WORLD
  call MPI_Comm_rank(d%comm, rank, ierr)
  call MPI_Comm_size(d%comm, d%many, ierr)
  do k = 1, 2
    d%blocks(k)%ends%below = mod(rank + d%many - 1, d%many)
    d%blocks(k)%ends%above = mod(rank + 1, d%many)
    d%blocks(k)%ends%tag = 7
    do i = 1, 4000
      d%blocks(k)%inner(i) = rank + 0.25d0 * i * k
    end do
    do i = 1, 400
      d%blocks(k)%edge(i) = rank - 0.5d0 * i * k
    end do
  end do
  do it = 1, 10
    call exchange()
  end do
  print '(3f18.8)', sum(d%blocks(1)%edge), sum(d%blocks(2)%ghost), sum(d%blocks(1)%inner)
  call MPI_Finalize(ierr)
end program main
