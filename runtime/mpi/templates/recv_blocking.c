/* A blocking receive: size and peer come from the status. */
@SIGNATURE@
{
    @UNMEASURED@
    MPI_Status ix_status;
    if (status == MPI_STATUS_IGNORE)
        status = &ix_status;
    ix_thread *ix_t = ix_enter_from(@OPERATION@, @CALLER@, @FRAME@);
    @CALL@;
    if (ix_outermost(ix_t) && rc == MPI_SUCCESS)
        ix_received(ix_t, status, comm);
    ix_leave(ix_t);
    @RETURN@;
}
