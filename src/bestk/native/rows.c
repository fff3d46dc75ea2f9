/* Bounds by rows: the largest entries of each row, and multipliers that make them smaller. */
#include <math.h>
#include <string.h>

#include "bestk.h"

enum { MIN_GROUPS = 64 };
enum { BEST, TARGET_STEP, AIM, SIZE, WINDOW_START, DONE }; /* in state */

/* Rows of C = Q + A, A antisymmetric: a multiplier exists where both items have a row. */
typedef struct {
    double *C; /* [m][n] */
    int64_t m, n, width;
    const int64_t *items; /* [m]: the item of each row */
    const int64_t *place; /* [n]: the row of each item, or -1 */
    const double *linear; /* [n] */
    int64_t *tops;        /* [m][width]: where the largest entries of a row are */
    double *floors;       /* [m]: the least of them */
    double *values;       /* [n]: linear + the largest entries */
} Rows;

/* Room to find the largest of n numbers. */
typedef struct {
    double *values, *peaks, *high; /* high: those listed as the largest, at where */
    int64_t *where, count;
} Scan;

static Scan new_scan(int64_t n, Room *room) {
    return (Scan){take(room, n, sizeof(double)), take(room, n, sizeof(double)),
        take(room, n, sizeof(double)), take(room, n, sizeof(int64_t)), 0};
}

/* A level that at least ``width`` of n numbers reach, and if so many steps find one, not more than
   ``most``; so many are above -inf. Each step divides a range by four. */
static double find_level(const double *x, int64_t n, int64_t width, int64_t most, int steps) {
    double low = INFINITY, high = -INFINITY;
#pragma omp simd reduction(min : low) reduction(max : high)
    for (int64_t j = 0; j < n; j++) {
        low = lower(x[j] > -INFINITY ? x[j] : INFINITY, low);
        high = higher(x[j], high);
    }
    for (int64_t reached = n; reached > most && high > low && steps > 0; steps--) {
        const double middle = low + (high - low) / 2.0;
        const double first = low + (middle - low) / 2.0, last = middle + (high - middle) / 2.0;
        int64_t n_first = 0, n_middle = 0, n_last = 0;
#pragma omp simd reduction(+ : n_first, n_middle, n_last)
        for (int64_t j = 0; j < n; j++) {
            n_first += x[j] >= first;
            n_middle += x[j] >= middle;
            n_last += x[j] >= last;
        }
        const int upper = n_middle >= width;
        const double level = upper ? last : first;
        const int64_t count = upper ? n_last : n_first;
        if (upper)
            low = middle, reached = n_middle;
        else
            high = middle;
        if (count < width)
            high = level;
        else
            low = level, reached = count;
    }
    return low;
}

/* List numbers that hold the ``width`` largest of n. If so many of their groups have a peak at a
   level, these are at the level or above it. */
static void find_high(Scan *s, int64_t n, int64_t width) {
    const int64_t groups = least_of(n, most_of(MIN_GROUPS, (4 * width + 7) / 8 * 8));
    const double *x = s->values;
    memcpy(s->peaks, x, (size_t)groups * sizeof *x);
    for (int64_t first = groups; first < n; first += groups) {
        const int64_t size = least_of(groups, n - first);
#pragma omp simd
        for (int64_t g = 0; g < size; g++) s->peaks[g] = higher(x[first + g], s->peaks[g]);
    }
    const double level = find_level(s->peaks, groups, width, width + width / 4, 6);
    int64_t count = 0, *where = s->where;
    for (int64_t g = 0; g < groups; g++)
        for (int64_t j = g; j < n && s->peaks[g] >= level; j += groups) {
            where[count] = j;
            count += x[j] >= level;
        }
    for (int64_t q = 0; q < count; q++) s->high[q] = x[where[q]];
    s->count = count;
}

/* Keep the ``width`` largest of those listed, the least first; write where they are. */
static double keep_top(Scan *s, int64_t width, int64_t *where) {
    double level = find_level(s->high, s->count, width, width + 3, 30);
    for (int exact = 0; !exact || s->count > width; exact = 1) { /* below it, then the least */
        int64_t count = 0, surplus = s->count - width;
        if (exact) level = bestk_range(s->high, s->count).low;
        for (int64_t q = 0; q < s->count; q++) {
            const double value = s->high[q];
            const int dropped = exact ? value == level && surplus > 0 : value < level;
            s->where[count] = s->where[q];
            s->high[count] = value;
            surplus -= dropped;
            count += !dropped;
        }
        s->count = count;
    }
    double sum = s->count < width ? INFINITY : 0.0; /* too few: still a bound */
    for (int64_t q = 0; q < width; q++) sum += s->high[q];
    memcpy(where, s->where, (size_t)width * sizeof *where);
    s->high[0] = bestk_range(s->high, width).low;
    return sum;
}

/* The sum of the ``width`` largest row[j] - shift[j], j not own; where they are; the least first in
   high. */
static double scan(Scan *s, const double *row, const double *shift, int64_t n, int64_t own,
    int64_t width, int64_t *where) {
    double *restrict values = s->values;
    for (int64_t j = 0; j < n; j++) values[j] = shift ? row[j] - shift[j] : row[j];
    if (own >= 0) s->values[own] = -INFINITY;
    find_high(s, n, width);
    return keep_top(s, width, where);
}

