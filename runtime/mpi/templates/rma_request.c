/* A one-sided transfer that a request completes. */
@SIGNATURE@
{
    @UNMEASURED@
    ix_thread *ix_t = @ENTER@;
    @CALL@;
    if (ix_outermost(ix_t) && rc == MPI_SUCCESS)
        ix_rma_request_begun(ix_t, win, peer, @BYTES@, @CALIBRATION@, *request, @SLACK@,
                             @KIND@);
    @LEAVE@;
}
