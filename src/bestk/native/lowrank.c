/* The k best items along many directions of a few eigenvectors, each choice scored on Q itself.

   The matrix is near V' S V, V of d rows and S their signs. A direction c of d coordinates gives
   every item the score (V'c)_i. Directions come in an order in which neighbours are close: their
   best items differ by a swap or two, and so do the values of their choices. So directions are
   taken in blocks. Within the small angle of a block only few items can come or go, and only those,
   the open ones, are looked at. */
#include <math.h>
#include <string.h>

#include "bestk.h"

#define MAX_BLOCK 128 /* close directions that are followed together */
#define MAX_OPEN 512  /* items that may come or go within a block */

/* The matrix and the rows that approximate it, with scratch. */
typedef struct {
    const double *Q; /* [n][n] */
    const double *V; /* [d][n] */
    int64_t n, d, k;
    double *norms;    /* [n]: distances of the columns of V from their mean */
    double *centre;   /* [d], scratch: a direction */
    double *all;      /* [n], scratch: scores of all items */
    double *sorted;   /* [n], scratch: the same, the k largest first */
    int64_t *list;    /* [n], scratch: items */
    uint8_t *is_best; /* [n], scratch: whether an item is one of the k best */
} Problem;

/* A choice: the k items of the highest score along a direction, and what they are worth. */
typedef struct {
    int64_t block; /* directions of the last block */

    /* The open items of the block, each at a place; those that are chosen come first. */
    int64_t n_open;
    int64_t n_inside; /* of them, those that are chosen */
    int64_t *items;   /* [MAX_OPEN]: the item at each place */
    double *score;    /* [MAX_OPEN]: its score */
    double *V;        /* [d][MAX_OPEN]: its column of V */

    /* The choice. */
    int64_t *chosen; /* [k] */
    int64_t *where;  /* [n]: where each item is among the chosen ones, or -1 */
    double *sum;     /* [d]: the sum of the columns of V that are chosen */
    double value;    /* x'Qx */
} Top;

/* Distances of the columns of V from their mean. */
static double *find_norms(const Problem *a, Room *room) {
    double *norms = take(room, a->n, sizeof *norms);
    if (!norms) return NULL;
    for (int64_t j = 0; j < a->d; j++) {
        const double *row = a->V + j * a->n;
        double mean = 0.0;
        for (int64_t i = 0; i < a->n; i++) mean += row[i];
        mean /= (double)a->n;
        for (int64_t i = 0; i < a->n; i++) norms[i] += (row[i] - mean) * (row[i] - mean);
    }
    for (int64_t i = 0; i < a->n; i++) norms[i] = sqrt(norms[i]);
    return norms;
}

/* The length of a direction, or a tiny number. */
static double length_of(const double *c, int64_t d) {
    double squares = 0.0;
    for (int64_t j = 0; j < d; j++) squares += c[j] * c[j];
    return higher(sqrt(squares), 1e-300);
}

/* The squared distance of a direction, made a unit vector, from a centre. */
static double squared_distance(const double *c, const double *centre, int64_t d) {
    const double length = length_of(c, d);
    double squares = 0.0;
    for (int64_t j = 0; j < d; j++) {
        const double difference = c[j] / length - centre[j];
        squares += difference * difference;
    }
    return squares;
}

/* Set the scores V'c of the first columns of V, whose rows have n entries. */
static void project(
    const double *V, int64_t n, const double *c, int64_t d, int64_t count, double *restrict score) {
    for (int64_t q = 0; q < count; q++) score[q] = c[0] * V[q];
    for (int64_t j = 1; j < d; j++) {
        const double *row = V + j * n;
        const double weight = c[j];
        for (int64_t q = 0; q < count; q++) score[q] += weight * row[q];
    }
}

