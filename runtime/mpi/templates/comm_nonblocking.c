/* A new communicator, not there before the request completes, gets its number now. */
@SIGNATURE@
{
    @UNMEASURED@
    ix_thread *ix_t = @ENTER@;
    @CALL@;
    if (ix_outermost(ix_t) && rc == MPI_SUCCESS) {
        ix_comm_promised(comm);
        @LOG@;
    }
    @LEAVE@;
}
