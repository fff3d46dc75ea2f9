/* Bounds by rows: the largest entries of each row, and multipliers that make them smaller. */
#include <math.h>
#include <string.h>

#include "bestk.h"

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

/* Put the number at a place of a heap where it belongs: below none that is larger. */
static void sift_down(double *heap, int64_t *where, int64_t at, int64_t count) {
    const double value = heap[at];
    const int64_t item = where[at];
    for (int64_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && heap[child + 1] < heap[child]) child++;
        if (!(heap[child] < value)) break;
        heap[at] = heap[child];
        where[at] = where[child];
        at = child;
    }
    heap[at] = value;
    where[at] = item;
}

/* Room to find the largest of n numbers. */
typedef struct {
    double *values, *peaks, *heap;
    int64_t *where;
    int64_t count; /* in the heap */
} Scan;

static Scan new_scan(int64_t n, Room *room) {
    return (Scan){take(room, n, sizeof(double)), take(room, n, sizeof(double)),
        take(room, n, sizeof(double)), take(room, n, sizeof(int64_t)), 0};
}

/* A level that at least ``width`` of n numbers reach, and if so many halvings find one, not more
   than ``most``. */
static double find_level(
    const double *x, int64_t n, int64_t width, int64_t most, int halvings) {
    const Range range = bestk_range(x, n);
    double low = range.low, high = range.high;
    for (int64_t reached = n; reached > most && halvings > 0; halvings--) {
        const double level = low + (high - low) / 2.0;
        int64_t count = 0;
#pragma omp simd reduction(+ : count)
        for (int64_t j = 0; j < n; j++) count += x[j] >= level;
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
    const int64_t groups = least_of(n, (4 * width + 7) / 8 * 8);
    const double *x = s->values;
    memcpy(s->peaks, x, (size_t)groups * sizeof *x);
    for (int64_t first = groups; first < n; first += groups) {
        const int64_t size = least_of(groups, n - first);
#pragma omp simd
        for (int64_t g = 0; g < size; g++) s->peaks[g] = higher(x[first + g], s->peaks[g]);
    }
    const double level = find_level(s->peaks, groups, width, width + width / 4, 12);
    int64_t count = 0, *where = s->where;
    for (int64_t j = 0; j < n; j++) {
        where[count] = j;
        count += x[j] >= level;
    }
    for (int64_t q = 0; q < count; q++) s->heap[q] = x[where[q]];
    s->count = count;
}

/* Keep the ``width`` largest of those listed, the least first; write where they are. */
static double keep_top(Scan *s, int64_t width, int64_t *where) {
    const double level = find_level(s->heap, s->count, width, width + 3, 24);
    int64_t count = 0;
    for (int64_t q = 0; q < s->count; q++) {
        const double value = s->heap[q];
        s->where[count] = s->where[q];
        s->heap[count] = value;
        count += value >= level;
    }
    for (int64_t at = count / 2 - 1; at >= 0 && count > width; at--)
        sift_down(s->heap, s->where, at, count);
    while (count > width) { /* equal ones, or nearly so */
        s->heap[0] = s->heap[--count];
        s->where[0] = s->where[count];
        sift_down(s->heap, s->where, 0, count);
    }
    double sum = 0.0;
    for (int64_t q = 0; q < width; q++) sum += s->heap[q];
    memcpy(where, s->where, (size_t)width * sizeof *where);
    s->heap[0] = bestk_range(s->heap, width).low;
    return sum;
}

/* The sum of the ``width`` largest row[j] - shift[j], j not own; where they are; the least first in
   the heap. */
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
   not count, nor is the row of its item read. known: how many of the largest there are in tops, from a call with fewer such columns;
   a row that has enough of them left is not read again. */
EXPORT int bestk_row_tops(const double *C, int64_t step, int64_t m, int64_t n,
    const int64_t *items, const double *shift, int64_t width, int64_t known, int64_t *tops,
    int64_t stride, double *floors, double *sums) {
    Room room = {0};
    Scan s = new_scan(n, &room);
    for (int64_t p = 0; p < m && !room.status; p++) {
        const double *row = C + p * step;
        int64_t *top = tops + p * stride;
        sums[p] = floors[p] = s.count = 0;
        if (shift && shift[items[p]] == INFINITY) continue;
        for (int64_t q = 0; q < known; q++) {
            s.where[s.count] = top[q];
            s.heap[s.count] = row[top[q]] - shift[top[q]];
            s.count += s.heap[s.count] > -INFINITY;
        }
        sums[p] = known && s.count >= width ? keep_top(&s, width, top)
                                            : scan(&s, row, shift, n, items[p], width, top);
        floors[p] = s.heap[0];
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
            floors[p] = s.heap[0];
        }
    }
    const double gained = state[WINDOW_START] - state[BEST];
    if (gained < 0.25 * state[TARGET_STEP]) state[TARGET_STEP] /= 2.0;
    if (gained > state[TARGET_STEP]) state[TARGET_STEP] *= 2.0;
    state[WINDOW_START] = state[BEST];
    return release(&room);
}
