/* The job starts at the exit of the library's own start; a progress thread needs more of it than
 * the program asks for. */
@SIGNATURE@
{
    ix_resolve_once();
    @ARGUMENTS@
    required = ix_level_to_ask(required);
    @CALL@;
    if (rc == MPI_SUCCESS) {
        *provided = ix_level_to_tell(*provided);
        ix_job_start();
    }
    @RETURN@;
}