/* Of each of m rows: the sum of its ``width`` largest entries less the shift of their columns, the
   entry of its own item left out; where they are, and the least. A column with the shift inf does
   not count, nor is the row of its item read. known: where the largest were when fewer columns had
   the shift inf; a row with enough of them left is not read, either. */
EXPORT int bestk_row_tops(const double *C, int64_t step, int64_t m, int64_t n,
    const int64_t *items, const double *shift, const int64_t *known, int64_t known_step,
    int64_t n_known, int64_t width, int64_t *tops, int64_t stride, double *floors, double *sums) {
    Room room = {0};
    Scan s = new_scan(n, &room);
    for (int64_t p = 0; p < m && !room.status; p++) {
        const double *row = C + p * step;
        int64_t *own = tops + p * stride;
        sums[p] = floors[p] = s.count = 0;
        if (shift && shift[items[p]] == INFINITY) continue;
        for (int64_t q = 0; q < n_known; q++) {
            const int64_t j = s.where[s.count] = known[p * known_step + q];
            s.high[s.count] = row[j] - (shift ? shift[j] : 0.0);
            s.count += s.high[s.count] > -INFINITY;
        }
        sums[p] = n_known && s.count >= width ? keep_top(&s, width, own)
                                              : scan(&s, row, shift, n, items[p], width, own);
        floors[p] = s.high[0];
    }
    return release(&room);
}

static int holds(const int64_t *list, int64_t count, int64_t item) {
    for (int64_t q = 0; q < count; q++)
        if (list[q] == item) return 1;
    return 0;
}

/* Bring a row up to date after its entry of one item has grown. */
static void raise_entry(Rows *r, int64_t p, int64_t item) {
    const double *row = r->C + p * r->n;
    int64_t *top = r->tops + p * r->width;
    if (!holds(top, r->width, item)) {
        if (!(row[item] > r->floors[p])) return;
        int64_t q = 0;
        while (row[top[q]] != r->floors[p]) q++;
        top[q] = item;
    }
    double sum = 0.0, least = INFINITY;
    for (int64_t q = 0; q < r->width; q++) {
        sum += row[top[q]];
        least = lower(least, row[top[q]]);
    }
    r->floors[p] = least;
    r->values[r->items[p]] = r->linear[r->items[p]] + sum;
}

/* Make steps that lower the sum of the k largest values; k = width + 1.

   A row among the k largest pays ``change`` for each of its largest entries, and the partner gains
   it, unless both rows count the pair. The step aims at state[AIM] or, if that is nearer, at
   state[TARGET_STEP] below the best sum so far; this distance is halved after a window of steps
   that gained little, and doubled after one that gained much. best: the values of the best sum. */
EXPORT int bestk_lower_rows(double *C, int64_t m, int64_t n, int64_t width, const int64_t *items,
    const int64_t *place, const double *linear, int64_t *tops, double *floors, double *values,
    int64_t steps, double *best, double *state) {
    Rows r = {C, m, n, width, items, place, linear, tops, floors, values};
    Room room = {0};
    const int64_t k = width + 1;
    Scan s = new_scan(n, &room);
    int64_t *active = take(&room, k, sizeof *active);
    int64_t *pairs = take(&room, 2 * k * width, sizeof *pairs); /* row and item */
    uint8_t *busy = take(&room, m, sizeof *busy);
    if (room.status) return release(&room);
    for (int64_t step = 0; step <= steps && state[DONE] == 0.0; step++) {
        const double total = scan(&s, values, NULL, n, -1, k, active);
        if (total < state[BEST]) {
            state[BEST] = total;
            memcpy(best, values, (size_t)n * sizeof *best);
        }
        if (step == steps) break;
        const double excess = total - higher(state[AIM], state[BEST] - state[TARGET_STEP]);
        int64_t count = 0;
        for (int64_t a = 0; a < k; a++)
            if (place[active[a]] >= 0) busy[place[active[a]]] = 1;
        for (int64_t a = 0; a < k; a++) {
            const int64_t p = place[active[a]];
            for (int64_t q = 0; p >= 0 && q < width; q++) {
                const int64_t j = tops[p * width + q], other = place[j];
                if (other < 0) continue;
                if (busy[other] && holds(tops + other * width, width, active[a])) continue;
                pairs[2 * count] = p;
                pairs[2 * count++ + 1] = j;
            }
        }
        if (count == 0 || !(excess > 0.0)) state[DONE] = 1.0;
        const double change = count ? excess / (double)count : 0.0;
        for (int64_t q = 0; q < count && state[DONE] == 0.0; q++) {
            const int64_t p = pairs[2 * q], j = pairs[2 * q + 1], other = place[j];
            double *paid = C + p * n + j, *gained = C + other * n + items[p];
            *paid -= change;
            *gained += change;
            state[SIZE] = higher(state[SIZE], higher(fabs(*paid), fabs(*gained)));
            if (!busy[other]) raise_entry(&r, other, items[p]);
        }
        for (int64_t a = 0; a < k; a++) {
            const int64_t i = active[a], p = place[i];
            if (p < 0) continue;
            busy[p] = 0;
            values[i] = linear[i] + scan(&s, C + p * n, NULL, n, i, width, tops + p * width);
            floors[p] = s.high[0];
        }
    }
    const double gained = state[WINDOW_START] - state[BEST];
    if (gained < 0.25 * state[TARGET_STEP]) state[TARGET_STEP] /= 2.0;
    if (gained > state[TARGET_STEP]) state[TARGET_STEP] *= 2.0;
    state[WINDOW_START] = state[BEST];
    return release(&room);
}
