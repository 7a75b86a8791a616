/* A receive that a request completes. */
@SIGNATURE@
{
    @UNMEASURED@
    ix_thread *ix_t = @ENTER@;
    @CALL@;
    if (ix_outermost(ix_t) && rc == MPI_SUCCESS)
        ix_recv_begun(ix_t, *request, count, type, peer, tag, comm);
    @LEAVE@;
}
