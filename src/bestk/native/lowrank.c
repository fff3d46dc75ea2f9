/* The k best items along many directions of a few eigenvectors, each choice scored on Q itself.
   Directions come in an order in which neighbours are close: their best items differ by a swap or
   two, and so do the values of their choices. Within a small angle only few items can come or go,
   and only those are looked at. */
#include <math.h>
#include <string.h>

#include "bestk.h"

#define RADIUS 0.02 /* of the cone of directions that share their candidates */
#define MAX_BLOCK 128 /* close directions that are followed together */
#define MAX_OPEN 512  /* items that may come or go within a block */
#define MAX_SWAPS 256 /* after which the sums of all of them are kept */

/* The matrix, and V of d rows whose signed products approximate it. */
typedef struct {
    const double *Q, *V, *signs;
    int64_t n, d, k;
    double *norms; /* distances of the columns of V from their mean */
    double *centre, *all, *sorted; /* scratch: a direction, and scores of all items */
    int64_t *list;                 /* scratch: items */
    uint8_t *best;                 /* scratch: whether an item is one of the k best */
} Problem;

/* Candidates near a direction: the k items kept first, then the others, ``count`` in all. */
typedef struct {
    int64_t count;
    int64_t *items;
    double *centre; /* of the cone that the candidates are good for */
    double *V;      /* [coordinate][candidate], rows of n */
    double *score;
} Candidates;

/* The k items of the highest score along a direction, and what they are worth. In a block of close
   directions most items are chosen along all of them or along none. Only the others are open, and
   what is known of the open ones makes a swap cost as many steps as there are open items. */
