/* A new communicator gets its number where all members make it. */
@SIGNATURE@
{
    @UNMEASURED@
    ix_thread *ix_t = @ENTER@;@AWAITS@
    @CALL@;
    if (ix_outermost(ix_t) && rc == MPI_SUCCESS) {
        ix_comm_created(*newcomm);
        @LOG@;
    }
    @LEAVE@;
}
