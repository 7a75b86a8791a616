/* The program sees the level that it asked for. */
@SIGNATURE@
{
    ix_resolve_once();
    @ARGUMENTS@
    @CALL@;
    if (rc == MPI_SUCCESS)
        *provided = ix_level_to_tell(*provided);
    @RETURN@;
}
