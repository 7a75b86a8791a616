/* Everything on the window is over. */
@SIGNATURE@
{
    @UNMEASURED@
    MPI_Win ix_was = *win;
    uint64_t ix_last = ix_last_of_window(ix_was);
    ix_thread *ix_t = @ENTER@;
    @CALL@;
    if (ix_outermost(ix_t) && rc == MPI_SUCCESS) {
        ix_rma_closed(ix_t, ix_was, IX_ALL, IX_SLACK_NONE);
        ix_forget_group(ix_t, ix_handle(ix_was));
        ix_exposed(ix_t, -1);
        ix_log_window_freed(ix_t, ix_last);
    }
    @LEAVE@;
}