/* Write the unit vector amid some directions into ``centre``; return how far they lie from it. */
static double find_middle(const Problem *a, const double *directions, int64_t count) {
    const int64_t d = a->d;
    double *centre = a->centre;
    memset(centre, 0, (size_t)d * sizeof *centre);
    for (int64_t b = 0; b < count; b++) {
        const double *c = directions + b * d;
        const double length = length_of(c, d);
        for (int64_t j = 0; j < d; j++) centre[j] += c[j] / length;
    }
    const double scale = length_of(centre, d);
    for (int64_t j = 0; j < d; j++) centre[j] /= scale;
    if (count == 1) return 0.0;
    double farthest = 0.0;
    for (int64_t b = 0; b < count; b++)
        farthest = higher(squared_distance(directions + b * d, centre, d), farthest);
    return sqrt(farthest);
}

static inline void trade(double *a, double *b) {
    const double held = *a;
    *a = *b;
    *b = held;
}

/* Put the k largest of some values first, the smallest of them last, by quickselect. */
static void select_top(double *values, int64_t count, int64_t k) {
    int64_t low = 0;
    int64_t high = count - 1;
    while (low < high) {
        const double pivot = values[(low + high) / 2];
        int64_t i = low;
        int64_t j = high;
        while (i <= j) {
            while (values[i] > pivot) i++;
            while (values[j] < pivot) j--;
            if (i > j) break;
            trade(values + i, values + j);
            i++;
            j--;
        }
        if (k - 1 < i) high = j;
        if (k - 1 > j) low = i;
    }
}

/* Mark the k items of the highest score along c; of equal ones those of the lowest index. */
static void mark_best(const Problem *a, const double *c) {
    const int64_t n = a->n;
    project(a->V, n, c, a->d, n, a->all);
    memcpy(a->sorted, a->all, (size_t)n * sizeof *a->all);
    select_top(a->sorted, n, a->k);
    const double lowest = a->sorted[a->k - 1];
    int64_t n_missing = a->k;
    for (int64_t i = 0; i < n; i++) {
        a->is_best[i] = a->all[i] > lowest;
        n_missing -= a->is_best[i];
    }
    for (int64_t i = 0; n_missing > 0; i++) {
        if (a->all[i] != lowest) continue;
        a->is_best[i] = 1;
        n_missing--;
    }
}

/* List the items that may come or go within the radius of the centre; return whether there is room
   for all of them.

   Within the radius the score of an item, but for a constant that all items share, lies within
   radius * norm of that at the centre. An item that is inside stays there if its lowest score is
   above the highest of all items outside; one that is outside stays there if its highest is below
   the lowest of all inside. */
static int find_open(const Problem *a, Top *top, double radius) {
    const Range range = bestk_range(a->all, a->n);
    const double slack = 1e-9 * higher(fabs(range.low), fabs(range.high));
    double lowest_inside = INFINITY;
    double highest_outside = -INFINITY;
    for (int64_t i = 0; i < a->n; i++) {
        const double reach = radius * a->norms[i] + slack;
        if (a->is_best[i])
            lowest_inside = lower(a->all[i] - reach, lowest_inside);
        else
            highest_outside = higher(a->all[i] + reach, highest_outside);
    }
    top->n_open = 0;
    for (int64_t i = 0; i < a->n; i++) {
        const double reach = radius * a->norms[i] + slack;
        if (!a->is_best[i] || a->all[i] - reach > highest_outside) continue;
        if (top->n_open == MAX_OPEN) return 0;
        top->items[top->n_open++] = i;
    }
    top->n_inside = top->n_open;
    for (int64_t i = 0; i < a->n; i++) {
        const double reach = radius * a->norms[i] + slack;
        if (a->is_best[i] || a->all[i] + reach < lowest_inside) continue;
        if (top->n_open == MAX_OPEN) return 0;
        top->items[top->n_open++] = i;
    }
    return 1;
}

/* The first k items, as if they were the best along some direction. */
static Top first_k(const Problem *a, Room *room) {
    Top top = {.block = MAX_BLOCK};
    top.items = take(room, MAX_OPEN, sizeof *top.items);
    top.score = take(room, MAX_OPEN, sizeof *top.score);
    top.V = take(room, a->d * MAX_OPEN, sizeof *top.V);
    top.chosen = take(room, a->k, sizeof *top.chosen);
    top.where = take(room, a->n, sizeof *top.where);
    top.sum = take(room, a->d, sizeof *top.sum);
    if (room->status) return top;
    for (int64_t i = 0; i < a->n; i++) top.where[i] = i < a->k ? i : -1;
    for (int64_t i = 0; i < a->k; i++) {
        top.chosen[i] = i;
        for (int64_t j = 0; j < a->k; j++) top.value += a->Q[i * a->n + j];
        for (int64_t j = 0; j < a->d; j++) top.sum[j] += a->V[j * a->n + i];
    }
    return top;
}

