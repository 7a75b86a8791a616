/* A blocking receive: size and peer come from the status. */
@SIGNATURE@
{
    @UNMEASURED@
    MPI_Status ix_status;
    if (status == MPI_STATUS_IGNORE)
        status = &ix_status;
    ix_thread *ix_t = @ENTER@;@AWAITS@
    @CALL@;
    if (ix_outermost(ix_t) && rc == MPI_SUCCESS)
        ix_received(ix_t, status, peer, tag, comm);
    else if (ix_outermost(ix_t))
        ix_log_receive_failed(ix_t, rc, status, peer, tag, comm);
    @LEAVE@;
}
