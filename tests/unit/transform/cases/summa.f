      program summa
      implicit none
      include 'mpif.h'
      integer nb, nmax
      parameter (nmax = 144)
      integer rank, size, q, row, col, k, ierr, rows, cols, i, j, l
      double precision a(nmax, nmax), b(nmax, nmax), c(nmax, nmax)
      double precision pa(nmax, nmax), pb(nmax, nmax), total, part
      call MPI_Init(ierr)
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
      call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
      q = int(sqrt(dble(size)) + 0.5d0)
      row = rank / q
      col = mod(rank, q)
      call MPI_Comm_split(MPI_COMM_WORLD, row, col, rows, ierr)
      call MPI_Comm_split(MPI_COMM_WORLD, col, row, cols, ierr)
      nb = nmax / q
      do j = 1, nb
        do i = 1, nb
          a(i, j) = mod(rank + i * j, 7)
          b(i, j) = mod(rank * 3 + i + j, 5)
          c(i, j) = 0
        end do
      end do
      do k = 0, q - 1
        if (col .eq. k) then
          do j = 1, nb
            do i = 1, nb
              pa(i, j) = a(i, j)
            end do
          end do
        end if
        call MPI_Bcast(pa, nmax * nb, MPI_DOUBLE_PRECISION, k, rows,
     &                 ierr)
        if (row .eq. k) pb = b
        call MPI_Bcast(pb, nmax * nb, MPI_DOUBLE_PRECISION, k, cols,
     &                 ierr)
        do j = 1, nb
          do l = 1, nb
            do i = 1, nb
              c(i, j) = c(i, j) + pa(i, l) * pb(l, j)
            end do
          end do
        end do
      end do
      part = 0.0d0
      do j = 1, nb
        do i = 1, nb
          part = part + c(i, j) * mod(i + j, 11)
        end do
      end do
      call MPI_Reduce(part, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0,
     &                MPI_COMM_WORLD, ierr)
      if (rank .eq. 0) print '(f20.6)', total
      call MPI_Finalize(ierr)
      end
