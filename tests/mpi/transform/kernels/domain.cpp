// In the style of hydrodynamics proxies: requests and buffers belong to an object, a method posts
// receives, one sends, one waits and unpacks. Values at nodes are known after each step.
#include <mpi.h>
#include <cstdio>

const int N = 400, PLANE = 20, STEPS = 5;

class Domain
{
  public:
    MPI_Request recvRequest[2], sendRequest[2];
    double recvBuffer[2 * PLANE], sendBuffer[2 * PLANE];
    double value[N], force[N], work[N];
    int rank, ranks, left, right;

    void init()
    {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &ranks);
        left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
        right = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;
        for (int i = 0; i < N; i++) {
            value[i] = rank + 1;
            work[i] = i;
            force[i] = 0;
        }
    }
    void postReceives()
    {
        MPI_Irecv(&recvBuffer[0], PLANE, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &recvRequest[0]);
        MPI_Irecv(&recvBuffer[PLANE], PLANE, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &recvRequest[1]);
    }
    void sendPlanes()
    {
        for (int i = 0; i < PLANE; i++) {
            sendBuffer[i] = value[i];
            sendBuffer[PLANE + i] = value[N - PLANE + i];
        }
        MPI_Isend(&sendBuffer[0], PLANE, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &sendRequest[0]);
        MPI_Isend(&sendBuffer[PLANE], PLANE, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &sendRequest[1]);
        MPI_Waitall(2, sendRequest, MPI_STATUSES_IGNORE);
    }
    void receivePlanes()
    {
        MPI_Wait(&recvRequest[0], MPI_STATUS_IGNORE);
        if (left != MPI_PROC_NULL)
            for (int i = 0; i < PLANE; i++)
                force[i] += recvBuffer[i];
        MPI_Wait(&recvRequest[1], MPI_STATUS_IGNORE);
        if (right != MPI_PROC_NULL)
            for (int i = 0; i < PLANE; i++)
                force[N - PLANE + i] += recvBuffer[PLANE + i];
    }
    void calcForce()
    {
        for (int i = 0; i < N; i++)
            force[i] = 0;
        for (int i = 0; i < N; i++)
            work[i] = 0.5 * work[i] + 1.0;
    }
    void advance()
    {
        for (int i = 0; i < N; i++)
            value[i] = value[i] + 0.5 * force[i];
    }
};

static Domain domain;

int main(int argc, char **argv)
{
    int wrong = 0, all = 0;
    double sum = 0;
    MPI_Init(&argc, &argv);
    domain.init();
    for (int step = 0; step < STEPS; step++) {
        domain.postReceives();
        domain.calcForce();
        domain.sendPlanes();
        domain.receivePlanes();
        domain.advance();
    }
    for (int i = PLANE; i < N - PLANE; i++)
        wrong += domain.value[i] != domain.rank + 1;
    for (int i = 0; i < N; i++)
        sum += domain.value[i] + domain.work[i];
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (domain.rank == 0)
        std::printf("domain: wrong values %d\n", all);
    std::printf("domain: rank %d sum %.17g\n", domain.rank, sum);
    MPI_Finalize();
    return 0;
}
