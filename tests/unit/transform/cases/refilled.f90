! Particles of which some take the place of others while values for something else are sent.
module cells
  implicit none
  type :: place
    double precision :: x(3)
  end type place
  type :: particle
    type(place) :: at
    double precision :: q
    integer :: id
    character(len=8) :: name
  end type particle
end module cells

program steps
  use mpi
  use cells
  implicit none
  type(particle) :: p(200), kept(200), first
  double precision :: v(500), w(500)
  integer :: rank, size, ierr, i, n, step, requests(2)
  call mpi_init(ierr)
  call mpi_comm_rank(mpi_comm_world, rank, ierr)
  call mpi_comm_size(mpi_comm_world, size, ierr)
  n = 200
  do i = 1, n
    p(i)%at%x = i + rank
    p(i)%q = 0.5d0 * i
    p(i)%id = i
    p(i)%name = 'cell'
    kept(i) = p(1)
  end do
  w = rank
  do step = 1, 3
    call mpi_irecv(v, 500, mpi_double_precision, mod(rank + size - 1, size), 0, &
      mpi_comm_world, requests(1), ierr)
    call mpi_isend(w, 500, mpi_double_precision, mod(rank + 1, size), 0, &
      mpi_comm_world, requests(2), ierr)
    call mpi_waitall(2, requests, mpi_statuses_ignore, ierr)
    do i = 1, n / 2
      p(i) = p(n - i + 1)
      p(i)%q = p(i)%q * 0.5d0 + p(i)%at%x(1)
    end do
    w = w + v
  end do
  print *, rank, sum(w), sum(p%q), p(1)%id, kept(3)%at%x(2)
  call mpi_finalize(ierr)
end program steps
