c     Columns and packed rows of a field come from four neighbours; the
c     interior of the nest needs none of them.
      program inter
      implicit none
      include 'mpif.h'
      integer n
      parameter (n = 200)
      double precision u(0:n+1, 0:n+1), v(n, n), rows(n), rowr(n), s
      common /field/ u, v, rows, rowr
      integer rank, num, left, right, i, j, it, ierr
      integer status(MPI_STATUS_SIZE)

      call mpi_init(ierr)
      call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
      call mpi_comm_size(MPI_COMM_WORLD, num, ierr)
      left = mod(rank + num - 1, num)
      right = mod(rank + 1, num)
      do it = 1, 4
         do j = 0, n + 1
            do i = 0, n + 1
               u(i, j) = dble(i + j * rank + it)
            end do
         end do
         do i = 1, n
            rows(i) = u(1, i)
         end do
         call mpi_sendrecv(u(1, n), n, MPI_DOUBLE_PRECISION, right, 1,
     &                     u(1, 0), n, MPI_DOUBLE_PRECISION, left, 1,
     &                     MPI_COMM_WORLD, status, ierr)
         call mpi_sendrecv(rows, n, MPI_DOUBLE_PRECISION, left, 2,
     &                     rowr, n, MPI_DOUBLE_PRECISION, right, 2,
     &                     MPI_COMM_WORLD, status, ierr)
         do i = 1, n
            u(n + 1, i) = rowr(i)
         end do
c        the mean of the four neighbours
         do j = 1, n
            do i = 1, n
               s = u(i-1, j) + u(i+1, j)
               v(i, j) = 0.25d0 * (s + u(i, j-1) + u(i, j+1))
            end do
         end do
      end do
      print *, rank, v(1, 1), v(n, n), v(1, n)
      call mpi_finalize(ierr)
      end
