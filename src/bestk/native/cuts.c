/* Cut points of columns: MDLP, CAIM and bins of equal frequency. */
#include <math.h>
#include <string.h>

#include "bestk.h"

#define TIE 1e-12              /* scores closer than this, relative to their scale, are equal */
enum { CELLS_PER_SAMPLE = 4 }; /* a value x class table up to this size is cheaper than sorting */
enum { MAX_SMALL_CUTS = 254 }; /* of a column whose codes take a byte */

/* A column in order. Value d has the runs start[d] up to start[d + 1], each a class and a count. */
typedef struct {
    int64_t n_values, n_known;
    double *value;
    int32_t *start, *label, *size;
} Runs;

/* A column cut into intervals: i holds the values edge[i] up to edge[i + 1]. Its best cut, before
   value cut[i], is worth gain[i]; -inf if there is none to make. */
typedef struct {
    int64_t *edge, *cut;
    double *gain, *score, *score_right;
    int64_t *left, *right, *both; /* counts of classes */
} Scheme;

/* Room for one column of a block, and what the block is cut by. */
typedef struct {
    int64_t n_samples, n_classes, max_bins;
    const int32_t *y;
    const double *xlogx, *steps, *logs, *classes; /* tables of logarithms; see bestk_cut */
    int32_t *cells;
    uint64_t *pairs, *spare;
    Runs runs;
    Scheme scheme;
} Cutter;

/* Take the memory that one column needs. */
static void make_room(Cutter *cutter, Room *room) {
    const int64_t n = cutter->n_samples + 2, n_classes = cutter->n_classes;
    Runs *runs = &cutter->runs;
    Scheme *scheme = &cutter->scheme;
    cutter->pairs = take(room, n, sizeof *cutter->pairs);
    cutter->spare = take(room, n, sizeof *cutter->spare);
    cutter->cells = take(room, n * CELLS_PER_SAMPLE, sizeof *cutter->cells);
    runs->value = take(room, n, sizeof *runs->value);
    runs->start = take(room, n, sizeof *runs->start);
    runs->label = take(room, n, sizeof *runs->label);
    runs->size = take(room, n, sizeof *runs->size);
    scheme->edge = take(room, n, sizeof *scheme->edge);
    scheme->cut = take(room, n, sizeof *scheme->cut);
    scheme->gain = take(room, n, sizeof *scheme->gain);
    scheme->score = take(room, n, sizeof *scheme->score);
    scheme->score_right = take(room, n, sizeof *scheme->score_right);
    scheme->left = take(room, n_classes, sizeof *scheme->left);
    scheme->right = take(room, n_classes, sizeof *scheme->right);
    scheme->both = take(room, n_classes, sizeof *scheme->both);
}

/* The mean of two numbers, rounded so that low <= midpoint < high. */
static double midpoint(double low, double high) {
    const double middle = 0.5 * low + 0.5 * high;
    return low <= middle && middle < high ? middle : low;
}

/* Runs of whole numbers from low on: a cell for each value and class. */
static void count_cells(Cutter *cutter, const double *column, double low, int64_t span) {
    Runs *runs = &cutter->runs;
    const int64_t n_classes = cutter->n_classes;
    int32_t *cells = cutter->cells;
    memset(cells, 0, sizeof *cells * (size_t)(span * n_classes));
    for (int64_t i = 0; i < cutter->n_samples; i++)
        if (column[i] == column[i]) cells[(int64_t)(column[i] - low) * n_classes + cutter->y[i]]++;
    int64_t n_runs = 0, n_values = 0;
    for (int64_t t = 0; t < span; t++) {
        runs->value[n_values] = low + (double)t;
        for (int64_t c = 0; c < n_classes; c++) {
            runs->label[n_runs] = (int32_t)c;
            runs->size[n_runs] = *cells;
            n_runs += *cells++ > 0;
        }
        n_values += n_runs > runs->start[n_values];
        runs->start[n_values] = (int32_t)n_runs;
    }
    runs->n_values = n_values;
}

