/* The transfers to these targets are over. */
@SIGNATURE@
{
    @UNMEASURED@
    ix_thread *ix_t = @ENTER@;
    @CALL@;
    if (ix_outermost(ix_t) && rc == MPI_SUCCESS) {
        ix_rma_closed(ix_t, win, @TARGET@, @SLACK@);
        ix_log_epoch(ix_t, win, @TARGET@, @FENCE@);
        @GROUP@
    }
    @LEAVE@;
}
