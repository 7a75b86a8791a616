/* Cells with particles; a halo exchange along each axis, with functions that load and unload. */
#include <assert.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAXATOMS 8
enum HaloFaceOrder { HALO_X_MINUS, HALO_X_PLUS, HALO_Y_MINUS, HALO_Y_PLUS };

typedef struct LinkCellSt {
    int gridSize[2];
    int nTotalBoxes;
    int *nAtoms;
} LinkCell;

typedef struct AtomsSt {
    double *r, *f;
    int *gid;
} Atoms;

typedef struct AtomMsgSt {
    int gid;
    double r;
} AtomMsg;

typedef struct AtomExchangeParmsSt {
    int nCells[4];
    int *cellList[4];
} AtomExchangeParms;

typedef struct HaloExchangeSt {
    int nbrRank[4];
    int bufCapacity;
    int (*loadBuffer)(void *parms, void *data, int face, char *buf);
    void (*unloadBuffer)(void *parms, void *data, int face, int bufSize, char *buf);
    void *parms;
} HaloExchange;

typedef struct SimFlatSt {
    LinkCell *boxes;
    Atoms *atoms;
    HaloExchange *atomExchange;
    double ePotential;
} SimFlat;

static int myRank = 0, nRanks = 1;

int sendReceiveParallel(void *sendBuf, int sendLen, int dest, void *recvBuf, int recvLen,
                        int source)
{
    int bytesReceived;
    MPI_Status status;
    MPI_Sendrecv(sendBuf, sendLen, MPI_BYTE, dest, 0, recvBuf, recvLen, MPI_BYTE, source, 0,
                 MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &bytesReceived);
    return bytesReceived;
}

