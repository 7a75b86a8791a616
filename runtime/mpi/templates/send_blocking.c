/* A blocking send. */
@SIGNATURE@
{
    @UNMEASURED@
    ix_thread *ix_t = @ENTER@;@AWAITS@
    @CALL@;
    if (ix_outermost(ix_t) && rc == MPI_SUCCESS)
        ix_sent(ix_t, count, type, peer, tag, comm, @SLACK@, @KIND@);
    @LEAVE@;
}
