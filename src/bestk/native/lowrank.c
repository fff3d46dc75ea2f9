/* The k best items along many directions of a few eigenvectors, each choice scored on Q itself.

   Directions come in an order in which neighbours are close: their best items differ by a swap or
   two, and so do the values of their choices. Within a small angle only few items can be among the
   best at all, and only those candidates are looked at. */
#include <math.h>
#include <string.h>

#include "bestk.h"

#define RADIUS 0.02 /* of the cone of directions that share their candidates */

/* The matrix, and V of d rows whose signed products approximate it. */
typedef struct {
    const double *Q, *V, *signs;
    int64_t n, d, k;
    double *norms; /* distances of the columns of V from their mean */
} Problem;

/* Candidates near a direction: the k items kept first, then the others, ``count`` in all. */
typedef struct {
    int64_t count;
    int64_t *items;
    double *centre; /* of the cone that the candidates are good for */
    double *V;      /* [coordinate][candidate], rows of n */
    double *score;
    double *all;    /* scratch: scores of all items */
    uint8_t *first; /* scratch: whether an item is one of the first k */
} Candidates;

/* The k items of the highest score, and what they are worth. */
typedef struct {
    Candidates near;
    uint8_t *chosen; /* of all items */
    double *total;   /* sum of the columns of V that are chosen */
    double value;    /* x'Qx */
} Top;

/* All items as candidates of no direction. */
static Candidates new_candidates(const Problem *a, Room *room) {
    Candidates c = {.count = 0};
    c.items = take(room, a->n, sizeof *c.items);
    c.centre = take(room, a->d, sizeof *c.centre);
    c.V = take(room, a->d * a->n, sizeof *c.V);
    c.score = take(room, a->n, sizeof *c.score);
    c.all = take(room, a->n, sizeof *c.all);
    c.first = take(room, a->n, sizeof *c.first);
    for (int64_t i = 0; i < a->n && !room->status; i++) c.items[i] = i;
    for (int64_t j = 0; j < a->d && !room->status; j++) c.centre[j] = INFINITY;
    return c;
}

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

/* Whether a direction lies in the cone around the centre. */
static int is_near(const double *c, const double *centre, int64_t d) {
    const double length = length_of(c, d);
    double apart = 0.0;
    for (int64_t j = 0; j < d; j++) {
        const double difference = c[j] / length - centre[j];
        apart += difference * difference;
    }
    return apart <= RADIUS * RADIUS;
}

/* Set the scores V'c of the first columns of V, whose rows have n entries. */
INLINE void project(
    const double *V, int64_t n, const double *c, int64_t d, int64_t count, double *restrict score) {
    for (int64_t q = 0; q < count; q++) score[q] = c[0] * V[q];
    for (int64_t j = 1; j < d; j++) {
        const double *row = V + j * n, weight = c[j];
        for (int64_t q = 0; q < count; q++) score[q] += weight * row[q];
    }
}

FOR_EACH_CPU(project,
    (const double *V, int64_t n, const double *c, int64_t d, int64_t count, double *score),
    (V, n, c, d, count, score))

/* Keep the first k items, and add those that may be above one of them near the direction c.
   Within the radius r, the score of an item, but for a constant that all share, lies within r
   times its norm of that at the centre. */
static void find_candidates(const Problem *a, Candidates *near, const double *c, int64_t k) {
    const int64_t n = a->n, d = a->d;
    const double length = length_of(c, d);
    for (int64_t j = 0; j < d; j++) near->centre[j] = c[j] / length;
    memset(near->first, 0, (size_t)n);
    project_best(a->V, n, near->centre, d, n, near->all);
    double least = INFINITY, size = 0.0;
    for (int64_t q = 0; q < k; q++) {
        const int64_t i = near->items[q];
        const double score = near->all[i], below = score - RADIUS * a->norms[i];
        near->first[i] = 1;
        least = lower(below, least);
        size = higher(fabs(score), size);
    }
    least -= 1e-9 * (fabs(least) + size);
    int64_t count = k;
    for (int64_t i = 0; i < n; i++)
        if (near->all[i] + RADIUS * a->norms[i] >= least && !near->first[i])
            near->items[count++] = i;
    for (int64_t j = 0; j < d; j++)
        for (int64_t q = 0; q < count; q++) near->V[j * n + q] = a->V[j * n + near->items[q]];
    near->count = count;
}

/* The value x'Qx of some items. */
static double worth_of(const Problem *a, const int64_t *items, int64_t count) {
    double value = 0.0;
    for (int64_t q = 0; q < count; q++)
        for (int64_t r = 0; r < count; r++) value += a->Q[items[q] * a->n + items[r]];
    return value;
}