/* Runs of any numbers: sort them, then join equal neighbours. Classes ascend with the rows. */
static void sort_runs(Cutter *cutter, const double *column, Range range) {
    Runs *runs = &cutter->runs;
    int64_t n_runs = 0, n_values = 0, first = 0, label = -1;
    double value = NAN;
    bestk_sort_column(column, cutter->n_samples, range, cutter->pairs, cutter->spare);
    for (int64_t i = 0; i < range.n_known; i++) {
        const int64_t row = row_of(cutter->pairs[i]);
        const int is_fresh = column[row] != value, begins = is_fresh | (cutter->y[row] != label);
        value = column[row];
        label = cutter->y[row];
        first = begins ? i : first;
        n_values += is_fresh;
        n_runs += begins;
        runs->value[n_values - 1] = value + 0.0; /* -0.0 becomes 0.0 */
        runs->start[n_values] = (int32_t)n_runs;
        runs->label[n_runs - 1] = (int32_t)label;
        runs->size[n_runs - 1] = (int32_t)(i + 1 - first);
    }
    runs->n_values = n_values;
}

/* Whether all numbers that are known, below 2^51, are whole. */
static int is_whole(const double *column, int64_t n) {
    const double far = 0x1.8p52; /* fractions are lost on the way there and back */
    int64_t parts = 0;
    for (int64_t i = 0; i < n && !parts; i += LINE)
        for (const double *x = column + i; x < column + least_of(i + LINE, n); x++)
            parts |= (*x + far - far != *x) & (*x == *x);
    return !parts;
}

/* The distinct values of a column and their classes, NaN left out; 0 if one is infinite. */
static int tally(Cutter *cutter, const double *column) {
    const int64_t n = cutter->n_samples;
    const Range range = bestk_range(column, n);
    cutter->runs.n_values = cutter->runs.start[0] = 0;
    cutter->runs.n_known = range.n_known;
    if (range.n_known == 0) return 1;
    if (isinf(range.low) || isinf(range.high)) return 0;
    const double cells = (range.high - range.low + 1.0) * (double)cutter->n_classes;
    const int near = fabs(range.low) < 1e15 && fabs(range.high) < 1e15;
    if (near && cells <= CELLS_PER_SAMPLE * (double)n && is_whole(column, n))
        count_cells(cutter, column, range.low, (int64_t)(range.high - range.low) + 1);
    else
        sort_runs(cutter, column, range);
    return 1;
}

/* The first place whose value is within tie of the largest. */
static int64_t first_largest(const double *values, int64_t n, double tie) {
    const double least = bestk_range(values, n).high - tie;
    int64_t i = 0;
    while (i + 1 < n && !(values[i] >= least)) i++;
    return i;
}

/* Make the best cut of interval i; the gains of i and i + 1 are to be found anew. */
static void split(Scheme *scheme, int64_t n_bins, int64_t i) {
    for (int64_t t = n_bins; t > i; t--) {
        scheme->edge[t + 1] = scheme->edge[t];
        scheme->cut[t] = scheme->cut[t - 1];
        scheme->gain[t] = scheme->gain[t - 1];
    }
    scheme->edge[i + 1] = scheme->cut[i];
}

/* Classes of the values from first up to stop. */
static void count_classes(
    const Runs *runs, int64_t first, int64_t stop, int64_t *counts, int64_t n) {
    const int64_t begin = runs->start[first], end = runs->start[stop];
    memset(counts, 0, sizeof *counts * (size_t)n);
    if (n == 2) { /* sums need not wait for each other */
        int64_t all = 0, ones = 0;
        for (int64_t run = begin; run < end; run++) {
            all += runs->size[run];
            ones += runs->size[run] * runs->label[run];
        }
        counts[0] = all - ones;
        counts[1] = ones;
        return;
    }
    for (int64_t run = begin; run < end; run++) counts[runs->label[run]] += runs->size[run];
}

