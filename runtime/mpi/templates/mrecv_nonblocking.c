/* Receive of a matched message that a request completes. */
@SIGNATURE@
{
    @UNMEASURED@
    MPI_Message ix_message = *message;
    ix_thread *ix_t = @ENTER@;
    @CALL@;
    if (ix_outermost(ix_t) && rc == MPI_SUCCESS)
        ix_message_recv_begun(ix_t, *request, ix_message, count, type);
    @LEAVE@;
}