/* Let an item come in place of the one at q of the chosen.

   Swapping u for v changes x'Qx by p_v - p_u - 2 Q_uv, where p_i = Q_ii + 2 sum of Q_ij over the
   other chosen items j. */
static void replace(const Problem *a, Top *top, int64_t q, int64_t into) {
    const int64_t n = a->n;
    const int64_t out = top->chosen[q];
    const double *out_row = a->Q + out * n;
    const double *into_row = a->Q + into * n;
    double difference = 0.0; /* of the sums of both rows over the choice, with the item at q */
    for (int64_t r = 0; r < a->k; r++)
        difference += into_row[top->chosen[r]] - out_row[top->chosen[r]];
    top->value += into_row[into] + 2 * difference + out_row[out] - 2 * out_row[into];
    for (int64_t j = 0; j < a->d; j++) top->sum[j] += a->V[j * n + into] - a->V[j * n + out];
    top->chosen[q] = into;
    top->where[into] = q;
    top->where[out] = -1;
}

/* Choose the best items amid the first of some directions, as many directions as leave few items
   open; return how many these are. */
static int64_t start_block(const Problem *a, const double *directions, int64_t count, Top *top) {
    const int64_t n = a->n;
    int64_t block = least_of(least_of(2 * top->block, MAX_BLOCK), count);
    for (;; block = (block + 1) / 2) {
        const double radius = find_middle(a, directions, block);
        mark_best(a, a->centre);
        if (block == 1) {
            top->n_inside = 0;
            top->n_open = 0;
            break;
        }
        if (find_open(a, top, radius)) break;
    }
    int64_t q = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!a->is_best[i] || top->where[i] >= 0) continue;
        while (a->is_best[top->chosen[q]]) q++;
        replace(a, top, q, i);
    }
    for (int64_t j = 0; j < a->d; j++)
        for (int64_t p = 0; p < top->n_open; p++)
            top->V[j * MAX_OPEN + p] = a->V[j * n + top->items[p]];
    top->block = block;
    return block;
}

/* Swap open items until the choice holds the k highest scores along c: the lowest inside for the
   highest outside, as long as the latter is higher. */