/* The classes of some samples: how many of both, and N times the entropy. */
typedef struct {
    int64_t size, present;
    double entropy;
} Mix;

static Mix mix_of(const int64_t *counts, const Cutter *cutter) {
    Mix mix = {0};
    double sum = 0.0;
    for (int64_t c = 0; c < cutter->n_classes; c++) {
        sum += cutter->xlogx[counts[c]];
        mix.size += counts[c];
        mix.present += counts[c] > 0;
    }
    mix.entropy = cutter->xlogx[mix.size] - sum;
    return mix;
}

/* k Ent(S). */
static double weight_of(Mix mix) { return (double)mix.present * mix.entropy / (double)mix.size; }

/* MDLP: score each boundary of the values from first up to stop by minus the entropy left, times
   N; return the largest score. scheme.both: the classes of them all. */
static double sweep_entropy(const Cutter *cutter, int64_t first, int64_t stop) {
    const Runs *runs = &cutter->runs;
    const double *xlogx = cutter->xlogx, *steps = cutter->steps;
    int64_t *left = cutter->scheme.left, *right = cutter->scheme.right;
    int64_t size_left = 0, size_right = 0;
    double sum_left = 0.0, sum_right = 0.0, largest = -INFINITY;
    for (int64_t c = 0; c < cutter->n_classes; c++) {
        left[c] = 0;
        right[c] = cutter->scheme.both[c];
        size_right += right[c];
        sum_right += xlogx[right[c]];
    }
    for (int64_t v = first; v < stop - 1; v++) {
        const int64_t a = runs->start[v], b = runs->start[v + 1], c = runs->start[v + 2];
        for (int64_t run = a; run < b; run++) {
            const int64_t label = runs->label[run], n = runs->size[run];
            const int64_t l = left[label], r = right[label];
            sum_left += n == 1 ? steps[l] : xlogx[l + n] - xlogx[l];
            sum_right += n == 1 ? -steps[r - 1] : xlogx[r - n] - xlogx[r];
            left[label] = l + n;
            right[label] = r - n;
            size_left += n;
            size_right -= n;
        }
        /* no boundary between two values that are both of one and the same class */
        const int boundary = (b - a > 1) | (c - b > 1) | (runs->label[a] != runs->label[b]);
        double score = sum_left + sum_right - xlogx[size_left] - xlogx[size_right];
        score = boundary ? score : -INFINITY;
        cutter->scheme.score[v + 1] = score;
        largest = higher(score, largest);
    }
    return largest;
}

/* MDLP: the best cut of interval i; its gain is -inf if it is not worth its bits. */
static void find_entropy_cut(Cutter *cutter, int64_t i, double tie) {
    Scheme *scheme = &cutter->scheme;
    const int64_t first = scheme->edge[i], stop = scheme->edge[i + 1], n = cutter->n_classes;
    int64_t at = first + 1;
    scheme->gain[i] = -INFINITY;
    if (stop - first < 2) return;
    count_classes(&cutter->runs, first, stop, scheme->both, n);
    const double largest = sweep_entropy(cutter, first, stop);
    if (largest == -INFINITY) return;
    while (scheme->score[at] < largest - tie) at++;
    count_classes(&cutter->runs, first, at, scheme->left, n);
    for (int64_t c = 0; c < n; c++) scheme->right[c] = scheme->both[c] - scheme->left[c];
    const Mix left = mix_of(scheme->left, cutter), right = mix_of(scheme->right, cutter);
    const Mix both = mix_of(scheme->both, cutter);
    const double parts = weight_of(left) + weight_of(right);
    const double delta = cutter->classes[both.present] - weight_of(both) + parts;
    const double saved = both.entropy + scheme->score[at];
    if (saved > cutter->logs[both.size - 1] + delta + tie) { /* what a split must save, in nats */
        scheme->cut[i] = at;
        scheme->gain[i] = saved;
    }
}

