c     What ring.f90 needs of BLAS, in the plainest form.
      subroutine dgemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta,
     &                 c, ldc)
      character ta, tb
      integer m, n, k, lda, ldb, ldc, i, j, l
      double precision alpha, beta, a(lda,*), b(ldb,*), c(ldc,*)
      do j = 1, n
        do i = 1, m
          c(i,j) = beta*c(i,j)
        end do
        do l = 1, k
          do i = 1, m
            c(i,j) = c(i,j) + alpha*a(i,l)*b(l,j)
          end do
        end do
      end do
      end
      subroutine dcopy(n, x, incx, y, incy)
      integer n, incx, incy, i
      double precision x(*), y(*)
      do i = 1, n
        y(1 + (i-1)*incy) = x(1 + (i-1)*incx)
      end do
      end
      double precision function ddot(n, x, incx, y, incy)
      integer n, incx, incy, i
      double precision x(*), y(*)
      ddot = 0
      do i = 1, n
        ddot = ddot + x(1 + (i-1)*incx)*y(1 + (i-1)*incy)
      end do
      end
