/* A new communicator, not there before the request completes, gets its number now. */
@SIGNATURE@
{
    @UNMEASURED@
    ix_thread *ix_t = ix_enter_from(@OPERATION@, @CALLER@, @FRAME@);
    @CALL@;
    if (ix_outermost(ix_t) && rc == MPI_SUCCESS) {
        ix_comm_promised(comm);
        @LOG@;
    }
    ix_observed_leave(ix_t);
    @RETURN@;
}