/* MDLP: make the split that saves most while one is worth it; return the number of cuts. */
static int64_t cut_by_entropy(Cutter *cutter) {
    Scheme *scheme = &cutter->scheme;
    const double tie = TIE * cutter->xlogx[cutter->runs.n_known];
    int64_t n_bins = 1;
    find_entropy_cut(cutter, 0, tie);
    while (n_bins < cutter->max_bins) {
        const int64_t i = first_largest(scheme->gain, n_bins, tie);
        if (scheme->gain[i] == -INFINITY) break;
        split(scheme, n_bins++, i);
        find_entropy_cut(cutter, i, tie);
        find_entropy_cut(cutter, i + 1, tie);
    }
    return n_bins - 1;
}

/* CAIM: let an interval grow value by value from one end; the term of a value is
   max_c q_c^2 / M of the interval that ends with it. */
static void sweep_majority(
    const Runs *runs, int64_t start, int64_t stop, int64_t step, int64_t *counts, double *term) {
    int64_t top = 0, size = 0;
    for (int64_t v = start; v != stop; v += step) {
        for (int64_t run = runs->start[v]; run < runs->start[v + 1]; run++) {
            const int64_t count = counts[runs->label[run]] += runs->size[run];
            top = most_of(count, top);
            size += runs->size[run];
        }
        term[v] = (double)(top * top) / (double)size;
    }
}

/* CAIM: the best cut of interval i and its gain; return the term of the whole interval. */
static double find_majority_cut(Cutter *cutter, int64_t i, double tie) {
    Scheme *scheme = &cutter->scheme;
    const int64_t first = scheme->edge[i], stop = scheme->edge[i + 1];
    double *score = scheme->score;
    const size_t bytes = sizeof(int64_t) * (size_t)cutter->n_classes;
    memset(scheme->left, 0, bytes);
    sweep_majority(&cutter->runs, first, stop, 1, scheme->left, score + 1);
    const double whole = score[stop];
    scheme->gain[i] = -INFINITY;
    if (stop - first > 1) {
        memset(scheme->left, 0, bytes);
        sweep_majority(&cutter->runs, stop - 1, first - 1, -1, scheme->left, scheme->score_right);
        for (int64_t v = first + 1; v < stop; v++) score[v] += scheme->score_right[v];
        scheme->cut[i] = first + 1 + first_largest(score + first + 1, stop - first - 1, tie);
        scheme->gain[i] = score[scheme->cut[i]] - whole;
    }
    return whole;
}

/* CAIM: add the best cut while it pays; return the number of cuts. */
static int64_t cut_by_majority(Cutter *cutter) {
    Scheme *scheme = &cutter->scheme;
    const int64_t most = least_of(cutter->max_bins, cutter->runs.n_values);
    const double tie = TIE * (double)cutter->runs.n_known;
    double total = find_majority_cut(cutter, 0, tie), accepted = 0.0;
    int64_t n_bins = 1;
    while (n_bins < most) {
        const int64_t i = first_largest(scheme->gain, n_bins, tie);
        const double caim = (total + scheme->gain[i]) / (double)(n_bins + 1);
        if (n_bins >= cutter->n_classes && caim <= accepted + tie / (double)(n_bins + 1)) break;
        total += scheme->gain[i];
        accepted = caim;
        split(scheme, n_bins++, i);
        find_majority_cut(cutter, i, tie);
        find_majority_cut(cutter, i + 1, tie);
    }
    return n_bins - 1;
}

/* Equal frequency: cut after the quantiles, the least values with i / max_bins of the samples at
   or below them; return the number of cuts. */