static void follow(const Problem *a, const double *c, Top *top) {
    const int64_t n_inside = top->n_inside;
    double *score = top->score;
    if (n_inside == 0 || n_inside == top->n_open) return;
    project(top->V, MAX_OPEN, c, a->d, top->n_open, score);
    for (;;) {
        const double low = bestk_range(score, n_inside).low;
        const double high = bestk_range(score + n_inside, top->n_open - n_inside).high;
        if (high <= low) return;
        int64_t u = 0;
        while (score[u] != low) u++;
        int64_t v = n_inside;
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

/* Of the items of either of two choices, drop what is missed least until k are left; return their
   value. */
static double thin_out(const Problem *a, uint8_t *is_chosen) {
    const int64_t n = a->n;
    int64_t *items = a->list;
    double *p = a->sorted; /* what each item adds to the others */
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        if (is_chosen[i]) items[count++] = i;
    double value = 0.0;
    for (int64_t q = 0; q < count; q++) {
        const double *row = a->Q + items[q] * n;
        double sum = 0.0;
        for (int64_t r = 0; r < count; r++) sum += row[items[r]];
        p[q] = 2.0 * sum - row[items[q]];
        value += sum;
    }
    for (int64_t n_surplus = count - a->k; n_surplus > 0; n_surplus--) {
        int64_t worst = 0;
        for (int64_t q = 1; q < count; q++)
            if (p[q] < p[worst]) worst = q;
        const double *row = a->Q + items[worst] * n;
        is_chosen[items[worst]] = 0;
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

/* What is tried along the directions of a block besides. */
typedef struct {
    int has_negative; /* whether a sign is negative */
    double *turned;   /* [MAX_BLOCK][d]: S V x for the choice x along each direction */
    double *values;   /* [MAX_BLOCK]: the value of x */
    double record;    /* the largest sum so far of the values of x and y */
    uint8_t *both;    /* [n]: the items of the best x or of its y */
} Pairs;

/* Follow a block of directions; note the value of each choice x, and S V x. */
static void follow_block(const Problem *a, const double *signs, const double *directions,
    int64_t block, Top *x, Pairs *pairs, double *record, uint8_t *best) {
    for (int64_t b = 0; b < block; b++) {
        follow(a, directions + b * a->d, x);
        keep(x, a->n, record, best);
        pairs->values[b] = x->value;
        for (int64_t j = 0; j < a->d; j++) pairs->turned[b * a->d + j] = signs[j] * x->sum[j];
    }
}

/* Follow the turned directions of a block; return whether a pair of x and its y is worth more
   together than any before, and mark the items of either in ``both``. */
static int follow_turned(const Problem *a, const double *directions, int64_t block, Top *y,
    Pairs *pairs, double *record, uint8_t *best) {
    int is_better = 0;
    int64_t end = 0; /* of the directions that y was made ready for */
    for (int64_t b = 0; b < block; b++) {
        const double *turned = pairs->turned + b * a->d;
        if (b == end) end += start_block(a, turned, block - b, y);
        follow(a, turned, y);
        keep(y, a->n, record, best);
        if (!(pairs->values[b] + y->value > pairs->record)) continue;
        is_better = 1;
        pairs->record = pairs->values[b] + y->value;
        mark_best(a, directions + b * a->d);
        for (int64_t i = 0; i < a->n; i++) pairs->both[i] = a->is_best[i] | (y->where[i] >= 0);
    }
    return is_better;
}

/* Write the best choice of k items along some directions into ``best``, its value into ``record``.

   Along c lie x = top_k(V'c) and, where a sign is negative, y = top_k(V'SVx). The best k of their
   union, which cost k^2 steps, are looked at after a block in which x and y were worth more
   together than before.

   V: [d][n], with signs: [d]; directions: [n_directions][d]; best: [n], 1 for items of the choice. */
EXPORT int bestk_try_directions(const double *Q, const double *V, const double *signs, int64_t n,
    int64_t d, int64_t k, const double *directions, int64_t n_directions, uint8_t *best,
    double *record) {
    Room room = {0};
    Problem a = {.Q = Q, .V = V, .n = n, .d = d, .k = k};
    a.norms = find_norms(&a, &room);
    a.centre = take(&room, d, sizeof *a.centre);
    a.all = take(&room, n, sizeof *a.all);
    a.sorted = take(&room, n, sizeof *a.sorted);
    a.list = take(&room, n, sizeof *a.list);
    a.is_best = take(&room, n, sizeof *a.is_best);
    Pairs pairs = {.record = -INFINITY};
    pairs.turned = take(&room, MAX_BLOCK * d, sizeof *pairs.turned);
    pairs.values = take(&room, MAX_BLOCK, sizeof *pairs.values);
    pairs.both = take(&room, n, sizeof *pairs.both);
    for (int64_t j = 0; j < d; j++) pairs.has_negative |= signs[j] < 0.0;
    Top x = first_k(&a, &room);
    Top y = first_k(&a, &room);
    if (room.status) return release(&room);
    *record = -INFINITY;
    int64_t block;
    for (int64_t first = 0; first < n_directions; first += block) {
        const double *of_block = directions + first * d;
        block = start_block(&a, of_block, n_directions - first, &x);
        follow_block(&a, signs, of_block, block, &x, &pairs, record, best);
        if (!pairs.has_negative) continue;
        if (!follow_turned(&a, of_block, block, &y, &pairs, record, best)) continue;
        const double value = thin_out(&a, pairs.both);
        if (value > *record) {
            *record = value;
            memcpy(best, pairs.both, (size_t)n);
        }
    }
    return release(&room);
}
