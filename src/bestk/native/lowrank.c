/* The k best items along many directions of a few eigenvectors, each choice scored on Q itself.
   Directions come in an order in which neighbours are close: their best items differ by a swap or
   two, and so do the values of their choices. Within a small angle only few items can come or go,
   and only those are looked at. */
#include <math.h>
#include <string.h>

#include "bestk.h"

#define MAX_BLOCK 128 /* close directions that are followed together */
#define MAX_OPEN 512  /* items that may come or go within a block */

/* The matrix, and V of d rows whose signed products approximate it. */
typedef struct {
    const double *Q, *V;
    int64_t n, d, k;
    double *norms; /* distances of the columns of V from their mean */
    double *centre, *all, *sorted; /* scratch: a direction, and scores of all items */
    int64_t *list;                 /* scratch: items */
    uint8_t *best;                 /* scratch: whether an item is one of the k best */
} Problem;

/* The k items of the highest score along a direction, and what they are worth. In a block of close
   directions most items are chosen along all of them or along none. Only the others are open, each
   at a place, those that are chosen first. */
typedef struct {
    int64_t block;         /* directions of the last block */
    int64_t inside, count; /* open places: of chosen items, and all */
    int64_t *items;        /* by place */
    double *score, *V;     /* by place; V: [coordinate][place], rows of MAX_OPEN */
    int64_t *list, *where; /* the chosen items, and where each item is among them, or -1 */
    double *total;         /* sum of the columns of V that are chosen */
    double value;          /* x'Qx */
} Top;

/* Distances of the columns of V from their mean. */
static double *spread(const Problem *a, Room *room) {
    double *norms = take(room, a->n, sizeof *norms);
    for (int64_t j = 0; j < a->d && norms; j++) {
        const double *row = a->V + j * a->n;
        double mean = 0.0;
        for (int64_t i = 0; i < a->n; i++) mean += row[i];
        mean /= (double)a->n;
        for (int64_t i = 0; i < a->n; i++) norms[i] += (row[i] - mean) * (row[i] - mean);
    }
    for (int64_t i = 0; i < a->n && norms; i++) norms[i] = sqrt(norms[i]);
    return norms;
}

/* The length of a direction, or a tiny number. */
static double length_of(const double *c, int64_t d) {
    double length = 0.0;
    for (int64_t j = 0; j < d; j++) length += c[j] * c[j];
    return higher(sqrt(length), 1e-300);
}

/* The squared distance of a direction, made a unit vector, from a centre. */
static double distance(const double *c, const double *centre, int64_t d) {
    const double length = length_of(c, d);
    double apart = 0.0;
    for (int64_t j = 0; j < d; j++) {
        const double difference = c[j] / length - centre[j];
        apart += difference * difference;
    }
    return apart;
}

/* Set the scores V'c of the first columns of V, whose rows have n entries. */
static void project(
    const double *V, int64_t n, const double *c, int64_t d, int64_t count, double *restrict score) {
    for (int64_t q = 0; q < count; q++) score[q] = c[0] * V[q];
    for (int64_t j = 1; j < d; j++) {
        const double *row = V + j * n, weight = c[j];
        for (int64_t q = 0; q < count; q++) score[q] += weight * row[q];
    }
}

/* Write the unit vector amid some directions into ``centre``; return how far they lie from it. */
static double find_middle(const Problem *a, const double *directions, int64_t count) {
    const int64_t d = a->d;
    double *centre = a->centre, radius = 0.0;
    memset(centre, 0, (size_t)d * sizeof *centre);
    for (const double *c = directions; c < directions + count * d; c += d) {
        const double length = length_of(c, d);
        for (int64_t j = 0; j < d; j++) centre[j] += c[j] / length;
    }
    const double scale = length_of(centre, d);
    for (int64_t j = 0; j < d; j++) centre[j] /= scale;
    for (const double *c = directions; c < directions + count * d && count > 1; c += d)
        radius = higher(distance(c, centre, d), radius);
    return sqrt(radius);
}

static inline void trade(double *a, double *b) {
    const double held = *a;
    *a = *b;
    *b = held;
}

/* Put the k largest of some values first, the least of them last. */
static void select_top(double *values, int64_t count, int64_t k) {
    int64_t low = 0, high = count - 1;
    while (low < high) {
        const double pivot = values[(low + high) / 2];
        int64_t i = low, j = high;
        while (i <= j) {
            while (values[i] > pivot) i++;
            while (values[j] < pivot) j--;
            if (i > j) break;
            trade(values + i++, values + j--);
        }
        if (k - 1 < i) high = j;
        if (k - 1 > j) low = i;
    }
}

