#include "mesh.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROW = 9 }; /* a vertex touches at most eight others */

struct mesh {
    int n; /* free vertices per dimension; vertex (i, j), 1..n, has number (i-1)*n + j-1 */
    double jitter;
    double *x, *y; /* (n+2)^2 vertices, the edges included */
    int *part;     /* rank of each free vertex */
};

static void *need(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory)
        MPI_Abort(MPI_COMM_WORLD, 3);
    return memory;
}

/* A number in [0, 1) that depends only on its arguments: every rank makes the same mesh. */
static double chance(uint64_t i, uint64_t j, uint64_t salt)
{
    uint64_t z = (i * 1000003u + j) * 31u + salt + 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static size_t vertex(const struct mesh *mesh, int i, int j)
{
    return (size_t)i * (size_t)(mesh->n + 2) + (size_t)j;
}

/* Number among the free vertices, or -1 on the edge of the square. */
static int number(const struct mesh *mesh, int i, int j)
{
    int n = mesh->n;
    return i < 1 || i > n || j < 1 || j > n ? -1 : (i - 1) * n + j - 1;
}

struct place {
    double key, x, y;
    int id;
};

static int by_key(const void *a, const void *b)
{
    const struct place *p = a, *q = b;
    if (p->key != q->key)
        return p->key < q->key ? -1 : 1;
    return p->id < q->id ? -1 : p->id > q->id;
}

/* Recursive coordinate bisection: cuts across the longer side, in proportion to the ranks. */
static void bisect(struct place *places, int count, int first_rank, int ranks, int *part)
{
    if (ranks == 1) {
        for (int i = 0; i < count; i++)
            part[places[i].id] = first_rank;
        return;
    }
    double low[2] = {1e30, 1e30}, high[2] = {-1e30, -1e30};
    for (int i = 0; i < count; i++) {
        double c[2] = {places[i].x, places[i].y};
        for (int d = 0; d < 2; d++) {
            low[d] = c[d] < low[d] ? c[d] : low[d];
            high[d] = c[d] > high[d] ? c[d] : high[d];
        }
    }
    int along_y = high[1] - low[1] > high[0] - low[0];
    for (int i = 0; i < count; i++)
        places[i].key = along_y ? places[i].y : places[i].x;
    qsort(places, (size_t)count, sizeof *places, by_key);
    int left = ranks / 2, cut = (int)((long)count * left / ranks);
    bisect(places, cut, first_rank, left, part);
    bisect(places + cut, count - cut, first_rank + left, ranks - left, part);
}

static void mesh_make(struct mesh *mesh, int n, double jitter, int ranks)
{
    size_t all = (size_t)(n + 2) * (size_t)(n + 2), count = (size_t)n * (size_t)n;
    double h = 1.0 / (n + 1);
    mesh->n = n;
    mesh->x = need(all, sizeof(double));
    mesh->y = need(all, sizeof(double));
    mesh->part = need(count, sizeof(int));
    struct place *places = need(count, sizeof *places);
    for (int i = 0; i <= n + 1; i++)
        for (int j = 0; j <= n + 1; j++) {
            int id = number(mesh, i, j);
            double amount = id < 0 ? 0.0 : 2.0 * jitter * h;
            double x = i * h + amount * (chance((uint64_t)i, (uint64_t)j, 1) - 0.5);
            double y = j * h + amount * (chance((uint64_t)i, (uint64_t)j, 2) - 0.5);
            mesh->x[vertex(mesh, i, j)] = x;
            mesh->y[vertex(mesh, i, j)] = y;
            if (id >= 0)
                places[id] = (struct place){0.0, x, y, id};
        }
    bisect(places, (int)count, 0, ranks, mesh->part);
    free(places);
}

/* The rows under assembly, columns still global. */
struct rows {
    const int *local; /* global number -> owned row, or -1 */
    int *length, *column;
    double *value;
};

static void add(struct rows *rows, int row, int column, double value)
{
    int *c = rows->column + (size_t)row * MAX_ROW;
    int k = 0;
    while (k < rows->length[row] && c[k] != column)
        k++;
    if (k == rows->length[row]) {
        c[k] = column;
        rows->length[row]++;
    }
    rows->value[(size_t)row * MAX_ROW + (size_t)k] += value;
}

/* Adds the element matrix (stiffness and mass) of one triangle to the owned rows. */
static void add_triangle(const struct mesh *mesh, struct rows *rows, const int i[3], const int j[3])
{
    double x[3], y[3];
    int id[3], mine = 0;
    for (int k = 0; k < 3; k++) {
        id[k] = number(mesh, i[k], j[k]);
        x[k] = mesh->x[vertex(mesh, i[k], j[k])];
        y[k] = mesh->y[vertex(mesh, i[k], j[k])];
        mine |= id[k] >= 0 && rows->local[id[k]] >= 0;
    }
    if (!mine)
        return;
    double twice_area = (x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0]);
    for (int k = 0; k < 3; k++) {
        if (id[k] < 0 || rows->local[id[k]] < 0)
            continue;
        int k1 = (k + 1) % 3, k2 = (k + 2) % 3;
        for (int l = 0; l < 3; l++) {
            if (id[l] < 0)
                continue;
            int l1 = (l + 1) % 3, l2 = (l + 2) % 3;
            double stiffness =
                (y[k1] - y[k2]) * (y[l1] - y[l2]) + (x[k2] - x[k1]) * (x[l2] - x[l1]);
            double mass = (k == l ? 2.0 : 1.0) * twice_area / 24.0;
            add(rows, rows->local[id[k]], id[l], 0.5 * stiffness / twice_area + mass);
        }
    }
}

