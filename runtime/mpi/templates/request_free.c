/* The end of the transfer will not be seen. */
@SIGNATURE@
{
    @UNMEASURED@
    MPI_Request ix_was = *request;
    ix_thread *ix_t = @ENTER@;
    @CALL@;
    if (ix_outermost(ix_t) && rc == MPI_SUCCESS)
        ix_given_up(ix_t, ix_was);
    @LEAVE@;
}