/* Mark the k items of the highest score along c; of equal ones those of the lowest index. */
static void mark_best(const Problem *a, const double *c) {
    const int64_t n = a->n, k = a->k;
    project(a->V, n, c, a->d, n, a->all);
    memcpy(a->sorted, a->all, (size_t)n * sizeof *a->all);
    select_top(a->sorted, n, k);
    const double least = a->sorted[k - 1];
    int64_t left = k;
    for (int64_t i = 0; i < n; i++) left -= a->best[i] = a->all[i] > least;
    for (int64_t i = 0; left > 0; i++)
        if (a->all[i] == least) {
            a->best[i] = 1;
            left--;
        }
}

/* List items that are not certainly chosen, or not, within the radius: within it the score of an
   item, but for a constant that all share, lies within radius times norm of that at the centre.
   Return whether there is room for all of them. */
static int find_open(const Problem *a, Top *top, double radius) {
    const Range range = bestk_range(a->all, a->n);
    const double slack = 1e-9 * higher(fabs(range.low), fabs(range.high));
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < a->n; i++) {
        const double reach = radius * a->norms[i] + slack;
        if (a->best[i])
            low = lower(a->all[i] - reach, low);
        else
            high = higher(a->all[i] + reach, high);
    }
    top->count = 0;
    for (int wanted = 1; wanted >= 0; wanted--) { /* those inside first */
        for (int64_t i = 0; i < a->n; i++) {
            const double reach = radius * a->norms[i] + slack;
            if (a->best[i] != wanted) continue;
            if (wanted ? a->all[i] - reach > high : a->all[i] + reach < low) continue;
            if (top->count == MAX_OPEN) return 0;
            top->items[top->count++] = i;
        }
        if (wanted) top->inside = top->count;
    }
    return 1;
}

/* The first k items, as if they were the best along some direction. */
static Top first_k(const Problem *a, Room *room) {
    Top top = {.block = MAX_BLOCK};
    top.items = take(room, MAX_OPEN, sizeof *top.items);
    top.score = take(room, MAX_OPEN, sizeof *top.score);
    top.V = take(room, a->d * MAX_OPEN, sizeof *top.V);
    top.list = take(room, a->k, sizeof *top.list);
    top.where = take(room, a->n, sizeof *top.where);
    top.total = take(room, a->d, sizeof *top.total);
    if (room->status) return top;
    for (int64_t i = 0; i < a->n; i++) top.where[i] = i < a->k ? i : -1;
    for (int64_t i = 0; i < a->k; i++) {
        top.list[i] = i;
        for (int64_t j = 0; j < a->k; j++) top.value += a->Q[i * a->n + j];
        for (int64_t j = 0; j < a->d; j++) top.total[j] += a->V[j * a->n + i];
    }
    return top;
}

/* Let an item come in place of that at q of the list. */
static void replace(const Problem *a, Top *top, int64_t q, int64_t into) {
    const int64_t n = a->n, out = top->list[q];
    const double *out_row = a->Q + out * n, *into_row = a->Q + into * n;
    double more = 0.0;
    for (int64_t r = 0; r < a->k; r++) more += into_row[top->list[r]] - out_row[top->list[r]];
    /* p_v - p_u - 2 Q_uv, where an item does not count itself */
    top->value += into_row[into] + 2 * more + out_row[out] - 2 * out_row[into];
    for (int64_t j = 0; j < a->d; j++) top->total[j] += a->V[j * n + into] - a->V[j * n + out];
    top->list[q] = into;
    top->where[into] = q;
    top->where[out] = -1;
}

/* Choose the best items amid the first of some directions, as many as leave few items open;
   return how many directions that are. */
static int64_t settle(const Problem *a, const double *directions, int64_t count, Top *top) {
    const int64_t n = a->n;
    int64_t block = least_of(least_of(2 * top->block, MAX_BLOCK), count), q = 0;
    for (;; block = (block + 1) / 2) {
        const double radius = find_middle(a, directions, block);
        mark_best(a, a->centre);
        if (block == 1) top->inside = top->count = 0;
        if (block == 1 || find_open(a, top, radius)) break;
    }
    for (int64_t i = 0; i < n; i++) {
        if (!a->best[i] || top->where[i] >= 0) continue;
        while (a->best[top->list[q]]) q++;
        replace(a, top, q, i);
    }
    for (int64_t j = 0; j < a->d; j++)
        for (int64_t p = 0; p < top->count; p++)
            top->V[j * MAX_OPEN + p] = a->V[j * n + top->items[p]];
    return top->block = block;
}

