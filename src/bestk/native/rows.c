/* Bounds by rows: the largest entries of each row, and multipliers that make them smaller. */
#include <math.h>
#include <string.h>

#include "bestk.h"

enum { MIN_GROUPS = 64 }; /* into which numbers are divided to find the largest */

/* Room to find the largest of n numbers. */
typedef struct {
    double *values; /* [n]: the numbers */
    double *peaks;  /* [n]: the largest number of each group */
    double *high;   /* [count]: candidates for the largest */
    int64_t *where; /* [count]: where these are among the numbers */
    int64_t count;
} Scan;

static Scan new_scan(int64_t n, Room *room) {
    Scan scan;
    scan.values = take(room, n, sizeof *scan.values);
    scan.peaks = take(room, n, sizeof *scan.peaks);
    scan.high = take(room, n, sizeof *scan.high);
    scan.where = take(room, n, sizeof *scan.where);
    scan.count = 0;
    return scan;
}

/* A level that at least ``width`` of n numbers reach, of which so many are above -inf; if so many
   steps find one, a level that not more than ``most`` reach.

   Each step counts the numbers at or above three levels that divide a range into four, and goes on
   with the quarter in which the number of those that reach the level comes down to ``width``. */
static double find_level(const double *x, int64_t n, int64_t width, int64_t most, int steps) {
    double low = INFINITY;
    double high = -INFINITY;
#pragma omp simd reduction(min : low) reduction(max : high)
    for (int64_t j = 0; j < n; j++) {
        low = lower(x[j] > -INFINITY ? x[j] : INFINITY, low);
        high = higher(x[j], high);
    }
    int64_t n_reaching = n; /* of the numbers, those that reach the level ``low`` */
    for (; n_reaching > most && high > low && steps > 0; steps--) {
        const double middle = low + (high - low) / 2.0;
        const double first = low + (middle - low) / 2.0;
        const double last = middle + (high - middle) / 2.0;
        int64_t n_first = 0;
        int64_t n_middle = 0;
        int64_t n_last = 0;
#pragma omp simd reduction(+ : n_first, n_middle, n_last)
        for (int64_t j = 0; j < n; j++) {
            n_first += x[j] >= first;
            n_middle += x[j] >= middle;
            n_last += x[j] >= last;
        }
        /* Which half, by the middle; then which quarter, by the level within that half. */
        double level;
        int64_t n_at_level;
        if (n_middle >= width) {
            low = middle;
            n_reaching = n_middle;
            level = last;
            n_at_level = n_last;
        } else {
            high = middle;
            level = first;
            n_at_level = n_first;
        }
        if (n_at_level >= width) {
            low = level;
            n_reaching = n_at_level;
        } else {
            high = level;
        }
    }
    return low;
}

/* List numbers that hold the ``width`` largest of n.

   Number j is in group j modulo the number of groups. If ``width`` groups have a peak at a level,
   at least so many numbers reach it, so that the largest ones do, and only groups of such a peak
   have to be looked into. */
static void find_high(Scan *scan, int64_t n, int64_t width) {
    const double *x = scan->values;
    const int64_t wanted_groups = (4 * width + 7) / 8 * 8;
    const int64_t groups = least_of(n, most_of(MIN_GROUPS, wanted_groups));
    memcpy(scan->peaks, x, (size_t)groups * sizeof *x);
    for (int64_t first = groups; first < n; first += groups) {
        const int64_t size = least_of(groups, n - first);
#pragma omp simd
        for (int64_t g = 0; g < size; g++) scan->peaks[g] = higher(x[first + g], scan->peaks[g]);
    }
    const double level = find_level(scan->peaks, groups, width, width + width / 4, 6);
    int64_t count = 0;
    for (int64_t g = 0; g < groups; g++) {
        if (scan->peaks[g] < level) continue;
        for (int64_t j = g; j < n; j += groups) {
            scan->where[count] = j;
            count += x[j] >= level;
        }
    }
    for (int64_t q = 0; q < count; q++) scan->high[q] = x[scan->where[q]];
    scan->count = count;
}

/* Drop the candidates below a level; of those at ``lowest``, drop so many of the first. */
static void drop_low(Scan *scan, double level, double lowest, int64_t n_lowest) {
    int64_t count = 0;
    for (int64_t q = 0; q < scan->count; q++) {
        const double value = scan->high[q];
        const int is_surplus = value == lowest && n_lowest > 0;
        const int is_dropped = value < level || is_surplus;
        scan->where[count] = scan->where[q];
        scan->high[count] = value;
        n_lowest -= is_surplus;
        count += !is_dropped;
    }
    scan->count = count;
}

/* Keep the ``width`` largest of the candidates, write where they are, and return their sum. The
   smallest of them comes first in ``high``.

   A level divides most of the others off; of what is above it, the smallest are dropped, some of
   equal ones. The sum is infinite if there are too few candidates: that is still a bound. */
