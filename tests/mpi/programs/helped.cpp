// What a progress thread does for C++, two ranks: each posts a large message and then makes no call
// of MPI until the other's is there, which it looks for in its memory, or 20 s are over. As
// helped.c beside this it prints `moved` and `right`.
#include <mpi.h>

#include <chrono>
#include <iostream>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace
{
constexpr int words = 1 << 20;
constexpr std::chrono::seconds patience{20};

class World
{
  public:
    World(int *argc, char ***argv)
    {
        MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &level);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    }
    ~World()
    {
        MPI_Finalize();
    }
    int level = -1, rank = -1;
};

std::vector<int> message_of(int rank)
{
    std::vector<int> message(words);
    std::iota(message.begin(), message.end(), (rank + 1) * 1000003);
    return message;
}

bool everywhere(bool here)
{
    int mine = here, all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all != 0;
}
} // namespace

int main(int argc, char **argv)
{
    World world(&argc, &argv);
    const int other = 1 - world.rank;
    const std::vector<int> sent = message_of(world.rank), expected = message_of(other);
    std::vector<int> found(words, -1);
    MPI_Request requests[2];
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Irecv(found.data(), words, MPI_INT, other, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(sent.data(), words, MPI_INT, other, 0, MPI_COMM_WORLD, &requests[1]);
    const auto give_up = std::chrono::steady_clock::now() + patience;
    const volatile int *last = &found.back();
    while (*last == -1 && std::chrono::steady_clock::now() < give_up)
        continue;
    const bool moved = everywhere(*last != -1);
    try { // an exception of the program while its messages are open
        throw std::runtime_error("of the program");
    } catch (const std::runtime_error &) {
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    int level = -1;
    MPI_Query_thread(&level);
    const bool right = everywhere(found == expected && level == world.level);
    if (world.rank == 0)
        std::cout << (moved ? "moved" : "not moved") << '\n' << (right ? "right" : "wrong") << '\n';
    return 0;
}
