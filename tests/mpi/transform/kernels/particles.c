/* In the style of molecular-dynamics proxies: a wrapper of MPI_Sendrecv that returns how much came,
   called by an exchange along each axis whose buffers are allocated; and a sum over all. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define CELLS 64
#define STEPS 5

static int my_rank, ranks;

static int sendReceive(void *sendBuf, int sendLen, int dest, void *recvBuf, int recvLen, int source)
{
    int bytesReceived;
    MPI_Status status;
    MPI_Sendrecv(sendBuf, sendLen, MPI_BYTE, dest, 0, recvBuf, recvLen, MPI_BYTE, source, 0,
                 MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &bytesReceived);
    return bytesReceived;
}

static void addDouble(double *sendBuf, double *recvBuf, int count)
{
    MPI_Allreduce(sendBuf, recvBuf, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

typedef struct {
    int nbr[2];
    double *sendBufM, *sendBufP, *recvBufM, *recvBufP;
} HaloExchange;

static double atoms[CELLS + 2][4], velocity[CELLS + 2][4];

static int loadBuffer(double *buf, int cell)
{
    for (int i = 0; i < 4; i++)
        buf[i] = atoms[cell][i];
    return 4 * (int)sizeof(double);
}

static void unloadBuffer(const double *buf, int bytes, int cell)
{
    int n = bytes / (int)sizeof(double);
    for (int i = 0; i < n; i++)
        atoms[cell][i] = buf[i];
}

static void exchangeData(HaloExchange *halo)
{
    int nSendM = loadBuffer(halo->sendBufM, 1);
    int nSendP = loadBuffer(halo->sendBufP, CELLS);
    int nRecvP =
        sendReceive(halo->sendBufM, nSendM, halo->nbr[0], halo->recvBufP, 64, halo->nbr[1]);
    int nRecvM =
        sendReceive(halo->sendBufP, nSendP, halo->nbr[1], halo->recvBufM, 64, halo->nbr[0]);
    unloadBuffer(halo->recvBufM, nRecvM, 0);
    unloadBuffer(halo->recvBufP, nRecvP, CELLS + 1);
}

static void advanceVelocity(void)
{
    for (int c = 1; c <= CELLS; c++)
        for (int i = 0; i < 4; i++)
            velocity[c][i] = 0.5 * velocity[c][i] + 1.0;
}

static void computeForce(void)
{
    for (int i = 0; i < 4; i++) {
        double before = atoms[0][i];
        for (int c = 1; c <= CELLS; c++) {
            double now = atoms[c][i];
            atoms[c][i] = 0.25 * before + 0.5 * now + 0.25 * atoms[c + 1][i];
            before = now;
        }
    }
}

int main(int argc, char **argv)
{
    HaloExchange halo;
    double sum = 0, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    halo.nbr[0] = (my_rank + ranks - 1) % ranks;
    halo.nbr[1] = (my_rank + 1) % ranks;
    halo.sendBufM = malloc(64);
    halo.sendBufP = malloc(64);
    halo.recvBufM = malloc(64);
    halo.recvBufP = malloc(64);
    for (int c = 0; c < CELLS + 2; c++)
        for (int i = 0; i < 4; i++)
            atoms[c][i] = (c * 7 + i * 3 + my_rank * 5) % 16;
    for (int step = 0; step < STEPS; step++) {
        exchangeData(&halo);
        advanceVelocity();
        computeForce();
    }
    for (int c = 1; c <= CELLS; c++)
        for (int i = 0; i < 4; i++)
            sum += atoms[c][i] + velocity[c][i];
    addDouble(&sum, &all, 1);
    if (my_rank == 0)
        printf("particles: sum of all %.12g\n", all);
    printf("particles: rank %d sum %.17g\n", my_rank, sum);
    MPI_Finalize();
    return 0;
}
