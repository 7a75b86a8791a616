c     An exchange of COMMON memory by a subroutine without arguments.
      program plain
      include 'mpif.h'
      integer i, ierr, me, np, step
      common /field/ u(2002), v(2002)
      double precision u, v, total
      common /side/ left, right
      integer left, right
      call mpi_init(ierr)
      call mpi_comm_rank(mpi_comm_world, me, ierr)
      call mpi_comm_size(mpi_comm_world, np, ierr)
      left = mod(me+np-1,np)
      right = mod(me+1,np)
      do i = 1, 2002
         u(i) = i + me
         v(i) = i * 2
      end do
      total = 0.0d0
      do step = 1, 5
         call exchange
         do i = 1, 2002
            v(i) = v(i)*3.0d0 + 1.0d0
         end do
         do i = 1, 2002
            v(i) = 0.25d0 * v(i) + u(i)
         end do
      end do
      do i = 1, 2002
         total = total + v(i)
      end do
      print *, me, total
      call mpi_finalize(ierr)
      end

      subroutine exchange
      include 'mpif.h'
      common /field/ u(2002), v(2002)
      double precision u, v
      common /side/ left, right
      integer left, right, ierr
      call mpi_sendrecv(u(2), 1000, mpi_double_precision, left, 0,
     &  u(1002), 1000, mpi_double_precision, right, 0, mpi_comm_world,
     &  mpi_status_ignore, ierr)
      end
