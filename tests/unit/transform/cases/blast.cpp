// In the style of shock-hydrodynamics mini-apps: receives posted, packed and sent, awaited later.
#include <cstdio>
#include <mpi.h>
#include <vector>

#define CACHE_COHERENCE_PAD_REAL 8
typedef double Real_t;
typedef int Index_t;
typedef Real_t &(*Domain_member)(void *, Index_t);

class Domain
{
  public:
    Domain(int n, int rank, int size)
        : n(n), m_rank(rank), m_size(size), m_fx((n + 1) * (n + 1)), m_e(n * n), m_p(n * n),
          m_q(n * n)
    {
        commDataSend = new Real_t[2 * (n + 1) + 16];
        commDataRecv = new Real_t[2 * (n + 1) + 16];
        for (int i = 0; i < (n + 1) * (n + 1); i++)
            m_fx[i] = (i * 3 + rank) % 7;
        for (int i = 0; i < n * n; i++)
            m_e[i] = i % 5;
    }
    Real_t &fx(Index_t i)
    {
        return m_fx[i];
    }
    Real_t &e(Index_t i)
    {
        return m_e[i];
    }
    Real_t &p(Index_t i)
    {
        return m_p[i];
    }
    Real_t &q(Index_t i)
    {
        return m_q[i];
    }
    int n, m_rank, m_size;
    Real_t *commDataSend, *commDataRecv;
    MPI_Request recvRequest[2], sendRequest[2];
    std::vector<Real_t> m_fx, m_e, m_p, m_q;
};

static void CommRecv(Domain &domain, int msgType, Index_t dx)
{
    for (int i = 0; i < 2; ++i)
        domain.recvRequest[i] = MPI_REQUEST_NULL;
    if (domain.m_rank > 0)
        MPI_Irecv(&domain.commDataRecv[0], dx, MPI_DOUBLE, domain.m_rank - 1, msgType,
                  MPI_COMM_WORLD, &domain.recvRequest[0]);
    if (domain.m_rank < domain.m_size - 1)
        MPI_Irecv(&domain.commDataRecv[dx], dx, MPI_DOUBLE, domain.m_rank + 1, msgType,
                  MPI_COMM_WORLD, &domain.recvRequest[1]);
}

static void CommSend(Domain &domain, int msgType, Index_t dx)
{
    MPI_Status status[2];
    for (int i = 0; i < 2; ++i)
        domain.sendRequest[i] = MPI_REQUEST_NULL;
    if (domain.m_rank > 0) {
        Real_t *destAddr = domain.commDataSend;
        for (Index_t i = 0; i < dx; ++i)
            destAddr[i] = domain.fx(i);
        MPI_Isend(destAddr, dx, MPI_DOUBLE, domain.m_rank - 1, msgType, MPI_COMM_WORLD,
                  &domain.sendRequest[0]);
    }
    if (domain.m_rank < domain.m_size - 1) {
        Real_t *destAddr = &domain.commDataSend[dx];
        for (Index_t i = 0; i < dx; ++i)
            destAddr[i] = domain.fx(dx * (dx - 1) + i);
        MPI_Isend(destAddr, dx, MPI_DOUBLE, domain.m_rank + 1, msgType, MPI_COMM_WORLD,
                  &domain.sendRequest[1]);
    }
    MPI_Waitall(2, domain.sendRequest, status);
}

static void CommSBN(Domain &domain, Index_t dx)
{
    MPI_Status status;
    if (domain.m_rank > 0) {
        Real_t *srcAddr = domain.commDataRecv;
        MPI_Wait(&domain.recvRequest[0], &status);
        for (Index_t i = 0; i < dx; ++i)
            domain.fx(i) += srcAddr[i];
    }
    if (domain.m_rank < domain.m_size - 1) {
        Real_t *srcAddr = &domain.commDataRecv[dx];
        MPI_Wait(&domain.recvRequest[1], &status);
        for (Index_t i = 0; i < dx; ++i)
            domain.fx(dx * (dx - 1) + i) += srcAddr[i];
    }
}

static void CalcForce(Domain &domain)
{
    for (Index_t i = 0; i < (domain.n + 1) * (domain.n + 1); ++i)
        domain.fx(i) = 0.5 * domain.fx(i) + 1;
}
static void CalcEnergy(Domain &domain)
{
    for (Index_t i = 0; i < domain.n * domain.n; ++i)
        domain.e(i) = 0.9 * domain.e(i) + 0.1 * domain.p(i);
}
static void CalcPressure(Domain &domain)
{
    for (Index_t i = 0; i < domain.n * domain.n; ++i)
        domain.p(i) = 0.3 * domain.fx(i) + domain.q(i);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    Domain domain(24, rank, size);
    for (int step = 0; step < 5; ++step) {
        CommRecv(domain, 1, 25);
        CalcForce(domain);
        CommSend(domain, 1, 25);
        CommSBN(domain, 25);
        CalcEnergy(domain);
        CalcPressure(domain);
    }
    double s = 0;
    for (int i = 0; i < 25 * 25; i++)
        s += domain.fx(i);
    for (int i = 0; i < 24 * 24; i++)
        s += domain.e(i) + domain.p(i);
    std::printf("blast: rank %d %.12g\n", rank, s);
    MPI_Finalize();
    return 0;
}
