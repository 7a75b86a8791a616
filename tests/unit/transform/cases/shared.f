c     One buffer in COMMON for two messages, used by one routine only: the
c     second message gets a copy of its own.
      program shared
      implicit none
      include 'mpif.h'
      integer n
      parameter (n = 200)
      double precision u(n, 4)
      integer i, j, ierr, rank, nproc
      call mpi_init(ierr)
      call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
      call mpi_comm_size(MPI_COMM_WORLD, nproc, ierr)
      do j = 1, 4
         do i = 1, n
            u(i, j) = i * j + rank
         end do
      end do
      do j = 1, 4
         call ends(u, mod(rank + 1, nproc), mod(rank + nproc-1, nproc))
      end do
      print *, rank, u(1, 1), u(n, 2), u(3, 4)
      call mpi_finalize(ierr)
      end

      subroutine ends(u, up, down)
      implicit none
      include 'mpif.h'
      integer n
      parameter (n = 200)
      double precision u(n, 4), buf
      integer up, down, i, ierr, status(MPI_STATUS_SIZE)
      common /work/ buf(n)
      do i = 1, n
         buf(i) = 0.5d0 * u(i, 1) + u(i, 2)
      end do
      call mpi_send(buf, n, MPI_DOUBLE_PRECISION, up, 1,
     &              MPI_COMM_WORLD, ierr)
      do i = 1, n
         u(i, 2) = u(i, 2) * 0.5d0 + u(i, 3)
      end do
      do i = 1, n
         buf(i) = 0.25d0 * u(i, 2) + u(i, 3)
      end do
      call mpi_send(buf, n, MPI_DOUBLE_PRECISION, down, 2,
     &              MPI_COMM_WORLD, ierr)
      do i = 1, n
         u(i, 3) = u(i, 3) * 0.5d0 + u(i, 2)
      end do
      call mpi_recv(u(1, 4), n, MPI_DOUBLE_PRECISION, down, 1,
     &              MPI_COMM_WORLD, status, ierr)
      call mpi_recv(u(1, 1), n, MPI_DOUBLE_PRECISION, up, 2,
     &              MPI_COMM_WORLD, status, ierr)
      end
