/* A program of sessions may never call MPI_Init. */
@SIGNATURE@
{
    ix_resolve_once();
    @CALL@;
    if (rc == MPI_SUCCESS)
        ix_job_start_session();
    @RETURN@;
}
