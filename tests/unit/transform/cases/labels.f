      PROGRAM JAC
C     Five-point Jacobi, strips of columns, in loops that end at one label.
      INCLUDE 'mpif.h'
      INTEGER NX, NYL
      PARAMETER (NX = 40, NYL = 30)
      REAL*8 U(0:NX+1,0:NYL+1), V(0:NX+1,0:NYL+1), F(NX,NYL)
      COMMON /FIELDS/ U, V, F
      INTEGER MYID, NUMPROCS, LEFT, RIGHT
      COMMON /PAR/ MYID, NUMPROCS, LEFT, RIGHT
      INTEGER IT, IERR
      REAL*8 ERR, GERR
      CALL MPI_INIT(IERR)
      CALL MPI_COMM_RANK(MPI_COMM_WORLD, MYID, IERR)
      CALL MPI_COMM_SIZE(MPI_COMM_WORLD, NUMPROCS, IERR)
      LEFT = MYID - 1
      RIGHT = MYID + 1
      IF (LEFT .LT. 0) LEFT = MPI_PROC_NULL
      IF (RIGHT .GE. NUMPROCS) RIGHT = MPI_PROC_NULL
      CALL INIT
      DO 10 IT = 1, 20
         CALL EXCH
         CALL SWEEP
         CALL COPY(ERR)
 10   CONTINUE
      CALL MPI_ALLREDUCE(ERR, GERR, 1, MPI_DOUBLE_PRECISION, MPI_MAX,
     +                   MPI_COMM_WORLD, IERR)
      IF (MYID .EQ. 0) WRITE(*,*) 'change', GERR
      WRITE(*,*) 'rank', MYID, U(3,3), U(NX,NYL)
      CALL MPI_FINALIZE(IERR)
      END

      SUBROUTINE INIT
      INTEGER NX, NYL
      PARAMETER (NX = 40, NYL = 30)
      REAL*8 U(0:NX+1,0:NYL+1), V(0:NX+1,0:NYL+1), F(NX,NYL)
      COMMON /FIELDS/ U, V, F
      INTEGER MYID, NUMPROCS, LEFT, RIGHT
      COMMON /PAR/ MYID, NUMPROCS, LEFT, RIGHT
      INTEGER I, J
      DO 20 J = 0, NYL+1
         DO 20 I = 0, NX+1
            U(I,J) = 0.D0
            V(I,J) = 0.D0
 20   CONTINUE
      DO 30 J = 1, NYL
         DO 30 I = 1, NX
            F(I,J) = 1.D-3 * (I + 2*J + 3*MYID)
 30   CONTINUE
      RETURN
      END

      SUBROUTINE EXCH
      INCLUDE 'mpif.h'
      INTEGER NX, NYL
      PARAMETER (NX = 40, NYL = 30)
      REAL*8 U(0:NX+1,0:NYL+1), V(0:NX+1,0:NYL+1), F(NX,NYL)
      COMMON /FIELDS/ U, V, F
      INTEGER MYID, NUMPROCS, LEFT, RIGHT
      COMMON /PAR/ MYID, NUMPROCS, LEFT, RIGHT
      INTEGER STATUS(MPI_STATUS_SIZE), IERR
      CALL MPI_SENDRECV(U(1,NYL), NX, MPI_DOUBLE_PRECISION, RIGHT, 1,
     +                  U(1,0), NX, MPI_DOUBLE_PRECISION, LEFT, 1,
     +                  MPI_COMM_WORLD, STATUS, IERR)
      CALL MPI_SENDRECV(U(1,1), NX, MPI_DOUBLE_PRECISION, LEFT, 2,
     +                  U(1,NYL+1), NX, MPI_DOUBLE_PRECISION, RIGHT, 2,
     +                  MPI_COMM_WORLD, STATUS, IERR)
      RETURN
      END

      SUBROUTINE SWEEP
      INTEGER NX, NYL
      PARAMETER (NX = 40, NYL = 30)
      REAL*8 U(0:NX+1,0:NYL+1), V(0:NX+1,0:NYL+1), F(NX,NYL)
      COMMON /FIELDS/ U, V, F
      INTEGER I, J
      DO 20 J = 1, NYL
         DO 20 I = 1, NX
            V(I,J) = 0.25D0*(U(I-1,J)+U(I+1,J)+U(I,J-1)+U(I,J+1))
     +               + F(I,J)
 20   CONTINUE
      RETURN
      END

      SUBROUTINE COPY(ERR)
      INTEGER NX, NYL
      PARAMETER (NX = 40, NYL = 30)
      REAL*8 U(0:NX+1,0:NYL+1), V(0:NX+1,0:NYL+1), F(NX,NYL)
      COMMON /FIELDS/ U, V, F
      REAL*8 ERR
      INTEGER I, J
      ERR = 0.D0
      DO 20 J = 1, NYL
         DO 20 I = 1, NX
            ERR = MAX(ERR, ABS(U(I,J) - V(I,J)))
            U(I,J) = V(I,J)
 20   CONTINUE
      RETURN
      END
