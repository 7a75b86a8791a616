#define _GNU_SOURCE
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HEADER_BYTES 1024
#define STEP_ROWS ((size_t)1 << 20) /* MPI counts are ints */

static const char row_type[] =
    "[('rank','<i4'),('site','<i4'),('operation','<u2'),('section','<u2'),('size_class','i1'),"
    "('path','u1'),('source','u1'),('reserved','u1'),('count','<i8'),('transfers','<i8'),"
    "('bytes','<i8'),('transfer_min_ns','<i8'),('transfer_max_ns','<i8'),"
    "('overlap_min_ns','<i8'),('overlap_max_ns','<i8'),('exposed_min_ns','<i8'),"
    "('exposed_max_ns','<i8'),('call_ns','<i8'),('wait_min_ns','<i8'),('wait_max_ns','<i8'),"
    "('undetermined','<i8'),('contradicted','<i8'),('uncalibrated','<i8'),('unknown_end','<i8')]";

static const char rank_type[] =
    "[('rank','<i4'),('ended','u1'),('threads','u1'),('reserved','<u2'),('host','S64'),"
    "('wall_ns','<i8'),('compute_ns','<i8'),('call_ns','<i8'),('calls','<i8'),"
    "('overhead_ns','<i8'),('memory_bytes','<i8'),('dropped','<i8'),('overflow','<i8'),"
    "('section_errors','<i8')]";

_Static_assert(sizeof(ix_row) == 16 + 16 * 8, "a row of measures.npy has no padding");
_Static_assert(sizeof(ix_rank_row) == 8 + 64 + 9 * 8, "a row of ranks.npy has no padding");

/* Format version 1.0: magic, version, length of the rest, a Python dict, spaces, newline. */
static void npy_header(char out[HEADER_BYTES], const char *type, long long count)
{
    memset(out, ' ', HEADER_BYTES);
    memcpy(out, "\x93NUMPY\x01\x00", 8);
    out[8] = (char)((HEADER_BYTES - 10) & 0xff);
    out[9] = (char)((HEADER_BYTES - 10) >> 8);
    int n = snprintf(out + 10, HEADER_BYTES - 11,
                     "{'descr': %s, 'fortran_order': False, 'shape': (%lld,), }", type, count);
    out[10 + n] = ' ';
    out[HEADER_BYTES - 1] = '\n';
}

int ix_create_table(const char *path, enum ix_table table, const void *rows, size_t here,
                    size_t total)
{
    static const char *const types[] = {row_type, rank_type};
    static const size_t row_bytes[] = {sizeof(ix_row), sizeof(ix_rank_row)};
    char header[HEADER_BYTES];
    npy_header(header, types[table], (long long)total);
    FILE *f = fopen(path, "w");
    if (!f)
        return -1;
    fwrite(header, 1, HEADER_BYTES, f);
    if (here)
        fwrite(rows, row_bytes[table], here, f);
    /* The others write into room that is there: a full disk shows here, not as a torn file. */
    int error = 0;
    if (!fflush(f) && here < total)
        error = posix_fallocate(fileno(f), 0, (off_t)(HEADER_BYTES + total * row_bytes[table]));
    int bad = ferror(f) || error == ENOSPC || error == EDQUOT || error == EFBIG;
    return fclose(f) || bad ? -1 : 0;
}

#ifdef IMBREX_SIMULATED

/* A simulator may have no MPI-IO. */
int ix_write_rows(const char *path, const ix_row *rows, size_t count, size_t before)
{
    const char *data = (const char *)rows;
    size_t bytes = count * sizeof *rows;
    off_t at = (off_t)(HEADER_BYTES + before * sizeof *rows);
    int file = open(path, O_WRONLY), fine = file >= 0;
    while (fine && bytes) {
        ssize_t done = pwrite(file, data, bytes, at);
        fine = done > 0;
        if (fine) {
            data += done;
            at += done;
            bytes -= (size_t)done;
        }
    }
    return file >= 0 && close(file) == 0 && fine ? 0 : -1;
}

#else

int ix_write_rows(const char *path, const ix_row *rows, size_t count, size_t before)
{
    MPI_File file;
    if (count == 0)
        return 0;
    if (PMPI_File_open(MPI_COMM_SELF, path, MPI_MODE_WRONLY, MPI_INFO_NULL, &file) != MPI_SUCCESS)
        return -1;
    int fine = 1;
    for (size_t done = 0, now; done < count && fine; done += now) {
        now = count - done < STEP_ROWS ? count - done : STEP_ROWS;
        MPI_Offset at = HEADER_BYTES + (MPI_Offset)((before + done) * sizeof *rows);
        int bytes = (int)(now * sizeof *rows), written = 0;
        MPI_Status status;
        fine = PMPI_File_write_at(file, at, rows + done, bytes, MPI_BYTE, &status) == MPI_SUCCESS &&
               PMPI_Get_count(&status, MPI_BYTE, &written) == MPI_SUCCESS && written == bytes;
    }
    return PMPI_File_close(&file) == MPI_SUCCESS && fine ? 0 : -1;
}

#endif
