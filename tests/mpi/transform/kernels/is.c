/* In the style of NAS IS: keys are counted, sizes of buckets summed over all processes, counts and
   keys sent to their owners by Alltoall and Alltoallv. Each key that arrives lies in the range of
   its owner, and none is lost. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define TOTAL_KEYS 4096
#define MAX_PROCS 16
#define BUCKETS 64
#define MAX_KEY 2048
#define ITERATIONS 4
#define KEY_TYPE MPI_INT
typedef int INT_TYPE;

int my_rank, comm_size, NUM_KEYS;
INT_TYPE key_array[TOTAL_KEYS], key_buff1[TOTAL_KEYS], key_buff2[4 * TOTAL_KEYS],
    bucket_size[BUCKETS + 1], bucket_size_totals[BUCKETS + 1], bucket_ptrs[BUCKETS],
    histogram[MAX_KEY];
int send_count[MAX_PROCS], recv_count[MAX_PROCS], send_displ[MAX_PROCS], recv_displ[MAX_PROCS];

static void create_seq(int seed)
{
    unsigned value = 12345u + 77u * (unsigned)seed;
    for (int i = 0; i < NUM_KEYS; i++) {
        value = value * 1103515245u + 12345u;
        key_array[i] = (INT_TYPE)((value >> 8) % MAX_KEY);
    }
}

static long rank_keys(int iteration)
{
    int i, j, k, shift = MAX_KEY / BUCKETS, first, last;
    long check = 0;
    key_array[iteration] = iteration;
    key_array[iteration + ITERATIONS] = MAX_KEY - 1 - iteration;
    for (i = 0; i < BUCKETS; i++)
        bucket_size[i] = 0;
    for (i = 0; i < NUM_KEYS; i++)
        bucket_size[key_array[i] / shift]++;
    bucket_size[BUCKETS] = key_array[iteration];
    MPI_Allreduce(bucket_size, bucket_size_totals, BUCKETS + 1, KEY_TYPE, MPI_SUM, MPI_COMM_WORLD);
    bucket_ptrs[0] = 0;
    for (i = 1; i < BUCKETS; i++)
        bucket_ptrs[i] = bucket_ptrs[i - 1] + bucket_size[i - 1];
    for (i = 0; i < NUM_KEYS; i++) {
        INT_TYPE key = key_array[i];
        key_buff1[bucket_ptrs[key / shift]++] = key;
    }
    for (j = 0, i = 0; j < comm_size; j++) {
        send_count[j] = 0;
        for (k = 0; k < BUCKETS / comm_size; k++)
            send_count[j] += bucket_size[i++];
    }
    send_displ[0] = 0;
    for (j = 1; j < comm_size; j++)
        send_displ[j] = send_displ[j - 1] + send_count[j - 1];
    MPI_Alltoall(send_count, 1, MPI_INT, recv_count, 1, MPI_INT, MPI_COMM_WORLD);
    for (i = 0; i < MAX_KEY; i++)
        histogram[i] = 0;
    recv_displ[0] = 0;
    for (j = 1; j < comm_size; j++)
        recv_displ[j] = recv_displ[j - 1] + recv_count[j - 1];
    MPI_Alltoallv(key_buff1, send_count, send_displ, KEY_TYPE, key_buff2, recv_count, recv_displ,
                  KEY_TYPE, MPI_COMM_WORLD);
    for (i = 0; i < BUCKETS; i++)
        check += (long)(i + 1) * bucket_size_totals[i];
    first = my_rank * (BUCKETS / comm_size) * shift;
    last = (my_rank + 1) * (BUCKETS / comm_size) * shift;
    k = recv_displ[comm_size - 1] + recv_count[comm_size - 1];
    for (i = 0; i < k; i++) {
        if (key_buff2[i] < first || key_buff2[i] >= last)
            check -= 1000000000L;
        histogram[key_buff2[i]]++;
    }
    for (i = first; i < last; i++)
        check += (long)(i % 97) * histogram[i];
    return check;
}

int main(int argc, char **argv)
{
    long check = 0;
    int keys, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &comm_size);
    NUM_KEYS = TOTAL_KEYS / comm_size;
    create_seq(my_rank);
    for (int iteration = 0; iteration < ITERATIONS; iteration++)
        check += rank_keys(iteration);
    keys = recv_displ[comm_size - 1] + recv_count[comm_size - 1];
    MPI_Reduce(&keys, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (my_rank == 0)
        printf("is: wrong values %d\n", all - NUM_KEYS * comm_size);
    printf("is: rank %d sum %ld\n", my_rank, check);
    MPI_Finalize();
    return 0;
}
