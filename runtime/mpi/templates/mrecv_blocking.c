/* Receive of a matched message. */
@SIGNATURE@
{
    @UNMEASURED@
    MPI_Message ix_message = *message;
    MPI_Status ix_status;
    if (status == MPI_STATUS_IGNORE)
        status = &ix_status;
    ix_thread *ix_t = @ENTER@;
    @CALL@;
    if (ix_outermost(ix_t) && rc == MPI_SUCCESS)
        ix_message_received(ix_t, ix_message, status);
    @LEAVE@;
}