/* The first k items, as if they were the best; candidates are still to be found. */
static Top first_k(const Problem *a, Room *room) {
    Top top = {.near = new_candidates(a, room)};
    top.chosen = take(room, a->n, sizeof *top.chosen);
    top.total = take(room, a->d, sizeof *top.total);
    if (room->status) return top;
    memset(top.chosen, 1, (size_t)a->k);
    for (int64_t j = 0; j < a->d; j++)
        for (int64_t i = 0; i < a->k; i++) top.total[j] += a->V[j * a->n + i];
    top.value = worth_of(a, top.near.items, a->k);
    return top;
}

/* Let candidate u go and v come. */
static void swap(const Problem *a, Top *top, int64_t u, int64_t v) {
    Candidates *near = &top->near;
    const int64_t n = a->n, out = near->items[u], into = near->items[v];
    const double *out_row = a->Q + out * n, *into_row = a->Q + into * n;
    double gone = 0.0, come = 0.0;
    for (int64_t q = 0; q < a->k; q++) {
        gone += out_row[near->items[q]];
        come += into_row[near->items[q]];
    }
    /* p_v - p_u - 2 Q_uv, where an item does not count itself */
    top->value += into_row[into] + 2 * come - 2 * gone + out_row[out] - 2 * out_row[into];
    top->chosen[out] = 0;
    top->chosen[into] = 1;
    near->items[u] = into;
    near->items[v] = out;
    const double score = near->score[u];
    near->score[u] = near->score[v];
    near->score[v] = score;
    for (int64_t j = 0; j < a->d; j++) {
        double *row = near->V + j * n, held = row[u];
        top->total[j] += row[v] - row[u];
        row[u] = row[v];
        row[v] = held;
    }
}

/* Swap items until the choice holds the k highest scores along c. */
static void follow(const Problem *a, const double *c, Top *top) {
    Candidates *near = &top->near;
    const int64_t k = a->k;
    if (!is_near(c, near->centre, a->d)) find_candidates(a, near, c, k);
    const double *score = near->score;
    project_best(near->V, a->n, c, a->d, near->count, near->score);
    for (;;) {
        const double low = bestk_range(score, k).low;
        const double high = bestk_range(score + k, near->count - k).high;
        if (high <= low) return;
        int64_t u = 0, v = k;
        while (score[u] != low) u++;
        while (score[v] != high) v++;
        swap(a, top, u, v);
    }
}

/* Items of either choice: drop what is missed least until k are left; return their value.
   p and items: scratch. */
static double thin_out(const Problem *a, uint8_t *chosen, double *p, int64_t *items) {
    const int64_t n = a->n;
    int64_t count = 0, left = 0;
    for (int64_t i = 0; i < n; i++)
        if (chosen[i]) items[count++] = i;
    for (int64_t q = 0; q < count; q++) {
        const double *row = a->Q + items[q] * n;
        p[q] = -row[items[q]];
        for (int64_t r = 0; r < count; r++) p[q] += 2.0 * row[items[r]];
    }
    for (int64_t drop = count - a->k; drop > 0; drop--) {
        int64_t worst = 0;
        for (int64_t q = 1; q < count; q++)
            if (p[q] < p[worst]) worst = q;
        const double *row = a->Q + items[worst] * n;
        chosen[items[worst]] = 0;
        p[worst] = INFINITY;
        for (int64_t q = 0; q < count; q++) p[q] -= 2.0 * row[items[q]];
    }
    for (int64_t q = 0; q < count; q++)
        if (chosen[items[q]]) items[left++] = items[q];
    return worth_of(a, items, left);
}

/* Remember a choice if it is a record. */
static void keep(const uint8_t *chosen, double value, int64_t n, double *record, uint8_t *best) {
    if (!(value > *record)) return;
    *record = value;
    memcpy(best, chosen, (size_t)n);
}

/* Write the best choice of k items along some directions into ``best``, its value into ``record``.
   Along c lie X = top_k(V'c) and, where a sign is negative, Y = top_k(V'SVx) and the best of their
   union; the last is looked at where X and Y are worth more together than before. */