typedef struct {
    int64_t block;         /* directions of the last block */
    int64_t inside, count; /* open places: of chosen items, which come first, and all */
    int64_t *number;       /* the open item at a place */
    double *score, *V;     /* by place; V: [coordinate][place], rows of MAX_OPEN */
    int64_t *items;        /* the open items */
    int64_t *first;        /* all chosen items when the block began */
    int64_t n_read, *read; /* open items that came or went, whose sums and pairs are known */
    uint8_t *is_read;
    int64_t n_swaps, *swaps; /* since the block began: who came, and who went */
    double *sums;            /* of Q over all chosen items, for each open item */
    double *pairs;           /* Q of open items, rows of MAX_OPEN */
    uint8_t *chosen;       /* of all items */
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

/* Keep the first k items, and add those that may be above one of them near the direction c.
   Within the radius r, the score of an item, but for a constant that all share, lies within r
   times its norm of that at the centre. */
static void find_candidates(const Problem *a, Candidates *near, const double *c, int64_t k) {
    const int64_t n = a->n, d = a->d;
    const double length = length_of(c, d);
    for (int64_t j = 0; j < d; j++) near->centre[j] = c[j] / length;
    memset(a->best, 0, (size_t)n);
    project(a->V, n, near->centre, d, n, a->all);
    double least = INFINITY, size = 0.0;
    for (int64_t q = 0; q < k; q++) {
        const int64_t i = near->items[q];
        const double score = a->all[i], below = score - RADIUS * a->norms[i];
        a->best[i] = 1;
        least = lower(below, least);
        size = higher(fabs(score), size);
    }
    least -= 1e-9 * (fabs(least) + size);
    int64_t count = k;
    for (int64_t i = 0; i < n; i++)
        if (a->all[i] + RADIUS * a->norms[i] >= least && !a->best[i])
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

/* The first k items, as if they were the best along some direction. */
static Top first_k(const Problem *a, Room *room) {
    Top top = {.block = MAX_BLOCK};
    top.number = take(room, MAX_OPEN, sizeof *top.number);
    top.score = take(room, MAX_OPEN, sizeof *top.score);
    top.V = take(room, a->d * MAX_OPEN, sizeof *top.V);
    top.items = take(room, MAX_OPEN, sizeof *top.items);
    top.first = take(room, a->k, sizeof *top.first);
    top.read = take(room, MAX_OPEN, sizeof *top.read);
    top.is_read = take(room, MAX_OPEN, sizeof *top.is_read);
    top.swaps = take(room, 2 * MAX_SWAPS, sizeof *top.swaps);
    top.sums = take(room, MAX_OPEN, sizeof *top.sums);
    top.pairs = take(room, MAX_OPEN * MAX_OPEN, sizeof *top.pairs);
    top.chosen = take(room, a->n, sizeof *top.chosen);
    top.total = take(room, a->d, sizeof *top.total);
    if (room->status) return top;
    memset(top.chosen, 1, (size_t)a->k);
    for (int64_t i = 0; i < a->k; i++) a->list[i] = i;
    for (int64_t j = 0; j < a->d; j++)
        for (int64_t i = 0; i < a->k; i++) top.total[j] += a->V[j * a->n + i];
    top.value = worth_of(a, a->list, a->k);
    return top;
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

/* Let the items that are marked as best take the place of those chosen; list them. */
static void exchange(const Problem *a, Top *top) {
    const int64_t n = a->n;
    int64_t count = 0, q = 0;
    for (int64_t i = 0; i < n; i++)
        if (top->chosen[i]) a->list[count++] = i;
    for (int64_t into = 0; into < n; into++) {
        if (!a->best[into] || top->chosen[into]) continue;
        while (a->best[a->list[q]]) q++;
        const int64_t out = a->list[q];
        const double *out_row = a->Q + out * n, *into_row = a->Q + into * n;
        double gone = 0.0, come = 0.0;
        for (int64_t r = 0; r < count; r++) {
            gone += out_row[a->list[r]];
            come += into_row[a->list[r]];
        }
        /* p_v - p_u - 2 Q_uv, where an item does not count itself */
        top->value += into_row[into] + 2 * come - 2 * gone + out_row[out] - 2 * out_row[into];
        for (int64_t j = 0; j < a->d; j++)
            top->total[j] += a->V[j * n + into] - a->V[j * n + out];
        top->chosen[out] = 0;
        top->chosen[into] = 1;
        a->list[q] = into;
    }
}

/* Choose the best items amid the first of some directions, as many as leave few items open;
   return how many directions that are. */
static int64_t settle(const Problem *a, const double *directions, int64_t count, Top *top) {
    const int64_t n = a->n;
    int64_t block = least_of(least_of(2 * top->block, MAX_BLOCK), count);
    for (;; block = (block + 1) / 2) {
        const double radius = find_middle(a, directions, block);
        mark_best(a, a->centre);
        if (block == 1) top->inside = top->count = 0;
        if (block == 1 || find_open(a, top, radius)) break;
    }
    exchange(a, top);
    memcpy(top->first, a->list, (size_t)a->k * sizeof *top->first);
    memset(top->is_read, 0, (size_t)top->count);
    top->n_read = top->n_swaps = 0;
    for (int64_t q = 0; q < top->count; q++) {
        top->number[q] = q;
        for (int64_t j = 0; j < a->d; j++)
            top->V[j * MAX_OPEN + q] = a->V[j * n + top->items[q]];
    }
    return top->block = block;
}

/* Read what is needed to swap an open item; few of them ever are. */
static void read_item(const Problem *a, Top *top, int64_t q) {
    if (top->is_read[q]) return;
    const double *row = a->Q + top->items[q] * a->n;
    double *pairs = top->pairs + q * MAX_OPEN, sum = 0.0;
    for (int64_t r = 0; r < top->count; r++) pairs[r] = row[top->items[r]];
    for (int64_t r = 0; r < a->k; r++) sum += row[top->first[r]];
    for (const int64_t *s = top->swaps; s < top->swaps + 2 * top->n_swaps; s += 2)
        sum += pairs[s[0]] - pairs[s[1]];
    top->sums[q] = sum;
    top->is_read[q] = 1;
    top->read[top->n_read++] = q;
}

/* Let the item at place u go and that at place v come. */
static void swap(const Problem *a, Top *top, int64_t u, int64_t v) {
    const int64_t out = top->number[u], into = top->number[v];
    const double *out_row = top->pairs + out * MAX_OPEN, *into_row = top->pairs + into * MAX_OPEN;
    read_item(a, top, out);
    read_item(a, top, into);
    for (int64_t q = 0; q < top->count && top->n_swaps == MAX_SWAPS; q++) read_item(a, top, q);
    top->value += into_row[into] + 2 * top->sums[into] - 2 * top->sums[out] + out_row[out] -
                  2 * out_row[into];
    for (int64_t r = 0; r < top->n_read; r++)
        top->sums[top->read[r]] += into_row[top->read[r]] - out_row[top->read[r]];
    if (top->n_swaps < MAX_SWAPS) {
        top->swaps[2 * top->n_swaps] = into;
        top->swaps[2 * top->n_swaps++ + 1] = out;
    }
    top->chosen[top->items[out]] = 0;
    top->chosen[top->items[into]] = 1;
    top->number[u] = into;
    top->number[v] = out;
    trade(top->score + u, top->score + v);
    for (int64_t j = 0; j < a->d; j++) {
        double *row = top->V + j * MAX_OPEN;
        top->total[j] += row[v] - row[u];
        trade(row + u, row + v);
    }
}

/* Swap open items until the choice holds the k highest scores along c. */
static void follow(const Problem *a, const double *c, Top *top) {
    const int64_t inside = top->inside;
    const double *score = top->score;
    if (inside == 0 || inside == top->count) return;
    project(top->V, MAX_OPEN, c, a->d, top->count, top->score);
    for (;;) {
        const double low = bestk_range(score, inside).low;
        const double high = bestk_range(score + inside, top->count - inside).high;
        if (high <= low) return;
        int64_t u = 0, v = inside;
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
   Along c lie X = top_k(V'c) and, where a sign is negative, Y = top_k(V'SVx). The best k of their
   union, which cost k^2 steps, are looked at after a block in which X and Y were worth more
   together than before. */
EXPORT int bestk_try_directions(const double *Q, const double *V, const double *signs, int64_t n,
    int64_t d, int64_t k, const double *directions, int64_t n_directions, uint8_t *best,
    double *record) {
    Room room = {0};
    Problem a = {.Q = Q, .V = V, .signs = signs, .n = n, .d = d, .k = k};
    a.norms = spread(&a, &room);
    a.centre = take(&room, d, sizeof *a.centre);
    a.all = take(&room, n, sizeof *a.all);
    a.sorted = take(&room, n, sizeof *a.sorted);
    a.list = take(&room, n, sizeof *a.list);
    a.best = take(&room, n, sizeof *a.best);
    double *turned = take(&room, MAX_BLOCK * (d + 1), sizeof *turned);
    double *values = turned + MAX_BLOCK * d;
    uint8_t *both = take(&room, n, sizeof *both);
    if (room.status) return release(&room);
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
            keep(x.chosen, x.value, n, record, best);
            values[b] = x.value;
            for (int64_t j = 0; j < d; j++) turned[b * d + j] = signs[j] * x.total[j];
        }
        int better = 0;
        for (int64_t b = 0, end = 0; both_ways && b < block; b++) {
            if (b == end) end += settle(&a, turned + b * d, block - b, &y);
            follow(&a, turned + b * d, &y);
            keep(y.chosen, y.value, n, record, best);
            if (!(values[b] + y.value > pair)) continue;
            better = 1;
            pair = values[b] + y.value;
            mark_best(&a, directions + (t + b) * d);
            for (int64_t i = 0; i < n; i++) both[i] = a.best[i] | y.chosen[i];
        }
        if (better) keep(both, thin_out(&a, both, a.sorted, a.list), n, record, best);
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
    a.all = take(&room, n, sizeof *a.all);
    a.best = take(&room, n, sizeof *a.best);
    const int64_t most = ks[n_ks - 1];
    Candidates near = {0, take(&room, n, sizeof *near.items), take(&room, d, sizeof *near.centre),
        take(&room, d * n, sizeof *near.V), take(&room, n, sizeof *near.score)};
    double *sorted = take(&room, n, sizeof *sorted), *total = take(&room, d, sizeof *total);
    double *least = take(&room, n_ks, sizeof *least), *before = take(&room, n_ks, sizeof *before);
    int64_t *order = take(&room, n, sizeof *order), *held = take(&room, n, sizeof *held);
    if (room.status) return release(&room);
    for (int64_t i = 0; i < n; i++) order[i] = near.items[i] = i;
    for (int64_t j = 0; j < d; j++) near.centre[j] = INFINITY; /* all items, of no direction */
    for (int64_t b = 0; b < n_ks; b++) least[b] = -INFINITY, before[b] = INFINITY;
    for (int64_t t = 0; t < n_directions; t++) {
        const double *c = directions + t * d;
        if (!(distance(c, near.centre, d) <= RADIUS * RADIUS)) {
            for (int64_t r = 0; r < most; r++) held[r] = near.items[order[r]];
            memcpy(near.items, held, (size_t)most * sizeof *held);
            find_candidates(&a, &near, c, most);
            for (int64_t r = 0; r < near.count; r++) order[r] = r;
        }
        project(near.V, n, c, d, near.count, near.score);
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
