/* A probe: that it found a message is logged. */
@SIGNATURE@
{
    @UNMEASURED@
    MPI_Status ix_status;
    if (status == MPI_STATUS_IGNORE)
        status = &ix_status;
    ix_thread *ix_t = ix_enter_from(@OPERATION@, @CALLER@, @FRAME@);
    @CALL@;
    if (rc == MPI_SUCCESS && @SEEN@ && ix_outermost(ix_t))
        ix_log_probed(ix_t, status, comm);
    ix_observed_leave(ix_t);
    @RETURN@;
}
