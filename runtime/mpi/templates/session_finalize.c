/* The last session of a program without MPI_Init ends the job. */
@SIGNATURE@
{
    ix_resolve_once();
    ix_job_end_session();
    @CALL@;
    @RETURN@;
}
