C     Both faces of a block come by one request through one array, and leave through another one.
      PROGRAM FACES
      INCLUDE 'mpif.h'
      INTEGER NX, NY
      PARAMETER (NX = 20, NY = 16)
      DOUBLE PRECISION U(2,0:NX+1,NY), V(2,0:NX+1,NY)
      COMMON /FIELD/ U, V
      INTEGER ME, NP, NORTH, SOUTH
      COMMON /RANKS/ ME, NP, NORTH, SOUTH
      INTEGER I, J, M, N, IERR
      DOUBLE PRECISION S
      CALL MPI_INIT(IERR)
      CALL MPI_COMM_RANK(MPI_COMM_WORLD, ME, IERR)
      CALL MPI_COMM_SIZE(MPI_COMM_WORLD, NP, IERR)
      NORTH = -1
      SOUTH = -1
      IF (ME .GT. 0) NORTH = ME - 1
      IF (ME .LT. NP - 1) SOUTH = ME + 1
      DO J = 1, NY
        DO I = 0, NX+1
          DO M = 1, 2
            U(M,I,J) = I*0.1D0 + J*J*0.01D0 + M*ME
            V(M,I,J) = 0D0
          END DO
        END DO
      END DO
      DO N = 1, 12
        CALL SWAP(U)
        CALL STEP
        CALL BACK
      END DO
      S = 0D0
      DO J = 1, NY
        DO I = 0, NX+1
          S = S + U(1,I,J) * J + U(2,I,J) * I
        END DO
      END DO
      PRINT *, 'rank', ME, S
      CALL MPI_FINALIZE(IERR)
      END

      SUBROUTINE SWAP(A)
      INCLUDE 'mpif.h'
      INTEGER NX, NY
      PARAMETER (NX = 20, NY = 16)
      DOUBLE PRECISION A(2,0:NX+1,NY)
      DOUBLE PRECISION SB(2*NY), RB(2*NY)
      INTEGER ME, NP, NORTH, SOUTH
      COMMON /RANKS/ ME, NP, NORTH, SOUTH
      INTEGER J, M, AT, MID, IERR, STATUS(MPI_STATUS_SIZE)
      IF (NORTH .NE. -1) CALL MPI_IRECV(RB, 2*NY,
     &  MPI_DOUBLE_PRECISION, NORTH, 1, MPI_COMM_WORLD, MID, IERR)
      IF (SOUTH .NE. -1) THEN
        DO J = 1, NY
          DO M = 1, 2
            AT = (J-1)*2 + M
            SB(AT) = A(M,NX,J)
          END DO
        END DO
        CALL MPI_SEND(SB, 2*NY, MPI_DOUBLE_PRECISION, SOUTH, 1,
     &    MPI_COMM_WORLD, IERR)
      END IF
      IF (NORTH .NE. -1) THEN
        CALL MPI_WAIT(MID, STATUS, IERR)
        DO J = 1, NY
          DO M = 1, 2
            AT = (J-1)*2 + M
            A(M,0,J) = RB(AT)
          END DO
        END DO
      END IF
      IF (SOUTH .NE. -1) CALL MPI_IRECV(RB, 2*NY,
     &  MPI_DOUBLE_PRECISION, SOUTH, 2, MPI_COMM_WORLD, MID, IERR)
      IF (NORTH .NE. -1) THEN
        DO J = 1, NY
          DO M = 1, 2
            AT = (J-1)*2 + M
            SB(AT) = A(M,1,J)
          END DO
        END DO
        CALL MPI_SEND(SB, 2*NY, MPI_DOUBLE_PRECISION, NORTH, 2,
     &    MPI_COMM_WORLD, IERR)
      END IF
      IF (SOUTH .NE. -1) THEN
        CALL MPI_WAIT(MID, STATUS, IERR)
        DO J = 1, NY
          DO M = 1, 2
            AT = (J-1)*2 + M
            A(M,NX+1,J) = RB(AT)
          END DO
        END DO
      END IF
      END

      SUBROUTINE STEP
      INTEGER NX, NY
      PARAMETER (NX = 20, NY = 16)
      DOUBLE PRECISION U(2,0:NX+1,NY), V(2,0:NX+1,NY)
      COMMON /FIELD/ U, V
      INTEGER I, J, M
      DO J = 2, NY-1
        DO I = 1, NX
          DO M = 1, 2
            V(M,I,J) = U(M,I,J) + 0.1D0*(U(M,I-1,J) + U(M,I+1,J)
     &        + U(M,I,J-1) + U(M,I,J+1) - 4D0*U(M,I,J))
          END DO
        END DO
      END DO
      END

      SUBROUTINE BACK
      INTEGER NX, NY
      PARAMETER (NX = 20, NY = 16)
      DOUBLE PRECISION U(2,0:NX+1,NY), V(2,0:NX+1,NY)
      COMMON /FIELD/ U, V
      INTEGER I, J, M
      DO J = 2, NY-1
        DO I = 1, NX
          DO M = 1, 2
            U(M,I,J) = V(M,I,J)
          END DO
        END DO
      END DO
      END
