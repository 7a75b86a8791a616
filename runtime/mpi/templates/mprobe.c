/* A matched probe: the message keeps the path of its sender. */
@SIGNATURE@
{
    @UNMEASURED@
    MPI_Status ix_status;
    if (status == MPI_STATUS_IGNORE)
        status = &ix_status;
    ix_thread *ix_t = @ENTER@;
    @CALL@;@NOTHING@
    if (ix_outermost(ix_t) && rc == MPI_SUCCESS && @SEEN@)
        ix_message_found(ix_t, *message, status, peer, tag, comm);
    @LEAVE@;
}
