c     The exchanges of the wavefront: one plane's rim (exch1), and the
c     whole faces of a field (exch3).

c     iex 0: receive from north and west     (before a lower plane)
c     iex 1: receive from south and east     (before an upper plane)
c     iex 2: send to south and east          (after a lower plane)
c     iex 3: send to north and west          (after an upper plane)
      subroutine exch1(g, k, iex)
      implicit none
      include 'mpif.h'
      include 'ssor.inc'
      double precision g(nc, 0:maxx+1, 0:maxy+1, maxz)
      double precision dum(nc, maxx+maxy)
      integer k, iex, i, j, m, ierr, status(MPI_STATUS_SIZE)

      if (iex .eq. 0) then
         if (north .ne. -1) then
            call mpi_recv(dum, nc*ny, MPI_DOUBLE_PRECISION, north, 11,
     >                    MPI_COMM_WORLD, status, ierr)
            do j = 1, ny
               do m = 1, nc
                  g(m, 0, j, k) = dum(m, j)
               end do
            end do
         end if
         if (west .ne. -1) then
            call mpi_recv(dum, nc*nx, MPI_DOUBLE_PRECISION, west, 12,
     >                    MPI_COMM_WORLD, status, ierr)
            do i = 1, nx
               do m = 1, nc
                  g(m, i, 0, k) = dum(m, i)
               end do
            end do
         end if
      else if (iex .eq. 1) then
         if (south .ne. -1) then
            call mpi_recv(dum, nc*ny, MPI_DOUBLE_PRECISION, south, 13,
     >                    MPI_COMM_WORLD, status, ierr)
            do j = 1, ny
               do m = 1, nc
                  g(m, nx+1, j, k) = dum(m, j)
               end do
            end do
         end if
         if (east .ne. -1) then
            call mpi_recv(dum, nc*nx, MPI_DOUBLE_PRECISION, east, 14,
     >                    MPI_COMM_WORLD, status, ierr)
            do i = 1, nx
               do m = 1, nc
                  g(m, i, ny+1, k) = dum(m, i)
               end do
            end do
         end if
      else if (iex .eq. 2) then
         if (south .ne. -1) then
            do j = 1, ny
               do m = 1, nc
                  dum(m, j) = g(m, nx, j, k)
               end do
            end do
            call mpi_send(dum, nc*ny, MPI_DOUBLE_PRECISION, south, 11,
     >                    MPI_COMM_WORLD, ierr)
         end if
         if (east .ne. -1) then
            do i = 1, nx
               do m = 1, nc
                  dum(m, i) = g(m, i, ny, k)
               end do
            end do
            call mpi_send(dum, nc*nx, MPI_DOUBLE_PRECISION, east, 12,
     >                    MPI_COMM_WORLD, ierr)
         end if
      else
         if (north .ne. -1) then
            do j = 1, ny
               do m = 1, nc
                  dum(m, j) = g(m, 1, j, k)
               end do
            end do
            call mpi_send(dum, nc*ny, MPI_DOUBLE_PRECISION, north, 13,
     >                    MPI_COMM_WORLD, ierr)
         end if
         if (west .ne. -1) then
            do i = 1, nx
               do m = 1, nc
                  dum(m, i) = g(m, i, 1, k)
               end do
            end do
            call mpi_send(dum, nc*nx, MPI_DOUBLE_PRECISION, west, 14,
     >                    MPI_COMM_WORLD, ierr)
         end if
      end if
      end


c     The four faces of a field: first north and south, then west and
c     east, each by a posted receive, a send, and a wait.
      subroutine exch3(g)
      implicit none
      include 'mpif.h'
      include 'ssor.inc'
      double precision g(nc, 0:maxx+1, 0:maxy+1, maxz)

      call face(g, south, north, nx, 0, 0, 21)
      call face(g, north, south, 1, nx + 1, 0, 22)
      call face(g, east, west, ny, 0, 1, 23)
      call face(g, west, east, 1, ny + 1, 1, 24)
      end


c     Sends layer `from` to rank `to` and receives layer `into` from
c     rank `source`; side 0: a layer of constant i, 1: of constant j.
      subroutine face(g, to, source, from, into, side, tag)
      implicit none
      include 'mpif.h'
      include 'ssor.inc'
      double precision g(nc, 0:maxx+1, 0:maxy+1, maxz)
      integer to, source, from, into, side, tag
      integer i, j, k, m, l, count, ierr, req, status(MPI_STATUS_SIZE)

      count = nc * nz * ny
      if (side .eq. 1) count = nc * nz * nx
      l = 0
      if (source .ne. -1) then
         call mpi_irecv(facer, count, MPI_DOUBLE_PRECISION, source, tag,
     >                  MPI_COMM_WORLD, req, ierr)
      end if
      if (to .ne. -1) then
         do k = 1, nz
            if (side .eq. 0) then
               do j = 1, ny
                  do m = 1, nc
                     l = l + 1
                     faceb(l) = g(m, from, j, k)
                  end do
               end do
            else
               do i = 1, nx
                  do m = 1, nc
                     l = l + 1
                     faceb(l) = g(m, i, from, k)
                  end do
               end do
            end if
         end do
         call mpi_send(faceb, count, MPI_DOUBLE_PRECISION, to, tag,
     >                 MPI_COMM_WORLD, ierr)
      end if
      if (source .ne. -1) then
         call mpi_wait(req, status, ierr)
         l = 0
         do k = 1, nz
            if (side .eq. 0) then
               do j = 1, ny
                  do m = 1, nc
                     l = l + 1
                     g(m, into, j, k) = facer(l)
                  end do
               end do
            else
               do i = 1, nx
                  do m = 1, nc
                     l = l + 1
                     g(m, i, into, k) = facer(l)
                  end do
               end do
            end if
         end do
      end if
      end
