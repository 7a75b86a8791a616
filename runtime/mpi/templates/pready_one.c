/* One partition begins. */
@SIGNATURE@
{
    @UNMEASURED@
    ix_thread *ix_t = ix_enter_from(@OPERATION@, @CALLER@, @FRAME@);
    @CALL@;
    if (ix_outermost(ix_t) && rc == MPI_SUCCESS)
        ix_partition_begun(ix_t, request, partition);
    ix_observed_leave(ix_t);
    @RETURN@;
}
