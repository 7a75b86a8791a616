/* A window, and puts and gets between fences. */
#include "program.h"

enum { PUTS = 8 };

void round_of_puts(int *serial)
{
    MPI_Win win;
    CALL(MPI_Win_create(other, BIG, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CALL(MPI_Win_fence(0, win));
    for (int epoch = 0; epoch < 2; epoch++) {
        int count = 1 + (int)draw(PUTS);
        for (int i = 0; i < count; i++) {
            int from = (int)draw((uint32_t)ranks), get = draw(3) == 0;
            int to = (from + 1 + (int)draw((uint32_t)ranks - 1)) % ranks;
            int n = unique_size(serial, (int)draw(2));
            if (draw(3) == 0)
                compute();
            if (from != rank)
                continue;
            if (get)
                MESSAGE("MPI_Get", n, MPI_Get(buffer, n, MPI_BYTE, to, 0, n, MPI_BYTE, win));
            else
                MESSAGE("MPI_Put", n, MPI_Put(buffer, n, MPI_BYTE, to, 0, n, MPI_BYTE, win));
        }
        compute();
        CALL(MPI_Win_fence(0, win));
    }
    CALL(MPI_Win_free(&win));
}
