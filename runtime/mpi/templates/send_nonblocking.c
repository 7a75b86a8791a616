/* A send that a request completes. */
@SIGNATURE@
{
    @UNMEASURED@
    ix_thread *ix_t = @ENTER@;
    @CALL@;
    if (ix_outermost(ix_t) && rc == MPI_SUCCESS)
        ix_send_begun(ix_t, *request, count, type, peer, tag, comm, @SLACK@, @KIND@);
    @LEAVE@;
}