EXPORT int bestk_try_directions(const double *Q, const double *V, const double *signs, int64_t n,
    int64_t d, int64_t k, const double *directions, int64_t n_directions, uint8_t *best,
    double *record) {
    Room room = {0};
    Problem a = {.Q = Q, .V = V, .signs = signs, .n = n, .d = d, .k = k};
    a.norms = spread(&a, &room);
    Top x = first_k(&a, &room), y = first_k(&a, &room);
    double *p = take(&room, n, sizeof *p), *turned = take(&room, d, sizeof *turned);
    int64_t *items = take(&room, n, sizeof *items);
    uint8_t *both = take(&room, n, sizeof *both);
    if (room.status) return release(&room);
    double pair = -INFINITY;
    int both_ways = 0;
    for (int64_t j = 0; j < d; j++) both_ways |= signs[j] < 0.0;
    *record = -INFINITY;
    for (int64_t t = 0; t < n_directions; t++) {
        follow(&a, directions + t * d, &x);
        keep(x.chosen, x.value, n, record, best);
        if (!both_ways) continue;
        for (int64_t j = 0; j < d; j++) turned[j] = signs[j] * x.total[j];
        follow(&a, turned, &y);
        keep(y.chosen, y.value, n, record, best);
        if (!(x.value + y.value > pair)) continue;
        pair = x.value + y.value;
        for (int64_t i = 0; i < n; i++) both[i] = x.chosen[i] | y.chosen[i];
        const double value = thin_out(&a, both, p, items);
        keep(both, value, n, record, best);
    }
    return release(&room);
}

/* Sort candidates by falling score, by insertion: they are nearly in order. */
static void sort(int64_t *order, const double *score, double *sorted, int64_t count) {
    for (int64_t r = 0; r < count; r++) {
        const int64_t item = order[r];
        const double s = score[item];
        int64_t at = r;
        for (; at > 0 && sorted[at - 1] < s; at--) {
            sorted[at] = sorted[at - 1];
            order[at] = order[at - 1];
        }
        sorted[at] = s;
        order[at] = item;
    }
}

/* Keep a direction in place of the worst of ``many`` if it is better; return the new worst. */
static double replace_worst(double *worth, int64_t *kept, int64_t many, double proxy, int64_t t) {
    int64_t last = 0;
    for (int64_t q = 1; q < many; q++)
        if (worth[q] < worth[last]) last = q;
    worth[last] = proxy;
    kept[last] = t;
    return bestk_range(worth, many).low;
}

/* For each k, rising, keep the ``many`` directions whose k best items have the highest x'Q_d x.
   One order of the items serves every k: x'Q_d x is the signed square of a sum of columns of V.
   worth, kept: [n_ks][many]. */
EXPORT int bestk_screen_directions(const double *V, const double *signs, int64_t n, int64_t d,
    const double *directions, int64_t n_directions, const int64_t *ks, int64_t n_ks, int64_t many,
    double *worth, int64_t *kept) {
    Room room = {0};
    Problem a = {.V = V, .signs = signs, .n = n, .d = d};
    a.norms = spread(&a, &room);
    const int64_t most = ks[n_ks - 1];
    Candidates near = new_candidates(&a, &room);
    double *sorted = take(&room, n, sizeof *sorted), *total = take(&room, d, sizeof *total);
    double *least = take(&room, n_ks, sizeof *least), *before = take(&room, n_ks, sizeof *before);
    int64_t *order = take(&room, n, sizeof *order), *held = take(&room, n, sizeof *held);
    if (room.status) return release(&room);
    for (int64_t i = 0; i < n; i++) order[i] = i;
    for (int64_t b = 0; b < n_ks; b++) {
        least[b] = -INFINITY;
        before[b] = INFINITY;
    }
    for (int64_t t = 0; t < n_directions; t++) {
        const double *c = directions + t * d;
        if (!is_near(c, near.centre, d)) {
            for (int64_t r = 0; r < most; r++) held[r] = near.items[order[r]];
            memcpy(near.items, held, (size_t)most * sizeof *held);
            find_candidates(&a, &near, c, most);
            for (int64_t r = 0; r < near.count; r++) order[r] = r;
        }
        project_best(near.V, n, c, d, near.count, near.score);
        sort(order, near.score, sorted, near.count);
        memset(total, 0, (size_t)d * sizeof *total);
        for (int64_t b = 0, r = 0; b < n_ks; b++) {
            for (; r < ks[b]; r++)
                for (int64_t j = 0; j < d; j++) total[j] += near.V[j * n + order[r]];
            double proxy = 0.0;
            for (int64_t j = 0; j < d; j++) proxy += signs[j] * total[j] * total[j];
            if (proxy > least[b] && fabs(proxy - before[b]) > 1e-12 * fabs(proxy))
                least[b] = replace_worst(worth + b * many, kept + b * many, many, proxy, t);
            before[b] = proxy;
        }
    }
    return release(&room);
}
