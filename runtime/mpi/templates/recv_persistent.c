/* A persistent receive: MPI_Start posts it. */
@SIGNATURE@
{
    @UNMEASURED@
    ix_thread *ix_t = @ENTER@;
    @CALL@;
    if (ix_outermost(ix_t) && rc == MPI_SUCCESS)
        ix_recv_planned(ix_t, *request, count, type, peer, tag, comm, 0);
    @LEAVE@;
}
