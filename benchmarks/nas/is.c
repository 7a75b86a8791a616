/* In the style of NAS IS: keys are counted, sizes of buckets summed over all processes, counts and
   keys sent to their owners by Alltoall and Alltoallv. Each key that arrives lies in the range of
   its owner, and none is lost. Sizes: -DTOTAL_KEYS=8388608 -DMAX_KEY=524288 is class A. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef TOTAL_KEYS
#define TOTAL_KEYS (1 << 23)
#define MAX_KEY (1 << 19)
#endif
#ifndef MIN_PROCS
#define MIN_PROCS 2
#endif
#define MAX_PROCS 64
#define BUCKETS 1024
#define ITERATIONS 5
#define ROOM (TOTAL_KEYS / MIN_PROCS)
#define KEY_TYPE MPI_INT
typedef int INT_TYPE;

int my_rank, comm_size, NUM_KEYS;
INT_TYPE key_array[ROOM], key_buff1[MAX_KEY], key_buff2[ROOM + ROOM / 2], key_buff3[ROOM],
    bucket_size[BUCKETS + 1], bucket_size_totals[BUCKETS + 1], bucket_ptrs[BUCKETS];
int send_count[MAX_PROCS], recv_count[MAX_PROCS], send_displ[MAX_PROCS], recv_displ[MAX_PROCS];
int process_bucket_distrib_ptr1[MAX_PROCS], process_bucket_distrib_ptr2[MAX_PROCS];

static void create_seq(int seed)
{
    unsigned long long value = 314159265ull + 77ull * (unsigned)seed;
    for (int i = 0; i < NUM_KEYS; i++) {
        int sum = 0;
        for (int j = 0; j < 4; j++) {
            value = value * 6364136223846793005ull + 1442695040888963407ull;
            sum += (int)((value >> 40) % (MAX_KEY / 4));
        }
        key_array[i] = sum;
    }
}

static long rank_keys(int iteration)
{
    int i, j, k, m, shift = MAX_KEY / BUCKETS;
    int min_key_val, max_key_val, bucket_sum_accumulator, local_bucket_sum_accumulator;
    long check = 0;
    key_array[iteration] = iteration;
    key_array[iteration + ITERATIONS] = MAX_KEY - 1 - iteration;
    for (i = 0; i <= BUCKETS; i++)
        bucket_size[i] = 0;
    for (i = 0; i < NUM_KEYS; i++)
        bucket_size[key_array[i] / shift]++;
    bucket_size[BUCKETS] = key_array[iteration];
    bucket_ptrs[0] = 0;
    for (i = 1; i < BUCKETS; i++)
        bucket_ptrs[i] = bucket_ptrs[i - 1] + bucket_size[i - 1];
    for (i = 0; i < NUM_KEYS; i++) {
        INT_TYPE key = key_array[i];
        key_buff3[bucket_ptrs[key / shift]++] = key;
    }
    MPI_Allreduce(bucket_size, bucket_size_totals, BUCKETS + 1, KEY_TYPE, MPI_SUM, MPI_COMM_WORLD);
    for (j = 0; j < comm_size; j++) {
        send_count[j] = 0;
        process_bucket_distrib_ptr1[j] = process_bucket_distrib_ptr2[j] = 0;
    }
    bucket_sum_accumulator = 0;
    local_bucket_sum_accumulator = 0;
    send_displ[0] = 0;
    process_bucket_distrib_ptr1[0] = 0;
    for (i = 0, j = 0; i < BUCKETS; i++) {
        bucket_sum_accumulator += bucket_size_totals[i];
        local_bucket_sum_accumulator += bucket_size[i];
        if (bucket_sum_accumulator >= (j + 1) * NUM_KEYS) {
            send_count[j] = local_bucket_sum_accumulator;
            if (j != 0) {
                send_displ[j] = send_displ[j - 1] + send_count[j - 1];
                process_bucket_distrib_ptr1[j] = process_bucket_distrib_ptr2[j - 1] + 1;
            }
            process_bucket_distrib_ptr2[j++] = i;
            local_bucket_sum_accumulator = 0;
        }
    }
    MPI_Alltoall(send_count, 1, MPI_INT, recv_count, 1, MPI_INT, MPI_COMM_WORLD);
    recv_displ[0] = 0;
    for (i = 1; i < comm_size; i++)
        recv_displ[i] = recv_displ[i - 1] + recv_count[i - 1];
    MPI_Alltoallv(key_buff3, send_count, send_displ, KEY_TYPE, key_buff2, recv_count, recv_displ,
                  KEY_TYPE, MPI_COMM_WORLD);
    min_key_val = process_bucket_distrib_ptr1[my_rank] * shift;
    max_key_val = (process_bucket_distrib_ptr2[my_rank] + 1) * shift - 1;
    for (i = 0; i < max_key_val - min_key_val + 1; i++)
        key_buff1[i] = 0;
    m = 0;
    for (k = 0; k < my_rank; k++)
        for (i = process_bucket_distrib_ptr1[k]; i <= process_bucket_distrib_ptr2[k]; i++)
            m += bucket_size_totals[i];
    j = 0;
    for (i = process_bucket_distrib_ptr1[my_rank]; i <= process_bucket_distrib_ptr2[my_rank]; i++)
        j += bucket_size_totals[i];
    for (i = 0; i < j; i++)
        key_buff1[key_buff2[i] - min_key_val]++;
    for (i = 0; i < max_key_val - min_key_val; i++)
        key_buff1[i + 1] += key_buff1[i];
    check = m + j + key_buff1[(max_key_val - min_key_val) / 2];
    return key_buff1[max_key_val - min_key_val] == j ? check : -1000000000L;
}

int main(int argc, char **argv)
{
    long check = 0, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &comm_size);
    if (comm_size < MIN_PROCS || comm_size > MAX_PROCS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    NUM_KEYS = TOTAL_KEYS / comm_size;
    create_seq(my_rank);
    rank_keys(0);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int iteration = 0; iteration < ITERATIONS; iteration++)
        check += rank_keys(iteration);
    double time = MPI_Wtime() - start;
    MPI_Reduce(&check, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (my_rank == 0) {
        printf("time: %.6f s\n", time);
        printf("verification: %s value=%ld\n", all > 0 ? "PASSED" : "FAILED", all);
    }
    MPI_Finalize();
    return 0;
}