static void assemble(const struct mesh *mesh, struct rows *rows)
{
    for (int i = 0; i <= mesh->n; i++)
        for (int j = 0; j <= mesh->n; j++)
            if (chance((uint64_t)i, (uint64_t)j, 3) < 0.5) {
                add_triangle(mesh, rows, (int[]){i, i + 1, i + 1}, (int[]){j, j, j + 1});
                add_triangle(mesh, rows, (int[]){i, i + 1, i}, (int[]){j, j + 1, j + 1});
            } else {
                add_triangle(mesh, rows, (int[]){i, i + 1, i}, (int[]){j, j, j + 1});
                add_triangle(mesh, rows, (int[]){i + 1, i + 1, i}, (int[]){j, j + 1, j + 1});
            }
}

struct link {
    int rank, id;
};

static int by_rank(const void *a, const void *b)
{
    const struct link *p = a, *q = b;
    if (p->rank != q->rank)
        return p->rank < q->rank ? -1 : 1;
    return p->id < q->id ? -1 : p->id > q->id;
}

/* Sorts links by rank and number and drops doubles; returns how many are left. */
static int unique(struct link *links, int count)
{
    int kept = 0;
    qsort(links, (size_t)count, sizeof *links, by_rank);
    for (int i = 0; i < count; i++)
        if (i == 0 || by_rank(&links[i], &links[i - 1]) != 0)
            links[kept++] = links[i];
    return kept;
}

/* The matrix graph is symmetric: a vertex next to a ghost of rank r is a ghost on rank r. Both
 * sides list them by number, so the lists agree without a word between the ranks. */
static void link_neighbours(struct matrix *m, const struct mesh *mesh, const struct rows *rows,
                            const int *id_of_row, int *ghost_of)
{
    size_t room = (size_t)m->owned * MAX_ROW;
    struct link *wanted = need(room, sizeof *wanted), *given = need(room, sizeof *given);
    int wants = 0, gives = 0;
    for (int row = 0; row < m->owned; row++)
        for (int k = 0; k < rows->length[row]; k++) {
            int id = rows->column[(size_t)row * MAX_ROW + (size_t)k];
            if (rows->local[id] >= 0)
                continue;
            wanted[wants++] = (struct link){mesh->part[id], id};
            given[gives++] = (struct link){mesh->part[id], id_of_row[row]};
        }
    wants = unique(wanted, wants);
    gives = unique(given, gives);
    m->ghosts = wants;
    m->neighbours = 0;
    for (int i = 0; i < wants; i++)
        m->neighbours += i == 0 || wanted[i].rank != wanted[i - 1].rank;
    m->neighbour = need((size_t)m->neighbours, sizeof(int));
    m->ghost_start = need((size_t)m->neighbours + 1, sizeof(int));
    m->send_start = need((size_t)m->neighbours + 1, sizeof(int));
    m->send_list = need((size_t)gives, sizeof(int));
    m->buffer = need((size_t)gives, sizeof(double));
    int k = -1, sent = 0;
    for (int i = 0; i < wants; i++) {
        if (i == 0 || wanted[i].rank != wanted[i - 1].rank) {
            m->neighbour[++k] = wanted[i].rank;
            m->ghost_start[k] = i;
            m->send_start[k] = sent;
            while (sent < gives && given[sent].rank == wanted[i].rank) {
                m->send_list[sent] = rows->local[given[sent].id];
                sent++;
            }
        }
        ghost_of[wanted[i].id] = m->owned + i;
    }
    m->ghost_start[m->neighbours] = wants;
    m->send_start[m->neighbours] = gives;
    free(wanted);
    free(given);
}

