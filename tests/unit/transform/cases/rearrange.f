c     Two calls that need nothing of each other change places: what makes
c     the message comes first, what uses the other one last.
      program rearr
      implicit none
      include 'mpif.h'
      integer n
      parameter (n = 800)
      double precision press(n), speed(n), out(n), in(n)
      integer i, ierr, rank, nproc, left, right
      integer status(MPI_STATUS_SIZE)
      call mpi_init(ierr)
      call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)
      call mpi_comm_size(MPI_COMM_WORLD, nproc, ierr)
      right = mod(rank + 1, nproc)
      left = mod(rank + nproc - 1, nproc)
      do i = 1, n
         press(i) = i + rank
         speed(i) = 1.0d0
      end do
      call advanc(speed, n)
c     what the neighbour gets
      call prep(out, press, n)
      call mpi_sendrecv(out, n, MPI_DOUBLE_PRECISION, right, 3,
     &                  in, n, MPI_DOUBLE_PRECISION, left, 3,
     &                  MPI_COMM_WORLD, status, ierr)
      call mix(press, in, n)
      do i = 2, n
         speed(i) = 0.5d0 * (speed(i) + speed(i - 1))
      end do
      print *, rank, press(n / 2), speed(n / 2)
      call mpi_finalize(ierr)
      end

      subroutine advanc(x, m)
      integer m, i
      double precision x(m)
      do i = 2, m
         x(i) = 0.25d0 * (x(i) + 3.0d0 * x(i - 1)) + 1.0d0
      end do
      end

      subroutine prep(o, x, m)
      integer m, i
      double precision o(m), x(m)
      do i = 1, m
         o(i) = 2.0d0 * x(i) + x(1)
      end do
      end

      subroutine mix(x, y, m)
      integer m, i
      double precision x(m), y(m)
      do i = 1, m
         x(i) = 0.75d0 * x(i) + 0.25d0 * y(i)
      end do
      end
