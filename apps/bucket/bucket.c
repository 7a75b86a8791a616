/* Bucket sort of integer keys, as in the IS kernel of the NAS benchmarks. Each iteration changes
 * two keys, counts the keys of each bucket (MPI_Allreduce), gives each rank a run of buckets with
 * about the same number of keys, sends the keys there (MPI_Alltoall of the counts, MPI_Alltoallv of
 * the keys) and ranks them by counting.
 *
 * The checksum of the sorted sequence depends neither on the number of ranks nor on rounding. */
#include "../common/options.h"
#include <stdint.h>

enum { BUCKETS = 1024 };
static const uint64_t modulus = (UINT64_C(1) << 50) - 27;

struct sorter {
    int rank, size;
    int log_max_key, shift; /* keys are below 2^log_max_key; key >> shift is the bucket */
    int count;              /* keys that this rank holds unsorted */
    int *keys, *by_bucket;
    int received, capacity; /* keys that it received */
    int *received_keys;
    int first_key, last_key; /* the run of keys that this rank ranks: first .. last - 1 */
    int *key_count;          /* how many of each, then how many up to and including it */
};

static void *need(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory)
        MPI_Abort(MPI_COMM_WORLD, 3);
    return memory;
}

/* Key number i: bell-shaped, the mean of four pseudo-random numbers. */
static int make_key(uint64_t i, int log_max_key)
{
    double sum = 0.0;
    for (uint64_t k = 0; k < 4; k++) {
        uint64_t z = 4 * i + k + UINT64_C(0x9e3779b97f4a7c15);
        z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
        sum += (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
    }
    return (int)(0.25 * sum * (double)(1 << log_max_key));
}

/* Sends every key to the rank of its bucket. */
static void distribute(struct sorter *s, int *send_counts, int *send_starts, int *recv_counts,
                       int *recv_starts)
{
    int local[BUCKETS] = {0}, total[BUCKETS], start[BUCKETS];
    for (int i = 0; i < s->count; i++)
        local[s->keys[i] >> s->shift]++;
    MPI_Allreduce(local, total, BUCKETS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);

    start[0] = 0;
    for (int b = 1; b < BUCKETS; b++)
        start[b] = start[b - 1] + local[b - 1];
    for (int i = 0; i < s->count; i++)
        s->by_bucket[start[s->keys[i] >> s->shift]++] = s->keys[i];

    /* rank r takes buckets until the keys up to there are its share */
    long all = 0, sum = 0;
    for (int b = 0; b < BUCKETS; b++)
        all += total[b];
    int b = 0;
    for (int r = 0; r < s->size; r++) {
        int first = b;
        send_counts[r] = 0;
        while (b < BUCKETS && (r == s->size - 1 || sum < all * (r + 1) / s->size)) {
            sum += total[b];
            send_counts[r] += local[b++];
        }
        if (r == s->rank) {
            s->first_key = first << s->shift;
            s->last_key = b << s->shift;
        }
    }
    MPI_Alltoall(send_counts, 1, MPI_INT, recv_counts, 1, MPI_INT, MPI_COMM_WORLD);
    send_starts[0] = recv_starts[0] = 0;
    for (int r = 1; r < s->size; r++) {
        send_starts[r] = send_starts[r - 1] + send_counts[r - 1];
        recv_starts[r] = recv_starts[r - 1] + recv_counts[r - 1];
    }
    s->received = recv_starts[s->size - 1] + recv_counts[s->size - 1];
    if (s->received > s->capacity) {
        free(s->received_keys);
        s->capacity = s->received + s->received / 8;
        s->received_keys = need((size_t)s->capacity, sizeof(int));
    }
    MPI_Alltoallv(s->by_bucket, send_counts, send_starts, MPI_INT, s->received_keys, recv_counts,
                  recv_starts, MPI_INT, MPI_COMM_WORLD);
}

/* Ranks the received keys: key_count[k] becomes the number of keys up to and including k. */
static void rank_keys(struct sorter *s)
{
    int keys = s->last_key - s->first_key;
    for (int k = 0; k < keys; k++)
        s->key_count[k] = 0;
    for (int i = 0; i < s->received; i++)
        s->key_count[s->received_keys[i] - s->first_key]++;
    for (int k = 1; k < keys; k++)
        s->key_count[k] += s->key_count[k - 1];
}

static uint64_t add_mod(uint64_t a, uint64_t b)
{
    return (a + b) % modulus;
}

/* Writes the sorted sequence out and checks it; returns its checksum, and in *good the verdict. */
static uint64_t check(struct sorter *s, int *good)
{
    int *sorted = need((size_t)s->received, sizeof(int));
    for (int i = s->received - 1; i >= 0; i--)
        sorted[--s->key_count[s->received_keys[i] - s->first_key]] = s->received_keys[i];

    long received = s->received, before = 0;
    int largest = s->received ? sorted[s->received - 1] : -1, largest_before = -1;
    MPI_Exscan(&received, &before, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Exscan(&largest, &largest_before, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (s->rank == 0)
        largest_before = -1;

    int wrong = 0, last = largest_before;
    uint64_t sums[5] = {0};
    for (int i = 0; i < s->received; i++) {
        uint64_t key = (uint64_t)sorted[i], position = (uint64_t)(before + i + 1);
        wrong += sorted[i] < last;
        last = sorted[i];
        sums[0] = add_mod(sums[0], (uint64_t)((unsigned __int128)key * position % modulus));
        sums[1] = add_mod(sums[1], key);
        sums[2] = add_mod(sums[2], key * key % modulus);
    }
    for (int i = 0; i < s->count; i++) {
        uint64_t key = (uint64_t)s->keys[i];
        sums[3] = add_mod(sums[3], key);
        sums[4] = add_mod(sums[4], key * key % modulus);
    }
    uint64_t total[5];
    long counts[3] = {wrong, s->received, s->count}, all[3];
    MPI_Allreduce(sums, total, 5, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(counts, all, 3, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    *good = all[0] == 0 && all[1] == all[2] && total[1] % modulus == total[3] % modulus &&
            total[2] % modulus == total[4] % modulus;
    free(sorted);
    return total[0] % modulus;
}

int main(int argc, char **argv)
{
    long log_keys = 20, log_max_key = 16, iterations = 10;
    struct app_option options[] = {
        {"log-keys", OPTION_LONG, &log_keys, "log2 of the number of keys"},
        {"log-max", OPTION_LONG, &log_max_key, "log2 of the largest key"},
        {"iterations", OPTION_LONG, &iterations, "times the keys are ranked"},
    };
    MPI_Init(&argc, &argv);
    options_parse(argc, argv, "bucket: bucket sort of integer keys", options, 3);

    struct sorter s = {0};
    MPI_Comm_rank(MPI_COMM_WORLD, &s.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &s.size);
    if (log_keys < 4 || log_keys > 30 || log_max_key < 10 || log_max_key > 28 || iterations < 1 ||
        (1L << log_keys) < 4L * s.size)
        options_refuse(s.rank, "--log-keys, --log-max or --iterations out of range for", argv[0]);
    long keys = 1L << log_keys, first = keys * s.rank / s.size;
    s.log_max_key = (int)log_max_key;
    s.shift = (int)log_max_key - 10;
    s.count = (int)(keys * (s.rank + 1) / s.size - first);
    s.capacity = s.count + s.count / 8;
    s.keys = need((size_t)s.count, sizeof(int));
    s.by_bucket = need((size_t)s.count, sizeof(int));
    s.received_keys = need((size_t)s.capacity, sizeof(int));
    s.key_count = need((size_t)1 << log_max_key, sizeof(int));
    int *counts = need(4 * (size_t)s.size, sizeof(int));
    for (int i = 0; i < s.count; i++)
        s.keys[i] = make_key((uint64_t)(first + i), s.log_max_key);

    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (long it = 1; it <= iterations; it++) {
        /* two keys change in each iteration: number `it`, and one half way */
        long change[2] = {it % keys, (it + keys / 2) % keys};
        int value[2] = {(int)(it % (1 << log_max_key)), (int)((1 << log_max_key) - it % 1000 - 1)};
        for (int c = 0; c < 2; c++)
            if (change[c] >= first && change[c] < first + s.count)
                s.keys[change[c] - first] = value[c];
        distribute(&s, counts, counts + s.size, counts + 2 * s.size, counts + 3 * s.size);
        rank_keys(&s);
    }
    double seconds = MPI_Wtime() - start;

    int good;
    uint64_t checksum = check(&s, &good);
    if (s.rank == 0)
        printf("bucket: %ld keys below %d, %ld iterations, %d ranks\ntime: %.6f s\n", keys,
               1 << log_max_key, iterations, s.size, seconds);
    int status = verification(s.rank, good, (double)checksum);
    free(s.keys);
    free(s.by_bucket);
    free(s.received_keys);
    free(s.key_count);
    free(counts);
    MPI_Finalize();
    return status;
}
