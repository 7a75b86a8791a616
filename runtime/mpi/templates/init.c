/* The job starts at the exit of the library's own start. */
@SIGNATURE@
{
    ix_resolve_once();
    @CALL@;
    if (rc == MPI_SUCCESS)
        ix_job_start();
    @RETURN@;
}