static double keep_top(Scan *scan, int64_t width, int64_t *where) {
    const double level = find_level(scan->high, scan->count, width, width + 3, 30);
    drop_low(scan, level, -INFINITY, 0);
    while (scan->count > width) {
        const double lowest = bestk_range(scan->high, scan->count).low;
        drop_low(scan, lowest, lowest, scan->count - width);
    }
    double sum = scan->count < width ? INFINITY : 0.0;
    for (int64_t q = 0; q < width; q++) sum += scan->high[q];
    memcpy(where, scan->where, (size_t)width * sizeof *where);
    scan->high[0] = bestk_range(scan->high, width).low;
    return sum;
}

/* The sum of the ``width`` largest row[j] - shift[j] with j other than ``own``; where they are. The
   smallest of them comes first in ``high``. shift: NULL for none; own: -1 for no such j. */
static double sum_top(Scan *scan, const double *row, const double *shift, int64_t n, int64_t own,
    int64_t width, int64_t *where) {
    double *restrict values = scan->values;
    for (int64_t j = 0; j < n; j++) values[j] = shift ? row[j] - shift[j] : row[j];
    if (own >= 0) scan->values[own] = -INFINITY;
    find_high(scan, n, width);
    return keep_top(scan, width, where);
}

/* List as candidates the entries of a row at some places, but for those of infinite shift. */
static void list_candidates(
    Scan *scan, const double *row, const double *shift, const int64_t *places, int64_t n_places) {
    scan->count = 0;
    for (int64_t q = 0; q < n_places; q++) {
        const int64_t j = places[q];
        const double value = row[j] - (shift ? shift[j] : 0.0);
        scan->where[scan->count] = j;
        scan->high[scan->count] = value;
        scan->count += value > -INFINITY;
    }
}

/* Of each of m rows of n entries, a step apart: the sum of its ``width`` largest entries less the
   shift of their columns, the entry of its own item left out; where they are, and the smallest.

   items: the item of each row. shift: of each column, or NULL; a column with the shift inf does
   not count, nor is the row of its item read. known: where the n_known largest of each row were
   when fewer columns had the shift inf, or NULL; where enough of them are left, these are the
   largest still, and the row is not read, either. */
EXPORT int bestk_row_tops(const double *C, int64_t step, int64_t m, int64_t n,
    const int64_t *items, const double *shift, const int64_t *known, int64_t known_step,
    int64_t n_known, int64_t width, int64_t *tops, int64_t stride, double *floors, double *sums) {
    Room room = {0};
    Scan scan = new_scan(n, &room);
    for (int64_t p = 0; p < m && !room.status; p++) {
        const double *row = C + p * step;
        const int64_t item = items[p];
        int64_t *where = tops + p * stride;
        sums[p] = 0.0;
        floors[p] = 0.0;
        if (shift && shift[item] == INFINITY) continue;
        if (n_known) list_candidates(&scan, row, shift, known + p * known_step, n_known);
        if (n_known && scan.count >= width)
            sums[p] = keep_top(&scan, width, where);
        else
            sums[p] = sum_top(&scan, row, shift, n, item, width, where);
        floors[p] = scan.high[0];
    }
    return release(&room);
}

/* Rows of C = Q + A, A antisymmetric: a multiplier exists where both items have a row. */
typedef struct {
    double *C; /* [m][n] */
    int64_t m, n, width;
    const int64_t *items; /* [m]: the item of each row */
    const int64_t *place; /* [n]: the row of each item, or -1 */
    const double *linear; /* [n] */
    int64_t *tops;        /* [m][width]: where the largest entries of a row are */
    double *floors;       /* [m]: the smallest of them */
    double *values;       /* [n]: linear + the largest entries */
} Rows;

/* How far the multipliers are; LOWERING in rows.py has the same fields in this order. */
typedef struct {
    double best_sum;    /* the lowest sum of the k largest values so far */
    double target_step; /* by how much a step tries to lower it */
    double aim;         /* no step tries to get below this sum */
    double size;        /* the largest absolute value of an entry so far */
    double sum_before;  /* the lowest sum when the last call ended */
    double done;        /* 1 when no step can lower the sum any more */
} Lowering;

/* An entry of C that a step lowers. */
typedef struct {
    int64_t row;  /* of an item among the k of the largest values */
    int64_t item; /* of the column, which has a row, too */
} Entry;

/* Scratch of a call. */
typedef struct {
    Scan scan;
    int64_t *active;  /* [k]: the items of the largest values */
    Entry *entries;   /* [k * width]: those that a step lowers */
    uint8_t *is_busy; /* [m]: whether a row is that of an active item */
} Work;

static int holds(const int64_t *list, int64_t count, int64_t item) {
    for (int64_t q = 0; q < count; q++)
        if (list[q] == item) return 1;
    return 0;
}

