! MPI_Alltoallv and MPI_Alltoallw from Fortran with blocks as those of blocks.c.
program blocks
  use mpi
  implicit none
  integer :: rank, ranks, ierror, k
  integer :: counts(16), displs(16), theirs(16), their_displs(16), bytes(16), types(16)
  integer :: out(1024), in(1024)
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  out = 0
  do k = 0, ranks - 1
    counts(k + 1) = block(rank, k)
    theirs(k + 1) = block(k, rank)
    displs(k + 1) = 32 * k
    their_displs(k + 1) = 32 * k
    bytes(k + 1) = 256 * k
    types(k + 1) = MPI_INTEGER2
    if (mod(rank + k, 2) == 1) types(k + 1) = MPI_DOUBLE_PRECISION
  end do
  call MPI_Alltoallv(out, counts, displs, MPI_INTEGER, in, theirs, their_displs, MPI_INTEGER, &
                     MPI_COMM_WORLD, ierror)
  call MPI_Alltoallw(out, counts, bytes, types, in, theirs, bytes, types, MPI_COMM_WORLD, ierror)
  call MPI_Finalize(ierror)
contains
  integer function block(a, b)
    integer, intent(in) :: a, b
    block = 1 + 3 * a + 7 * b
    if (b == mod(a + 2, ranks)) block = 0
  end function block
end program blocks
