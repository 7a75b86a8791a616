C     Both sides of a strip go through the same two buffers, one after the other.
      PROGRAM HEAT
      INCLUDE 'mpif.h'
      INTEGER NX, NY, NMAX
      PARAMETER (NX = 30, NY = 24, NMAX = 64)
      DOUBLE PRECISION T(0:NX+1,0:NY+1), TN(0:NX+1,0:NY+1)
      COMMON /TEMP/ T, TN
      INTEGER ME, NP, IL, IR
      COMMON /RANKS/ ME, NP, IL, IR
      INTEGER I, J, N, IERR
      DOUBLE PRECISION S
      CALL MPI_INIT(IERR)
      CALL MPI_COMM_RANK(MPI_COMM_WORLD, ME, IERR)
      CALL MPI_COMM_SIZE(MPI_COMM_WORLD, NP, IERR)
      IL = MOD(ME - 1 + NP, NP)
      IR = MOD(ME + 1, NP)
      DO 5 J = 0, NY+1
      DO 5 I = 0, NX+1
        T(I,J) = I*0.1D0 + J*J*0.01D0 + ME
    5   TN(I,J) = 0D0
      DO 100 N = 1, 12
        CALL SWAPX(T)
        CALL STEP
        CALL BACK
  100 CONTINUE
      S = 0D0
      DO 200 J = 1, NY
        DO 200 I = 1, NX
  200     S = S + T(I,J)
      PRINT *, 'rank', ME, S
      CALL MPI_FINALIZE(IERR)
      STOP
      END

      SUBROUTINE SWAPX(A)
      INCLUDE 'mpif.h'
      INTEGER NX, NY, NMAX
      PARAMETER (NX = 30, NY = 24, NMAX = 64)
      DOUBLE PRECISION A(0:NX+1,0:NY+1)
      DOUBLE PRECISION SB(NMAX), RB(NMAX)
      INTEGER ME, NP, IL, IR
      COMMON /RANKS/ ME, NP, IL, IR
      INTEGER J, IERR, IST(MPI_STATUS_SIZE)
      DO 10 J = 1, NY
   10 SB(J) = A(NX,J)
      CALL MPI_SENDRECV(SB, NY, MPI_DOUBLE_PRECISION, IR, 1,
     &     RB, NY, MPI_DOUBLE_PRECISION, IL, 1,
     &     MPI_COMM_WORLD, IST, IERR)
      DO 20 J = 1, NY
   20 A(0,J) = RB(J)
      DO 30 J = 1, NY
        SB(J) = A(1,J)
   30 CONTINUE
      CALL MPI_SENDRECV(SB, NY, MPI_DOUBLE_PRECISION, IL, 2,
     &     RB, NY, MPI_DOUBLE_PRECISION, IR, 2,
     &     MPI_COMM_WORLD, IST, IERR)
      DO 40 J = 1, NY
        A(NX+1,J) = RB(J)
   40 CONTINUE
      RETURN
      END

      SUBROUTINE STEP
      INTEGER NX, NY, NMAX
      PARAMETER (NX = 30, NY = 24, NMAX = 64)
      DOUBLE PRECISION T(0:NX+1,0:NY+1), TN(0:NX+1,0:NY+1)
      COMMON /TEMP/ T, TN
      INTEGER I, J
      DO 20 J = 1, NY
      DO 20 I = 1, NX
   20 TN(I,J) = T(I,J) + 0.1D0*(T(I-1,J) + T(I+1,J) - 2D0*T(I,J))
     &        + 0.1D0*(T(I,J-1) + T(I,J+1) - 2D0*T(I,J))
      RETURN
      END

      SUBROUTINE BACK
      INTEGER NX, NY, NMAX
      PARAMETER (NX = 30, NY = 24, NMAX = 64)
      DOUBLE PRECISION T(0:NX+1,0:NY+1), TN(0:NX+1,0:NY+1)
      COMMON /TEMP/ T, TN
      INTEGER I, J
      DO 10, J = 1, NY
        DO 10, I = 1, NX
          T(I,J) = TN(I,J)
   10 CONTINUE
      END
