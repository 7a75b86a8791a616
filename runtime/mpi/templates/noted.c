/* A local call that what works in the background must know of. */
@SIGNATURE@
{
    ix_resolve_once();
    @CALL@;
    if (rc == MPI_SUCCESS)
        @NOTE@ = 1;
    @RETURN@;
}