/* Bring the value of a row up to date after its entry of one item has grown. */
static void raise_entry(Rows *r, int64_t p, int64_t item) {
    const double *row = r->C + p * r->n;
    int64_t *top = r->tops + p * r->width;
    if (!holds(top, r->width, item)) {
        if (!(row[item] > r->floors[p])) return;
        int64_t q = 0;
        while (row[top[q]] != r->floors[p]) q++;
        top[q] = item; /* in place of the smallest */
    }
    double sum = 0.0;
    double lowest = INFINITY;
    for (int64_t q = 0; q < r->width; q++) {
        sum += row[top[q]];
        lowest = lower(lowest, row[top[q]]);
    }
    r->floors[p] = lowest;
    r->values[r->items[p]] = r->linear[r->items[p]] + sum;
}

/* List the largest entries of active rows whose partner has a row, unless that is active and counts
   the pair, too: then what one row pays, the other gains. Return their number. */
static int64_t list_entries(const Rows *r, Work *work, int64_t k) {
    int64_t count = 0;
    for (int64_t a = 0; a < k; a++) {
        const int64_t p = r->place[work->active[a]];
        if (p < 0) continue;
        for (int64_t q = 0; q < r->width; q++) {
            const int64_t item = r->tops[p * r->width + q];
            const int64_t partner = r->place[item];
            if (partner < 0) continue;
            const int64_t *partner_tops = r->tops + partner * r->width;
            if (work->is_busy[partner] && holds(partner_tops, r->width, work->active[a])) continue;
            work->entries[count].row = p;
            work->entries[count].item = item;
            count++;
        }
    }
    return count;
}

/* Lower each listed entry by a change, and raise that of the same pair in the partner's row. */
static void pay(Rows *r, const Work *work, int64_t count, double change, Lowering *state) {
    for (int64_t e = 0; e < count; e++) {
        const int64_t p = work->entries[e].row;
        const int64_t item = work->entries[e].item;
        const int64_t partner = r->place[item];
        double *paid = r->C + p * r->n + item;
        double *gained = r->C + partner * r->n + r->items[p];
        *paid -= change;
        *gained += change;
        state->size = higher(state->size, higher(fabs(*paid), fabs(*gained)));
        if (!work->is_busy[partner]) raise_entry(r, partner, r->items[p]);
    }
}

/* Find the largest entries of the active rows anew. */
static void rescan(Rows *r, Work *work, int64_t k) {
    for (int64_t a = 0; a < k; a++) {
        const int64_t item = work->active[a];
        const int64_t p = r->place[item];
        if (p < 0) continue;
        int64_t *where = r->tops + p * r->width;
        const double sum =
            sum_top(&work->scan, r->C + p * r->n, NULL, r->n, item, r->width, where);
        r->values[item] = r->linear[item] + sum;
        r->floors[p] = work->scan.high[0];
        work->is_busy[p] = 0;
    }
}

/* After a window of steps: aim nearer if they gained little, and further if they gained much. */
static void adapt_target(Lowering *state) {
    const double gained = state->sum_before - state->best_sum;
    if (gained < 0.25 * state->target_step) state->target_step /= 2.0;
    if (gained > state->target_step) state->target_step *= 2.0;
    state->sum_before = state->best_sum;
}

/* Make steps that lower the sum of the k largest values, k = width + 1.

   A row among the k largest pays ``change`` for each of its largest entries, and the partner gains
   it, unless both rows count the pair. Every row that pays lowers the sum by as much, so the change
   is that which leads to the aim of the step: ``target_step`` below the best sum, or ``aim``.

   C, items, place, linear, tops, floors, values: as in Rows. best: [n], the values of the lowest
   sum. state: as in Lowering. */
EXPORT int bestk_lower_rows(double *C, int64_t m, int64_t n, int64_t width, const int64_t *items,
    const int64_t *place, const double *linear, int64_t *tops, double *floors, double *values,
    int64_t steps, double *best, double *state_values) {
    Rows r = {C, m, n, width, items, place, linear, tops, floors, values};
    Lowering *state = (Lowering *)state_values;
    const int64_t k = width + 1;
    Room room = {0};
    Work work;
    work.scan = new_scan(n, &room);
    work.active = take(&room, k, sizeof *work.active);
    work.entries = take(&room, k * width, sizeof *work.entries);
    work.is_busy = take(&room, m, sizeof *work.is_busy);
    if (room.status) return release(&room);
    for (int64_t step = 0; step <= steps && state->done == 0.0; step++) {
        const double sum = sum_top(&work.scan, values, NULL, n, -1, k, work.active);
        if (sum < state->best_sum) {
            state->best_sum = sum;
            memcpy(best, values, (size_t)n * sizeof *best);
        }
        if (step == steps) break;
        for (int64_t a = 0; a < k; a++) {
            const int64_t p = place[work.active[a]];
            if (p >= 0) work.is_busy[p] = 1;
        }
        const int64_t count = list_entries(&r, &work, k);
        const double excess = sum - higher(state->aim, state->best_sum - state->target_step);
        if (count == 0 || !(excess > 0.0))
            state->done = 1.0;
        else
            pay(&r, &work, count, excess / (double)count, state);
        rescan(&r, &work, k);
    }
    adapt_target(state);
    return release(&room);
}
