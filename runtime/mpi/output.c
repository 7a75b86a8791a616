#define _GNU_SOURCE
#include "output.h"

#include <stdio.h>
#include <string.h>

#define HEADER_BYTES 1024
#define STEP_BYTES (1 << 28) /* MPI counts are ints */

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

static int all_fine(MPI_Comm all, int mine)
{
    int everybody = 0;
    return PMPI_Allreduce(&mine, &everybody, 1, MPI_INT, MPI_MIN, all) == MPI_SUCCESS && everybody;
}

static int write_array(MPI_Comm all, const char *path, const char *type, const char *data,
                       size_t row_bytes, size_t count)
{
    int rank;
    long long mine = (long long)count, before = 0, total = 0, longest = 0;
    PMPI_Comm_rank(all, &rank);
    PMPI_Exscan(&mine, &before, 1, MPI_LONG_LONG, MPI_SUM, all);
    if (rank == 0)
        before = 0;
    PMPI_Allreduce(&mine, &total, 1, MPI_LONG_LONG, MPI_SUM, all);
    PMPI_Allreduce(&mine, &longest, 1, MPI_LONG_LONG, MPI_MAX, all);

    MPI_File file;
    int opened = PMPI_File_open(all, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                                &file) == MPI_SUCCESS;
    if (!all_fine(all, opened)) {
        if (opened)
            PMPI_File_close(&file);
        return -1;
    }
    int fine = PMPI_File_set_size(file, 0) == MPI_SUCCESS;
    if (rank == 0) {
        char header[HEADER_BYTES];
        MPI_Status status;
        npy_header(header, type, total);
        fine =
            PMPI_File_write_at(file, 0, header, HEADER_BYTES, MPI_BYTE, &status) == MPI_SUCCESS &&
            fine;
    }
    size_t bytes = count * row_bytes, done = 0;
    MPI_Offset at = HEADER_BYTES + (MPI_Offset)before * (MPI_Offset)row_bytes;
    for (long long step = 0; step * STEP_BYTES < longest * (long long)row_bytes; step++) {
        size_t now = bytes - done < STEP_BYTES ? bytes - done : STEP_BYTES;
        MPI_Status status;
        int written = 0;
        int rc = PMPI_File_write_at_all(file, at + (MPI_Offset)done, data + done, (int)now,
                                        MPI_BYTE, &status);
        if (rc == MPI_SUCCESS && now)
            PMPI_Get_count(&status, MPI_BYTE, &written);
        if (rc != MPI_SUCCESS || (size_t)written != now)
            fine = 0;
        done += now;
    }
    fine = PMPI_File_close(&file) == MPI_SUCCESS && fine;
    return all_fine(all, fine) ? 0 : -1;
}

int ix_write_measures(MPI_Comm all, const char *path, const ix_row *rows, size_t count)
{
    return write_array(all, path, row_type, (const char *)rows, sizeof *rows, count);
}

int ix_write_ranks(MPI_Comm all, const char *path, const ix_rank_row *row)
{
    return write_array(all, path, rank_type, (const char *)row, sizeof *row, 1);
}
