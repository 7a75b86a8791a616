/* A one-sided transfer: over at the closing call. */
@SIGNATURE@
{
    @UNMEASURED@
    ix_thread *ix_t = @ENTER@;
    @CALL@;
    if (ix_outermost(ix_t) && rc == MPI_SUCCESS)
        ix_rma_begun(ix_t, win, peer, @BYTES@, @CALIBRATION@, @KIND@);
    @LEAVE@;
}