void addRealParallel(double *sendBuf, double *recvBuf, int count)
{
    MPI_Allreduce(sendBuf, recvBuf, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static int boxOf(LinkCell *b, int i, int j)
{
    return (i + 1) * (b->gridSize[1] + 2) + j + 1;
}

int loadAtomsBuffer(void *vparms, void *data, int face, char *charBuf)
{
    AtomExchangeParms *parms = (AtomExchangeParms *)vparms;
    SimFlat *s = (SimFlat *)data;
    AtomMsg *buf = (AtomMsg *)charBuf;
    int nCells = parms->nCells[face];
    int *cellList = parms->cellList[face];
    int nBuf = 0;
    for (int iCell = 0; iCell < nCells; ++iCell) {
        int iBox = cellList[iCell];
        int iOff = iBox * MAXATOMS;
        for (int ii = iOff; ii < iOff + s->boxes->nAtoms[iBox]; ++ii) {
            buf[nBuf].gid = s->atoms->gid[ii];
            buf[nBuf].r = s->atoms->r[ii];
            ++nBuf;
        }
    }
    return nBuf * sizeof(AtomMsg);
}

void unloadAtomsBuffer(void *vparms, void *data, int face, int bufSize, char *charBuf)
{
    SimFlat *s = (SimFlat *)data;
    AtomMsg *buf = (AtomMsg *)charBuf;
    int nBuf = bufSize / sizeof(AtomMsg);
    int nx = s->boxes->gridSize[0], ny = s->boxes->gridSize[1];
    (void)vparms;
    for (int ii = 0; ii < nBuf; ++ii) {
        int k = ii / MAXATOMS, iBox;
        if (face == HALO_X_MINUS)
            iBox = boxOf(s->boxes, -1, k);
        else if (face == HALO_X_PLUS)
            iBox = boxOf(s->boxes, nx, k);
        else if (face == HALO_Y_MINUS)
            iBox = boxOf(s->boxes, k - 1, -1);
        else
            iBox = boxOf(s->boxes, k - 1, ny);
        s->atoms->r[iBox * MAXATOMS + ii % MAXATOMS] = buf[ii].r;
        s->atoms->gid[iBox * MAXATOMS + ii % MAXATOMS] = buf[ii].gid;
    }
}

static void exchangeData(HaloExchange *haloExchange, void *data, int iAxis)
{
    int faceM = 2 * iAxis;
    int faceP = faceM + 1;
    char *sendBufM = malloc(haloExchange->bufCapacity);
    char *sendBufP = malloc(haloExchange->bufCapacity);
    char *recvBufM = malloc(haloExchange->bufCapacity);
    char *recvBufP = malloc(haloExchange->bufCapacity);
    int nSendM = haloExchange->loadBuffer(haloExchange->parms, data, faceM, sendBufM);
    int nSendP = haloExchange->loadBuffer(haloExchange->parms, data, faceP, sendBufP);
    int nbrRankM = haloExchange->nbrRank[faceM];
    int nbrRankP = haloExchange->nbrRank[faceP];
    int nRecvM, nRecvP;
    nRecvP = sendReceiveParallel(sendBufM, nSendM, nbrRankM, recvBufP, haloExchange->bufCapacity,
                                 nbrRankP);
    nRecvM = sendReceiveParallel(sendBufP, nSendP, nbrRankP, recvBufM, haloExchange->bufCapacity,
                                 nbrRankM);
    haloExchange->unloadBuffer(haloExchange->parms, data, faceM, nRecvM, recvBufM);
    haloExchange->unloadBuffer(haloExchange->parms, data, faceP, nRecvP, recvBufP);
    free(recvBufP);
    free(recvBufM);
    free(sendBufP);
    free(sendBufM);
}

void haloExchange(HaloExchange *h, void *data)
{
    for (int iAxis = 0; iAxis < 2; ++iAxis)
        exchangeData(h, data, iAxis);
}

static int *cellsOf(LinkCell *b, int face, int *n)
{
    int nx = b->gridSize[0], ny = b->gridSize[1];
    int *list = malloc(sizeof(int) * (nx + ny + 4));
    *n = 0;
    if (face == HALO_X_MINUS || face == HALO_X_PLUS)
        for (int j = 0; j < ny; j++)
            list[(*n)++] = boxOf(b, face == HALO_X_MINUS ? 0 : nx - 1, j);
    else
        for (int i = -1; i <= nx; i++)
            list[(*n)++] = boxOf(b, i, face == HALO_Y_MINUS ? 0 : ny - 1);
    return list;
}

static HaloExchange *initHalo(LinkCell *b)
{
    HaloExchange *h = malloc(sizeof(HaloExchange));
    AtomExchangeParms *p = malloc(sizeof(AtomExchangeParms));
    h->nbrRank[0] = (myRank + nRanks - 1) % nRanks;
    h->nbrRank[1] = (myRank + 1) % nRanks;
    h->nbrRank[2] = h->nbrRank[3] = myRank;
    h->bufCapacity = (b->gridSize[0] + b->gridSize[1] + 4) * MAXATOMS * sizeof(AtomMsg);
    h->loadBuffer = loadAtomsBuffer;
    h->unloadBuffer = unloadAtomsBuffer;
    for (int face = 0; face < 4; face++)
        p->cellList[face] = cellsOf(b, face, &p->nCells[face]);
    h->parms = p;
    return h;
}

static void kinetic(SimFlat *s, double *v)
{
    int nx = s->boxes->gridSize[0], ny = s->boxes->gridSize[1];
    for (int i = 0; i < nx * ny * MAXATOMS; i++)
        v[i] = 0.5 * v[i] + 1;
    (void)s;
}

static void computeForce(SimFlat *s)
{
    LinkCell *b = s->boxes;
    for (int i = 0; i < b->gridSize[0]; i++)
        for (int j = 0; j < b->gridSize[1]; j++)
            for (int a = 0; a < MAXATOMS; a++)
                s->atoms->f[boxOf(b, i, j) * MAXATOMS + a] =
                    s->atoms->r[boxOf(b, i - 1, j) * MAXATOMS + a] +
                    s->atoms->r[boxOf(b, i + 1, j) * MAXATOMS + a] +
                    s->atoms->r[boxOf(b, i, j - 1) * MAXATOMS + a] +
                    s->atoms->r[boxOf(b, i, j + 1) * MAXATOMS + a];
}

static void advance(SimFlat *s, const double *v)
{
    LinkCell *b = s->boxes;
    for (int i = 0; i < b->nTotalBoxes * MAXATOMS; i++)
        s->atoms->r[i] = 0.25 * s->atoms->f[i] + 0.001 * v[0];
}

int main(int argc, char **argv)
{
    SimFlat *sim = malloc(sizeof(SimFlat));
    double *v, sum = 0, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &myRank);
    MPI_Comm_size(MPI_COMM_WORLD, &nRanks);
    sim->boxes = malloc(sizeof(LinkCell));
    sim->boxes->gridSize[0] = 6;
    sim->boxes->gridSize[1] = 5;
    sim->boxes->nTotalBoxes = 8 * 7;
    sim->boxes->nAtoms = malloc(sizeof(int) * 56);
    sim->atoms = malloc(sizeof(Atoms));
    sim->atoms->r = malloc(sizeof(double) * 56 * MAXATOMS);
    sim->atoms->f = calloc(56 * MAXATOMS, sizeof(double));
    sim->atoms->gid = malloc(sizeof(int) * 56 * MAXATOMS);
    v = calloc(56 * MAXATOMS, sizeof(double));
    for (int i = 0; i < 56; i++)
        sim->boxes->nAtoms[i] = MAXATOMS;
    for (int i = 0; i < 56 * MAXATOMS; i++) {
        sim->atoms->gid[i] = i;
        sim->atoms->r[i] = (i * 7 + myRank * 3) % 11;
    }
    sim->atomExchange = initHalo(sim->boxes);
    for (int step = 0; step < 5; step++) {
        haloExchange(sim->atomExchange, sim);
        kinetic(sim, v);
        computeForce(sim);
        advance(sim, v);
    }
    for (int i = 0; i < 56 * MAXATOMS; i++)
        sum += sim->atoms->r[i] + sim->atoms->gid[i];
    printf("atoms: rank %d %.12g\n", myRank, sum);
    addRealParallel(&sum, &all, 1);
    if (myRank == 0)
        printf("atoms: all %.10g\n", all);
    MPI_Finalize();
    return 0;
}
