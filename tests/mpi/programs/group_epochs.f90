! The first epochs of group_epochs.c, from Fortran.
program group_epochs
#ifdef F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
#ifdef F08
  type(MPI_Win) :: win
  type(MPI_Group) :: everybody, origin, target
#else
  integer :: win, everybody, origin, target
#endif
  integer :: rank, ranks, ierror, mine(2), one(1)
  integer(kind=MPI_ADDRESS_KIND) :: room, where
  mine = 0
  one = 1
  room = 8
  where = 0
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call MPI_Win_create(mine, room, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
  call MPI_Win_get_group(win, everybody, ierror)
  call MPI_Group_incl(everybody, 1, [mod(rank + 1, ranks)], origin, ierror)
  call MPI_Group_incl(everybody, 1, [mod(rank + ranks - 1, ranks)], target, ierror)
  call MPI_Win_post(origin, 0, win, ierror)
  call MPI_Win_start(target, 0, win, ierror)
  call MPI_Put(one, 1, MPI_INTEGER, mod(rank + ranks - 1, ranks), where, 1, MPI_INTEGER, win, &
               ierror)
  call MPI_Win_complete(win, ierror)
  call MPI_Win_wait(win, ierror)
  call MPI_Group_free(origin, ierror)
  call MPI_Group_free(target, ierror)
  call MPI_Group_free(everybody, ierror)
  call MPI_Win_free(win, ierror)
  call MPI_Finalize(ierror)
end program group_epochs
