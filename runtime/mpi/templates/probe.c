/* A probe: that it found a message is logged. */
@SIGNATURE@
{
    @UNMEASURED@
    if (status == MPI_STATUS_IGNORE && ix_log_is_on)
        status = &ix_own_status;
    ix_thread *ix_t = @ENTER@;@AWAITS@
    @CALL@;@NOTHING@
    if (status != MPI_STATUS_IGNORE && rc == MPI_SUCCESS && @SEEN@ && ix_outermost(ix_t))
        ix_log_probed(ix_t, status, comm, peer, tag);
    @LEAVE@;
}
