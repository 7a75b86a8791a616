c     The exchange of a plane's rim in the wavefront order of LU: one
c     local array for all messages.
      subroutine exch(g, iex, north, south, west, east)
      implicit none
      include 'mpif.h'
      integer nc, nx, ny
      parameter (nc = 5, nx = 30, ny = 40)
      double precision g(nc, 0:nx+1, 0:ny+1), dum(nc, nx+ny)
      integer iex, north, south, west, east
      integer i, j, m, ierr, status(MPI_STATUS_SIZE)

      if (iex .eq. 0) then
         if (north .ge. 0) then
            call MPI_RECV(dum, nc*ny, MPI_DOUBLE_PRECISION, north, 11,
     >                    MPI_COMM_WORLD, status, ierr)
            do 20 j = 1, ny
               do 10 m = 1, nc
                  g(m, 0, j) = g(m, 0, j) + dum(m, j)
   10          continue
   20       continue
         end if
         if (west .ge. 0) then
            call MPI_RECV(dum, nc*nx, MPI_DOUBLE_PRECISION, west, 12,
     >                    MPI_COMM_WORLD, status, ierr)
            do i = 1, nx
               do m = 1, nc
                  g(m, i, 0) = g(m, i, 0) + dum(m, i)
               end do
            end do
         end if
      else
         if (south .ge. 0) then
            do j = 1, ny
               do m = 1, nc
                  dum(m, j) = 0.5d0 * g(m, nx, j)
               end do
            end do
            call MPI_SEND(dum, nc*ny, MPI_DOUBLE_PRECISION, south, 11,
     >                    MPI_COMM_WORLD, ierr)
         end if
         if (east .ge. 0) then
            do i = 1, nx
               do m = 1, nc
                  dum(m, i) = 0.5d0 * g(m, i, ny)
               end do
            end do
            call MPI_SEND(dum, nc*nx, MPI_DOUBLE_PRECISION, east, 12,
     >                    MPI_COMM_WORLD, ierr)
         end if
      end if
      end

      program rim
      implicit none
      include 'mpif.h'
      double precision g(5, 0:31, 0:41)
      common /field/ g
      integer rank, num, i, j, m, before, behind, ierr
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, num, ierr)
      before = rank - 1
      behind = -1
      if (rank .lt. num - 1) behind = rank + 1
      do j = 0, 41
         do i = 0, 31
            do m = 1, 5
               g(m, i, j) = dble(m + i * j) / dble(rank + 2)
            end do
         end do
      end do
      call exch(g, 0, before, behind, before, behind)
      call exch(g, 1, before, behind, before, behind)
      print *, rank, g(1, 0, 3), g(5, 4, 0), g(2, 30, 40)
      call MPI_FINALIZE(ierr)
      end
