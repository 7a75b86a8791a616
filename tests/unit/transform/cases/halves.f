c An exchange split by hand; its requests are passed.
      program p
      implicit none
      include 'mpif.h'
      double precision u(1000), v(1000)
      integer me, e, i, ireq(4)
      call mpi_init(e)
      call mpi_comm_rank(mpi_comm_world, me, e)
      do i = 1, 1000
        u(i) = i + me
        v(i) = i
      end do
      call begin(u, ireq, 1 - me)
      call finish(ireq)
      call work(v)
      call work(u)
      print *, u(4), u(905), v(4)
      call mpi_finalize(e)
      end
      subroutine begin(x, kreq, other)
      implicit none
      include 'mpif.h'
      double precision x(1000)
      integer kreq(4), other, e
      call mpi_irecv(x(900), 10, mpi_double_precision, other, 0,
     &  mpi_comm_world, kreq(1), e)
      call mpi_isend(x(1), 10, mpi_double_precision, other, 0,
     &  mpi_comm_world, kreq(2), e)
      end
      subroutine finish(kreq)
      implicit none
      include 'mpif.h'
      integer kreq(4), e
      call mpi_waitall(2, kreq, mpi_statuses_ignore, e)
      end
      subroutine work(x)
      implicit none
      double precision x(1000)
      integer i
      do i = 1, 1000
        x(i) = 0.5d0 * x(i)
      end do
      end
