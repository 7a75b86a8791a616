c     Rows of an array with room for more than is used: that a message of nx elements ends in its
c     row is shown by the loops that run beside it.
      program rows
      implicit none
      include 'mpif.h'
      integer nx, ny, up, down, rank, nproc, ierr, it, i, j
      double precision u(0:101,0:65), v(0:101,0:65), total
      common /grid/ u, v, nx, ny, up, down
      call mpi_init(ierr)
      call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
      call mpi_comm_size(MPI_COMM_WORLD, nproc, ierr)
      nx = 100 - 2 * nproc
      ny = 60 / nproc
      up = rank + 1
      if (up .eq. nproc) up = MPI_PROC_NULL
      down = rank - 1
      if (down .lt. 0) down = MPI_PROC_NULL
      do j = 0, 65
         do i = 0, 101
            u(i, j) = rank + 0.01d0 * i + 0.1d0 * j
            v(i, j) = 0.0d0
         end do
      end do
      do it = 1, 20
         call exch
         call relax
         call copy
      end do
      total = 0.0d0
      do j = 1, ny
         do i = 1, nx
            total = total + u(i, j) * (i + 2 * j)
         end do
      end do
      print *, rank, total
      call mpi_finalize(ierr)
      end

      subroutine exch
      implicit none
      include 'mpif.h'
      integer nx, ny, up, down, ierr, st(MPI_STATUS_SIZE)
      double precision u(0:101,0:65), v(0:101,0:65)
      common /grid/ u, v, nx, ny, up, down
      call mpi_sendrecv(u(1, ny), nx, MPI_DOUBLE_PRECISION, up, 1,
     &                  u(1, 0), nx, MPI_DOUBLE_PRECISION, down, 1,
     &                  MPI_COMM_WORLD, st, ierr)
      call mpi_sendrecv(u(1, 1), nx, MPI_DOUBLE_PRECISION, down, 2,
     &                  u(1, ny + 1), nx, MPI_DOUBLE_PRECISION, up, 2,
     &                  MPI_COMM_WORLD, st, ierr)
      return
      end

      subroutine relax
      implicit none
      integer nx, ny, up, down, i, j
      double precision u(0:101,0:65), v(0:101,0:65)
      common /grid/ u, v, nx, ny, up, down
      do j = 1, ny
         do i = 1, nx
            v(i, j) = 0.25d0 * (u(i - 1, j) + u(i + 1, j)
     &                + u(i, j - 1) + u(i, j + 1))
         end do
      end do
      return
      end

      subroutine copy
      implicit none
      integer nx, ny, up, down, i, j
      double precision u(0:101,0:65), v(0:101,0:65)
      common /grid/ u, v, nx, ny, up, down
      do 20 j = 1, ny
         do 10 i = 1, nx
            u(i, j) = v(i, j)
 10      continue
 20   continue
      return
      end