/* Gives the owned vertices their row: those whose vertices around are all owned come first. */
static void number_rows(struct matrix *m, const struct mesh *mesh, int rank, int *local,
                        int *id_of_row)
{
    int n = mesh->n;
    for (int inside_pass = 1; inside_pass >= 0; inside_pass--) {
        for (int i = 1; i <= n; i++)
            for (int j = 1; j <= n; j++) {
                int id = number(mesh, i, j), inside = 1;
                for (int e = 0; e < 9; e++) {
                    int near = number(mesh, i + e / 3 - 1, j + e % 3 - 1);
                    inside = inside && (near < 0 || mesh->part[near] == rank);
                }
                if (mesh->part[id] == rank && inside == inside_pass) {
                    local[id] = m->owned;
                    id_of_row[m->owned++] = id;
                }
            }
        if (inside_pass)
            m->inside = m->owned;
    }
}

void matrix_make(struct matrix *m, MPI_Comm comm, int n, double jitter)
{
    int rank, size;
    struct mesh mesh;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    memset(m, 0, sizeof *m);
    mesh_make(&mesh, n, jitter, size);

    size_t count = (size_t)n * (size_t)n;
    int *local = need(count, sizeof(int)), *ghost_of = need(count, sizeof(int));
    int *id_of_row = need(count, sizeof(int));
    memset(local, -1, count * sizeof(int));
    number_rows(m, &mesh, rank, local, id_of_row);

    size_t owned = (size_t)m->owned;
    struct rows rows = {local, need(owned, sizeof(int)), need(owned * MAX_ROW, sizeof(int)),
                        need(owned * MAX_ROW, sizeof(double))};
    assemble(&mesh, &rows);
    link_neighbours(m, &mesh, &rows, id_of_row, ghost_of);

    m->row_start = need(owned + 1, sizeof(int));
    m->column = need(owned * MAX_ROW, sizeof(int));
    m->value = need(owned * MAX_ROW, sizeof(double));
    m->x = need(owned, sizeof(double));
    m->y = need(owned, sizeof(double));
    for (int row = 0, next = 0; row < m->owned; row++) {
        int id = id_of_row[row];
        size_t v = vertex(&mesh, id / n + 1, id % n + 1);
        m->x[row] = mesh.x[v];
        m->y[row] = mesh.y[v];
        for (int k = 0; k < rows.length[row]; k++, next++) {
            int to = rows.column[(size_t)row * MAX_ROW + (size_t)k];
            m->column[next] = local[to] >= 0 ? local[to] : ghost_of[to];
            m->value[next] = rows.value[(size_t)row * MAX_ROW + (size_t)k];
        }
        m->row_start[row + 1] = next;
    }
    free(rows.length);
    free(rows.column);
    free(rows.value);
    free(local);
    free(ghost_of);
    free(id_of_row);
    free(mesh.x);
    free(mesh.y);
    free(mesh.part);
}

void matrix_free(struct matrix *m)
{
    free(m->row_start);
    free(m->column);
    free(m->value);
    free(m->x);
    free(m->y);
    free(m->neighbour);
    free(m->send_start);
    free(m->send_list);
    free(m->ghost_start);
    free(m->buffer);
}
