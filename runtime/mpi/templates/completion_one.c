/* Completion of one request. */
@SIGNATURE@
{
    @UNMEASURED@
    MPI_Request ix_was = *request;
    MPI_Status ix_status;
    if (status == MPI_STATUS_IGNORE)
        status = &ix_status;
    ix_thread *ix_t = @ENTER@;
    @CALL@;@NOTHING@
    if (ix_outermost(ix_t) && @SEEN@)
        ix_completed(ix_t, rc, ix_was, *request, status);
    @LEAVE@;
}