static int64_t cut_by_frequency(Cutter *cutter) {
    const Runs *runs = &cutter->runs;
    const int64_t n = runs->n_known, n_bins = cutter->max_bins;
    int64_t n_cuts = 0, below = 0, i = 1;
    for (int64_t v = 0; v + 1 < runs->n_values; v++) {
        for (int64_t r = runs->start[v]; r < runs->start[v + 1]; r++) below += runs->size[r];
        const int64_t before = i;
        while (i < n_bins && (i * n + n_bins - 1) / n_bins <= below) i++;
        if (i > before) cutter->scheme.edge[++n_cuts] = v + 1;
    }
    return n_cuts;
}

/* The codes of a column: how many of its cuts are below each number, and NaN after the last. */
static void code_column(
    const double *column, int64_t n, const double *cuts, int64_t n_cuts, uint8_t *codes) {
    for (int64_t start = 0; start < n; start += LINE) {
        double values[LINE], below[LINE] = {0};
        for (int64_t i = 0; i < LINE; i++) values[i] = column[least_of(start + i, n - 1)];
        for (int64_t c = 0; c < n_cuts && n_cuts <= SCAN; c++)
            for (int i = 0; i < LINE; i++) below[i] += values[i] > cuts[c] ? 1.0 : 0.0;
        for (int64_t i = 0; i < least_of(n - start, LINE); i++) {
            const int64_t code =
                n_cuts > SCAN ? search_cuts(cuts, n_cuts, values[i]) : (int64_t)below[i];
            codes[start + i] = (uint8_t)(values[i] == values[i] ? code : n_cuts + 1);
        }
    }
}

/* Cut each row of a block in some ways: of each the method, 0 for MDLP, 1 for CAIM, 2 for equal
   frequency, and the most bins. y: the classes, ascending. Tables for MDLP: n log n of 0 to
   n_samples, differences of neighbours in it, log n, and log(3^k - 2) of 0 to n_classes.
   cuts: [way][row][n_samples]; n_cuts: [way][row], -1 where a number is infinite; n_known: [row],
   numbers that are not NaN; codes: of the first n_coded ways, [way][code_step][n_samples]. */
EXPORT int bestk_cut(const double *block, int64_t stride, int64_t width, int64_t n_samples,
    const int32_t *y, int64_t n_classes, const int64_t *ways, int64_t n_ways, const double *xlogx,
    const double *steps, const double *logs, const double *classes, double *cuts, int64_t *n_cuts,
    int64_t *n_known, int64_t n_coded, uint8_t *codes, int64_t code_step) {
    int64_t (*const methods[])(Cutter *) = {cut_by_entropy, cut_by_majority, cut_by_frequency};
    Cutter cutter = {.n_samples = n_samples, .n_classes = n_classes, .y = y, .xlogx = xlogx,
        .steps = steps, .logs = logs, .classes = classes};
    Room room = {0};
    make_room(&cutter, &room);
    if (room.status) return release(&room);
    const Runs *runs = &cutter.runs;
    int64_t *edge = cutter.scheme.edge;
    for (int64_t j = 0; j < width; j++, block += stride) {
        const int finite = tally(&cutter, block);
        n_known[j] = runs->n_known;
        for (int64_t way = 0; way < n_ways; way++) {
            double *own = cuts + (way * width + j) * n_samples;
            int64_t count = finite ? 0 : -1;
            cutter.max_bins = ways[2 * way + 1];
            edge[0] = 0;
            edge[1] = runs->n_values;
            if (runs->n_values) count = methods[ways[2 * way]](&cutter);
            for (int64_t t = 1; t <= count; t++)
                own[t - 1] = midpoint(runs->value[edge[t] - 1], runs->value[edge[t]]);
            n_cuts[way * width + j] = count;
            if (way < n_coded && count >= 0 && count <= MAX_SMALL_CUTS)
                code_column(
                    block, n_samples, own, count, codes + (way * code_step + j) * n_samples);
        }
    }
    return release(&room);
}
