/* A send and a receive in one call. */
@SIGNATURE@
{
    @UNMEASURED@
    MPI_Status ix_status;
    if (status == MPI_STATUS_IGNORE)
        status = &ix_status;
    ix_thread *ix_t = @ENTER@;@AWAITS@
    @CALL@;
    if (ix_outermost(ix_t) && rc == MPI_SUCCESS) {
        ix_sent(ix_t, scount, stype, speer, stag, comm, IX_SLACK_TAIL, IX_LOG_SEND);
        ix_received(ix_t, status, rpeer, rtag, comm);
    }
    @LEAVE@;
}