/* Swap open items until the choice holds the k highest scores along c. */
static void follow(const Problem *a, const double *c, Top *top) {
    const int64_t inside = top->inside;
    double *score = top->score;
    if (inside == 0 || inside == top->count) return;
    project(top->V, MAX_OPEN, c, a->d, top->count, score);
    for (;;) {
        const double low = bestk_range(score, inside).low;
        const double high = bestk_range(score + inside, top->count - inside).high;
        if (high <= low) return;
        int64_t u = 0, v = inside;
        while (score[u] != low) u++;
        while (score[v] != high) v++;
        const int64_t out = top->items[u];
        replace(a, top, top->where[out], top->items[v]);
        top->items[u] = top->items[v];
        top->items[v] = out;
        trade(score + u, score + v);
        for (int64_t j = 0; j < a->d; j++)
            trade(top->V + j * MAX_OPEN + u, top->V + j * MAX_OPEN + v);
    }
}

/* Items of either choice: drop what is missed least until k are left; return their value. */
static double thin_out(const Problem *a, uint8_t *chosen) {
    const int64_t n = a->n;
    int64_t count = 0, *items = a->list;
    double value = 0.0, *p = a->sorted;
    for (int64_t i = 0; i < n; i++)
        if (chosen[i]) items[count++] = i;
    for (int64_t q = 0; q < count; q++) {
        const double *row = a->Q + items[q] * n;
        double sum = 0.0;
        for (int64_t r = 0; r < count; r++) sum += row[items[r]];
        p[q] = 2.0 * sum - row[items[q]];
        value += sum;
    }
    for (int64_t drop = count - a->k; drop > 0; drop--) {
        int64_t worst = 0;
        for (int64_t q = 1; q < count; q++)
            if (p[q] < p[worst]) worst = q;
        const double *row = a->Q + items[worst] * n;
        chosen[items[worst]] = 0;
        value -= p[worst];
        p[worst] = INFINITY;
        for (int64_t q = 0; q < count; q++) p[q] -= 2.0 * row[items[q]];
    }
    return value;
}

/* Remember a choice if it is a record. */
static void keep(const Top *top, int64_t n, double *record, uint8_t *best) {
    if (!(top->value > *record)) return;
    *record = top->value;
    for (int64_t i = 0; i < n; i++) best[i] = top->where[i] >= 0;
}

/* Write the best choice of k items along some directions into ``best``, its value into ``record``.
   Along c lie X = top_k(V'c) and, where a sign is negative, Y = top_k(V'SVx). The best k of their
   union, which cost k^2 steps, are looked at after a block in which X and Y were worth more
   together than before. */
EXPORT int bestk_try_directions(const double *Q, const double *V, const double *signs, int64_t n,
    int64_t d, int64_t k, const double *directions, int64_t n_directions, uint8_t *best,
    double *record) {
    Room room = {0};
    Problem a = {.Q = Q, .V = V, .n = n, .d = d, .k = k};
    a.norms = spread(&a, &room);
    a.centre = take(&room, d, sizeof *a.centre);
    a.all = take(&room, n, sizeof *a.all);
    a.sorted = take(&room, n, sizeof *a.sorted);
    a.list = take(&room, n, sizeof *a.list);
    a.best = take(&room, n, sizeof *a.best);
    double *turned = take(&room, MAX_BLOCK * (d + 1), sizeof *turned);
    double *values = turned + MAX_BLOCK * d;
    uint8_t *both = take(&room, n, sizeof *both);
    Top x = first_k(&a, &room), y = first_k(&a, &room);
    if (room.status) return release(&room);
    double pair = -INFINITY;
    int both_ways = 0;
    for (int64_t j = 0; j < d; j++) both_ways |= signs[j] < 0.0;
    *record = -INFINITY;
    for (int64_t t = 0, block; t < n_directions; t += block) {
        block = settle(&a, directions + t * d, n_directions - t, &x);
        for (int64_t b = 0; b < block; b++) {
            follow(&a, directions + (t + b) * d, &x);
            keep(&x, n, record, best);
            values[b] = x.value;
            for (int64_t j = 0; j < d; j++) turned[b * d + j] = signs[j] * x.total[j];
        }
        int better = 0;
        for (int64_t b = 0, end = 0; both_ways && b < block; b++) {
            if (b == end) end += settle(&a, turned + b * d, block - b, &y);
            follow(&a, turned + b * d, &y);
            keep(&y, n, record, best);
            if (!(values[b] + y.value > pair)) continue;
            better = 1;
            pair = values[b] + y.value;
            mark_best(&a, directions + (t + b) * d);
            for (int64_t i = 0; i < n; i++) both[i] = a.best[i] | (y.where[i] >= 0);
        }
        const double value = better ? thin_out(&a, both) : -INFINITY;
        if (value > *record) memcpy(best, both, (size_t)n);
        *record = higher(value, *record);
    }
    return release(&room);
}
