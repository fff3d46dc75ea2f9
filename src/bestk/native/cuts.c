/* Cut points of columns: MDLP, CAIM and bins of equal frequency. Values are spread over buckets in
   ascending order, and only buckets in which the best cut may lie are sorted. */
#include <math.h>
#include <string.h>

#include "bestk.h"

/* Scores closer than this, relative to their scale, are equal. */
#define TIE 1e-12

/* Cells of a value and a class for each sample, where a column of whole numbers is not sorted. */
enum { CELLS_PER_SAMPLE = 4 };

/* Buckets of a column, at most; of those that are not whole, and the rows that share one. */
enum { MAX_BUCKETS = 65535, MANY_BUCKETS = 8192, BUCKET_ROWS = 4 };

/* Cuts of a column whose codes take a byte; one of the codes is for missing values. */
enum { MAX_SMALL_CUTS = 254 };

/* A cut with so many samples below it, the first above it in a bucket, and what it is worth. */
typedef struct {
    int64_t rank;
    int64_t bucket;
    double score;
} Cut;

/* A column in ascending buckets, each of one value where all numbers are whole. */
typedef struct {
    const double *values;
    Range range;
    int64_t n_buckets;
    int is_whole;
    uint16_t *bucket;       /* of each row; the one after the last if its value is missing */
    int32_t *first;         /* samples in the buckets before, [bucket] */
    int32_t *below;         /* the same by class, [bucket][class] */
    int32_t *middle;        /* first, and those of the bucket in the earlier half of the rows */
    int32_t *later;         /* those of the bucket in the later half, [bucket][class] */
    uint32_t *rows;         /* bucket by bucket */
    uint8_t *is_sorted;     /* whether the rows of a bucket are in the order of their values */
} Column;

/* The classes of the values of a column; see find_runs. */
typedef struct {
    int32_t *start; /* where the runs of each value begin; and the end */
    int32_t *rank;  /* samples below each value; and the end */
    int32_t *label; /* the class of each run */
    int32_t *size;  /* its samples */
} Runs;

/* A column cut into intervals: i holds the samples from edge[i] up to edge[i + 1]. Its best cut is
   worth gain[i]; -inf if there is none to make. */
typedef struct {
    Cut *edge;
    Cut *best; /* of each interval */
    Cut *kept; /* n_kept cuts of an interval that may be the best, with ascending scores */
    double *gain;
    double *end;     /* the score of the cut at the end of each bucket */
    double *bound;   /* what no cut inside of each bucket exceeds */
    int64_t *base;   /* samples of each class before the interval */
    int64_t *top;    /* and up to its end */
    int64_t *left;   /* samples of each class on the left of a cut */
    int64_t *right;  /* and on its right */
    int64_t *inside; /* samples of each class in a bucket */
    int64_t n_kept;
} Scheme;

/* Room for one column of a block, and what the block is cut by. */
typedef struct {
    int64_t n_samples;
    int64_t n_classes;
    int64_t max_bins;
    int64_t max_buckets;
    const int32_t *y;
    const double *xlogx;   /* n log n of counts */
    const double *logs;    /* log n of counts */
    const double *classes; /* log(3^k - 2) of numbers of classes */
    uint64_t *pairs;       /* room for sorting */
    uint64_t *spare;
    Column column;
    Runs runs;
    Scheme scheme;
    uint8_t codes[MAX_BUCKETS + 1]; /* of buckets */
} Cutter;

/* Take the memory that one column needs. */
static void make_room(Cutter *cutter, Room *room) {
    const int64_t n = cutter->n_samples + 2;
    const int64_t n_classes = cutter->n_classes;
    const int64_t whole = least_of(CELLS_PER_SAMPLE * n / n_classes, MAX_BUCKETS);
    const int64_t n_buckets = most_of(whole, cutter->max_buckets) + 2;
    Column *column = &cutter->column;
    Scheme *scheme = &cutter->scheme;
    cutter->pairs = take(room, n, sizeof *cutter->pairs);
    cutter->spare = take(room, n, sizeof *cutter->spare);
    column->bucket = take(room, n, sizeof *column->bucket);
    column->rows = take(room, n, sizeof *column->rows);
    column->first = take(room, n_buckets, sizeof *column->first);
    column->middle = take(room, n_buckets, sizeof *column->middle);
    column->below = take(room, n_buckets * n_classes, sizeof *column->below);
    column->later = take(room, n_buckets * n_classes, sizeof *column->later);
    column->is_sorted = take(room, n_buckets, sizeof *column->is_sorted);
    cutter->runs.start = take(room, n, sizeof *cutter->runs.start);
    cutter->runs.rank = take(room, n, sizeof *cutter->runs.rank);
    cutter->runs.label = take(room, n, sizeof *cutter->runs.label);
    cutter->runs.size = take(room, n, sizeof *cutter->runs.size);
    scheme->edge = take(room, n, sizeof *scheme->edge);
    scheme->best = take(room, n, sizeof *scheme->best);
    scheme->kept = take(room, n, sizeof *scheme->kept);
    scheme->gain = take(room, n, sizeof *scheme->gain);
    scheme->end = take(room, n_buckets, sizeof *scheme->end);
    scheme->bound = take(room, n_buckets, sizeof *scheme->bound);
    scheme->base = take(room, 5 * n_classes, sizeof *scheme->base);
    scheme->top = scheme->base + n_classes;
    scheme->left = scheme->top + n_classes;
    scheme->right = scheme->left + n_classes;
    scheme->inside = scheme->right + n_classes;
}

/* The mean of two numbers, rounded so that low <= midpoint < high. */
static double midpoint(double low, double high) {
    const double middle = 0.5 * low + 0.5 * high;
    return low <= middle && middle < high ? middle : low;
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

/* Count the buckets of a column by class, both halves of its samples at once; return the size of
   the largest but the first, which has one value where numbers are spread. */
static int64_t count_buckets(Cutter *cutter) {
    Column *column = &cutter->column;
    const int64_t n_classes = cutter->n_classes;
    const int64_t n_buckets = column->n_buckets;
    const int64_t n = cutter->n_samples;
    const int64_t half = n / 2;
    const uint16_t *bucket = column->bucket;
    int32_t *below = column->below;
    int32_t *cells = below + n_classes;
    int32_t *later = column->later;
    int32_t sum = 0;
    int64_t most = 0;
    memset(below, 0, sizeof *below * (size_t)((n_buckets + 2) * n_classes));
    memset(later, 0, sizeof *later * (size_t)((n_buckets + 1) * n_classes));
    for (int64_t i = 0; i < half; i++) {
        cells[bucket[i] * n_classes + cutter->y[i]]++;
        later[bucket[half + i] * n_classes + cutter->y[half + i]]++;
    }
    if (n % 2) later[bucket[n - 1] * n_classes + cutter->y[n - 1]]++;
    for (int64_t b = 0; b <= n_buckets; b++, below += n_classes, later += n_classes) {
        column->first[b] = column->middle[b] = sum;
        for (int64_t c = 0; c < n_classes; c++) {
            column->middle[b] += below[n_classes + c];
            sum += below[n_classes + c] + later[c];
            below[n_classes + c] += below[c] + later[c];
        }
        most = most_of(most, b && b < n_buckets ? sum - column->first[b] : 0);
    }
    return most;
}

/* Order the rows by their buckets, both halves at once. */
static void order_rows(Cutter *cutter) {
    Column *column = &cutter->column;
    const int64_t n = cutter->n_samples;
    const int64_t half = n / 2;
    const uint16_t *bucket = column->bucket;
    int32_t *place = column->later;
    int32_t *middle = column->middle;
    memcpy(place, column->first, sizeof *place * (size_t)(column->n_buckets + 1));
    for (int64_t i = 0; i < half; i++) {
        column->rows[place[bucket[i]]++] = (uint32_t)i;
        column->rows[middle[bucket[half + i]]++] = (uint32_t)(half + i);
    }
    if (n % 2) column->rows[middle[bucket[n - 1]]++] = (uint32_t)(n - 1);
    memset(column->is_sorted, 0, (size_t)column->n_buckets);
}

/* Spread a column over its buckets; 0 if a number is infinite. */
static int tally(Cutter *cutter, const double *values) {
    Column *column = &cutter->column;
    const int64_t n = cutter->n_samples;
    const Range range = bestk_range(values, n);
    column->values = values;
    column->range = range;
    column->n_buckets = column->is_whole = 0;
    if (range.n_known == 0) memset(column->bucket, 0, sizeof *column->bucket * (size_t)n);
    if (range.n_known == 0) return 1;
    if (isinf(range.low) || isinf(range.high)) return 0;
    const double span = range.high - range.low + 1.0;
    const int near = fabs(range.low) < 1e15 && fabs(range.high) < 1e15 && span <= MAX_BUCKETS;
    column->is_whole = near && span * (double)cutter->n_classes <= CELLS_PER_SAMPLE * (double)n &&
                       is_whole(values, n);
    if (column->is_whole) {
        column->n_buckets = (int64_t)span;
        for (int64_t i = 0; i < n; i++)
            column->bucket[i] = (uint16_t)(values[i] == values[i] ? values[i] - range.low : span);
        count_buckets(cutter);
        return 1;
    }
    column->n_buckets = cutter->max_buckets;
    bestk_spread(values, n, range, column->n_buckets, 0, column->bucket);
    if (count_buckets(cutter) > most_of(n / 4, 64)) { /* most values are close: by magnitude */
        bestk_spread(values, n, range, column->n_buckets, 1, column->bucket);
        count_buckets(cutter);
    }
    order_rows(cutter);
    return 1;
}

static void sort_bucket(Cutter *cutter, int64_t b) {
    Column *column = &cutter->column;
    const int64_t first = column->first[b];
    const int64_t size = column->first[b + 1] - first;
    if (!column->is_sorted[b])
        bestk_sort_rows(column->values, column->rows + first, size, cutter->pairs, cutter->spare);
    column->is_sorted[b] = 1;
}

/* The bucket of the sample of some rank, near another bucket. */
static int64_t bucket_of(const Column *column, int64_t rank, int64_t b) {
    while (column->first[b] > rank) b--;
    while (column->first[b + 1] <= rank) b++;
    return b;
}

/* The value of the sample of some rank, near a bucket. */
static double value_of(Cutter *cutter, int64_t rank, int64_t b) {
    const Column *column = &cutter->column;
    b = bucket_of(column, rank, b);
    if (column->is_whole) return column->range.low + (double)b;
    sort_bucket(cutter, b);
    return column->values[column->rows[rank]] + 0.0; /* -0.0 becomes 0.0 */
}

/* The class of all samples with the value of that of some rank, the first or the last of them,
   near a bucket; -1 if they are of several. */
static int64_t class_of(Cutter *cutter, int64_t rank, int64_t b, int step) {
    const Column *column = &cutter->column;
    const int64_t n_classes = cutter->n_classes;
    int64_t class = -1;
    b = bucket_of(column, rank, b);
    if (column->is_whole) {
        const int32_t *below = column->below + b * n_classes;
        for (int64_t c = 0; c < n_classes; c++)
            if (below[n_classes + c] > below[c]) class = class < 0 ? c : n_classes;
        return class < n_classes ? class : -1;
    }
    sort_bucket(cutter, b);
    const double value = column->values[column->rows[rank]];
    class = cutter->y[column->rows[rank]];
    for (; rank >= column->first[b] && rank < column->first[b + 1]; rank += step) {
        const int64_t row = column->rows[rank];
        if (column->values[row] != value) break;
        if (cutter->y[row] != class) return -1;
    }
    return class;
}

/* Classes of the samples below a cut. */
static void count_below(const Cutter *cutter, Cut cut, int64_t *counts) {
    const Column *column = &cutter->column;
    for (int64_t c = 0; c < cutter->n_classes; c++)
        counts[c] = column->below[cut.bucket * cutter->n_classes + c];
    for (int64_t r = column->first[cut.bucket]; r < cut.rank; r++)
        counts[cutter->y[column->rows[r]]]++;
}

/* MDLP: keep a cut that scores more than those before it, unless the values next to it are both of
   one and the same class. */
static void keep_boundary(Cutter *cutter, Cut cut) {
    Scheme *scheme = &cutter->scheme;
    if (scheme->n_kept && cut.score <= scheme->kept[scheme->n_kept - 1].score) return;
    const int64_t class = class_of(cutter, cut.rank - 1, cut.bucket, -1);
    if (class < 0 || class != class_of(cutter, cut.rank, cut.bucket, 1))
        scheme->kept[scheme->n_kept++] = cut;
}

/* MDLP: minus the entropy left, times N, by counts of classes on both sides. */
static double score_entropy(const Cutter *cutter, int64_t n_left, int64_t n_right) {
    const int64_t *left = cutter->scheme.left;
    const int64_t *right = cutter->scheme.right;
    double sum = 0.0;
    for (int64_t c = 0; c < cutter->n_classes; c++)
        sum += cutter->xlogx[left[c]] + cutter->xlogx[right[c]];
    return sum - cutter->xlogx[n_left] - cutter->xlogx[n_right];
}

/* MDLP: the scores of cuts among the samples of a bucket are at most the one before and what each
   class adds: n log n is below its chords, -n log n below its tangents. */
static double bound_entropy(const Cutter *cutter, int64_t n_left, int64_t n_right, double score) {
    const double *xlogx = cutter->xlogx;
    const double slope = cutter->logs[n_right] - cutter->logs[n_left];
    const Scheme *scheme = &cutter->scheme;
    for (int64_t c = 0; c < cutter->n_classes; c++) {
        const int64_t n = scheme->inside[c];
        const int64_t l = scheme->left[c];
        const int64_t r = scheme->right[c];
        const double rise = xlogx[l + n] - xlogx[l] + (xlogx[r - n] - xlogx[r]);
        score += n ? higher(rise + slope * (double)n, 0.0) : 0.0;
    }
    return score;
}

/* MDLP: keep cuts inside a bucket, from one rank up to another, of some score at threshold. */
static void sweep_bucket(Cutter *cutter, int64_t b, Cut from, Cut to, double threshold) {
    const Column *column = &cutter->column;
    Scheme *scheme = &cutter->scheme;
    const int64_t start = most_of(column->first[b], from.rank);
    const int64_t stop = least_of(column->first[b + 1], to.rank);
    const int32_t *below = column->below + b * cutter->n_classes;
    const int inside = start > column->first[b];
    sort_bucket(cutter, b);
    for (int64_t c = 0; c < cutter->n_classes; c++) {
        scheme->left[c] = inside ? 0 : below[c] - scheme->base[c];
        scheme->right[c] = scheme->top[c] - scheme->base[c] - scheme->left[c];
    }
    for (int64_t r = start; r + 1 < stop; r++) {
        const int64_t row = column->rows[r];
        const int64_t next = column->rows[r + 1];
        scheme->left[cutter->y[row]]++;
        scheme->right[cutter->y[row]]--;
        if (column->values[row] == column->values[next]) continue;
        const Cut cut = {r + 1, b, score_entropy(cutter, r + 1 - from.rank, to.rank - r - 1)};
        if (cut.score >= threshold) keep_boundary(cutter, cut);
    }
}

/* MDLP: the best cut of interval i. The ends of buckets show which of them are to be sorted. */
static Cut sweep_entropy(Cutter *cutter, int64_t i, double tie) {
    const Column *column = &cutter->column;
    Scheme *scheme = &cutter->scheme;
    const Cut from = scheme->edge[i], to = scheme->edge[i + 1];
    const int64_t n_classes = cutter->n_classes;
    double score = 0.0;
    double highest = -INFINITY;
    scheme->n_kept = 0;
    for (int64_t c = 0; c < n_classes; c++) {
        scheme->left[c] = 0;
        scheme->right[c] = scheme->top[c] - scheme->base[c];
    }
    for (int64_t b = from.bucket; column->first[b] < to.rank; b++) {
        const int64_t start = most_of(column->first[b], from.rank);
        const int64_t stop = least_of(column->first[b + 1], to.rank);
        const int32_t *below = column->below + (b + 1) * n_classes;
        scheme->bound[b] = scheme->end[b] = NAN; /* no cut: below any score */
        if (start == stop) continue;
        for (int64_t c = 0; c < n_classes; c++) {
            const int64_t before = stop < to.rank ? below[c] : scheme->top[c];
            scheme->inside[c] = before - scheme->base[c] - scheme->left[c];
        }
        if (!column->is_whole && stop - start > 1)
            scheme->bound[b] = bound_entropy(cutter, start - from.rank, to.rank - start, score);
        for (int64_t c = 0; c < n_classes; c++) {
            scheme->left[c] += scheme->inside[c];
            scheme->right[c] -= scheme->inside[c];
        }
        if (stop < to.rank)
            scheme->end[b] = score = score_entropy(cutter, stop - from.rank, to.rank - stop);
        highest = higher(scheme->end[b], highest);
    }
    for (int64_t b = from.bucket; column->first[b] < to.rank; b++) {
        const Cut end = {column->first[b + 1], b + 1, scheme->end[b]};
        if (scheme->bound[b] >= highest - 2 * tie)
            sweep_bucket(cutter, b, from, to, highest - 2 * tie);
        if (end.score >= highest - 2 * tie) keep_boundary(cutter, end);
        if (scheme->n_kept) highest = higher(highest, scheme->kept[scheme->n_kept - 1].score);
    }
    if (!scheme->n_kept) return (Cut){0};
    const Cut *cut = scheme->kept; /* the first within a tie of the last */
    while (cut->score < scheme->kept[scheme->n_kept - 1].score - tie) cut++;
    return *cut;
}

/* CAIM: put a column in order. Value v has the runs start[v] up to start[v + 1], each a class and a
   count, and rank[v] samples below it; return the number of values. */
static int64_t find_runs(Cutter *cutter, Runs *runs) {
    const Column *column = &cutter->column;
    int64_t n_runs = 0;
    int64_t n_values = 0;
    int64_t first = 0;
    int64_t label = -1;
    double value = NAN;
    runs->start[0] = 0;
    for (int64_t b = 0; b < column->n_buckets && column->is_whole; b++) {
        const int32_t *below = column->below + b * cutter->n_classes;
        for (int64_t c = 0; c < cutter->n_classes; c++) {
            runs->label[n_runs] = (int32_t)c;
            runs->size[n_runs] = below[cutter->n_classes + c] - below[c];
            n_runs += runs->size[n_runs] > 0;
        }
        n_values += n_runs > runs->start[n_values];
        runs->start[n_values] = (int32_t)n_runs;
        runs->rank[n_values] = column->first[b + 1];
    }
    if (column->is_whole) return n_values;
    bestk_sort_column(
        column->values, cutter->n_samples, column->range, cutter->pairs, cutter->spare);
    memset(column->is_sorted, 1, (size_t)column->n_buckets);
    for (int64_t r = 0; r < column->range.n_known; r++) {
        const int64_t row = row_of(cutter->pairs[r]);
        const int is_fresh = column->values[row] != value;
        const int begins = is_fresh | (cutter->y[row] != label);
        column->rows[r] = (uint32_t)row;
        value = column->values[row];
        label = cutter->y[row];
        first = begins ? r : first;
        n_values += is_fresh;
        n_runs += begins;
        runs->start[n_values] = (int32_t)n_runs;
        runs->rank[n_values] = (int32_t)(r + 1);
        runs->label[n_runs - 1] = (int32_t)label;
        runs->size[n_runs - 1] = (int32_t)(r + 1 - first);
    }
    return n_values;
}

/* CAIM: let an interval grow value by value from one end; the term of a value is
   max_c q_c^2 / M of the interval that ends with it. */
static void sweep_majority(
    const Runs *runs, int64_t start, int64_t stop, int64_t step, int64_t *counts, double *term) {
    int64_t top = 0;
    int64_t size = 0;
    for (int64_t v = start; v != stop; v += step) {
        for (int64_t run = runs->start[v]; run < runs->start[v + 1]; run++) {
            const int64_t count = counts[runs->label[run]] += runs->size[run];
            top = most_of(count, top);
            size += runs->size[run];
        }
        term[v] = (double)(top * top) / (double)size;
    }
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
        scheme->best[t] = scheme->best[t - 1];
        scheme->gain[t] = scheme->gain[t - 1];
    }
    scheme->edge[i + 1] = scheme->best[i];
}

/* The classes of some samples: how many of both, and N times the entropy. */
typedef struct {
    int64_t size;
    int64_t present;
    double entropy;
} Mix;

/* Of the samples below one cut that are not below another, by counts of classes. */
static Mix mix_of(const int64_t *below, const int64_t *other, const Cutter *cutter) {
    Mix mix = {0};
    double sum = 0.0;
    for (int64_t c = 0; c < cutter->n_classes; c++) {
        const int64_t count = below[c] - other[c];
        sum += cutter->xlogx[count];
        mix.size += count;
        mix.present += count > 0;
    }
    mix.entropy = cutter->xlogx[mix.size] - sum;
    return mix;
}

/* k Ent(S). */
static double weight_of(Mix mix) { return (double)mix.present * mix.entropy / (double)mix.size; }

/* MDLP: the best cut of interval i; its gain is -inf if it is not worth its bits. */
static void find_entropy_cut(Cutter *cutter, int64_t i, double tie) {
    Scheme *scheme = &cutter->scheme;
    scheme->gain[i] = -INFINITY;
    count_below(cutter, scheme->edge[i], scheme->base);
    count_below(cutter, scheme->edge[i + 1], scheme->top);
    const Mix both = mix_of(scheme->top, scheme->base, cutter);
    if (both.present < 2) return;
    const Cut cut = sweep_entropy(cutter, i, tie);
    if (!cut.rank) return;
    count_below(cutter, cut, scheme->left);
    const Mix left = mix_of(scheme->left, scheme->base, cutter);
    const Mix right = mix_of(scheme->top, scheme->left, cutter);
    const double parts = weight_of(left) + weight_of(right);
    const double delta = cutter->classes[both.present] - weight_of(both) + parts;
    const double saved = both.entropy + cut.score;
    if (saved > cutter->logs[both.size - 1] + delta + tie) { /* what a split must save, in nats */
        scheme->best[i] = cut;
        scheme->gain[i] = saved;
    }
}

/* MDLP: make the split that saves most while one is worth it; return the number of cuts. */
static int64_t cut_by_entropy(Cutter *cutter) {
    Scheme *scheme = &cutter->scheme;
    const double tie = TIE * cutter->xlogx[cutter->column.range.n_known];
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

/* CAIM: the best cut of interval i, of values, and its gain; return the term of the whole. */
static double find_majority_cut(Cutter *cutter, const Runs *runs, int64_t i, double tie) {
    Scheme *scheme = &cutter->scheme;
    const int64_t first = scheme->edge[i].rank;
    const int64_t stop = scheme->edge[i + 1].rank;
    double *score = (double *)cutter->pairs;
    double *other = (double *)cutter->spare;
    const size_t bytes = sizeof *scheme->left * (size_t)cutter->n_classes;
    memset(scheme->left, 0, bytes);
    sweep_majority(runs, first, stop, 1, scheme->left, score + 1);
    const double whole = score[stop];
    scheme->gain[i] = -INFINITY;
    if (stop - first > 1) {
        memset(scheme->left, 0, bytes);
        sweep_majority(runs, stop - 1, first - 1, -1, scheme->left, other);
        for (int64_t v = first + 1; v < stop; v++) score[v] += other[v];
        scheme->best[i].rank = first + 1 + first_largest(score + first + 1, stop - first - 1, tie);
        scheme->gain[i] = score[scheme->best[i].rank] - whole;
    }
    return whole;
}

/* CAIM: add the best cut while it pays; return the number of cuts. */
static int64_t cut_by_majority(Cutter *cutter) {
    Scheme *scheme = &cutter->scheme;
    const double tie = TIE * (double)cutter->column.range.n_known;
    Runs *runs = &cutter->runs;
    const int64_t n_values = scheme->edge[1].rank = find_runs(cutter, runs);
    double total = find_majority_cut(cutter, runs, 0, tie);
    double accepted = 0.0;
    int64_t n_bins = 1;
    while (n_bins < least_of(cutter->max_bins, n_values)) {
        const int64_t i = first_largest(scheme->gain, n_bins, tie);
        const double caim = (total + scheme->gain[i]) / (double)(n_bins + 1);
        if (n_bins >= cutter->n_classes && caim <= accepted + tie / (double)(n_bins + 1)) break;
        total += scheme->gain[i];
        accepted = caim;
        split(scheme, n_bins++, i);
        find_majority_cut(cutter, runs, i, tie);
        find_majority_cut(cutter, runs, i + 1, tie);
    }
    for (int64_t t = 1; t < n_bins; t++) {
        Cut *edge = scheme->edge + t;
        edge->rank = runs->rank[edge->rank];
        edge->bucket = bucket_of(&cutter->column, edge->rank, edge[-1].bucket);
    }
    return n_bins - 1;
}

/* Equal frequency: cut after the quantiles, the least values with i / max_bins of the samples at
   or below them; return the number of cuts. */
static int64_t cut_by_frequency(Cutter *cutter) {
    const Column *column = &cutter->column;
    const int64_t n = column->range.n_known;
    const int64_t n_bins = cutter->max_bins;
    int64_t n_cuts = 0;
    int64_t rank = 0;
    int64_t b = 0;
    for (int64_t i = 1; i < n_bins; i++) {
        const int64_t wanted = (i * n + n_bins - 1) / n_bins;
        if (wanted <= rank) continue;
        b = bucket_of(column, wanted - 1, b);
        const double value = value_of(cutter, wanted - 1, b);
        rank = column->is_whole ? column->first[b + 1] : wanted;
        while (rank < column->first[b + 1] && column->values[column->rows[rank]] == value) rank++;
        if (rank == n) break;
        cutter->scheme.edge[++n_cuts] = (Cut){rank, b + (rank == column->first[b + 1]), 0.0};
    }
    return n_cuts;
}

/* The codes of a column by its cuts: those of buckets, then of samples above cuts inside. */
static void code_column(Cutter *cutter, int64_t n_cuts, uint8_t *codes) {
    const Column *column = &cutter->column;
    const Cut *edge = cutter->scheme.edge;
    int64_t t = 0;
    for (int64_t b = 0; b < column->n_buckets; b++) {
        while (t < n_cuts && edge[t + 1].rank <= column->first[b]) t++;
        cutter->codes[b] = (uint8_t)t;
    }
    cutter->codes[column->n_buckets] = (uint8_t)(n_cuts + 1);
    for (int64_t i = 0; i < cutter->n_samples; i++) codes[i] = cutter->codes[column->bucket[i]];
    for (t = 1; t <= n_cuts; t++)
        if (edge[t].rank > column->first[edge[t].bucket])
            for (int64_t r = edge[t].rank; r < column->first[edge[t].bucket + 1]; r++)
                codes[column->rows[r]]++;
}

/* Cut each row of a block in some ways: of each the method, 0 for MDLP, 1 for CAIM, 2 for equal
   frequency, and the most bins. y: the classes, ascending. Tables for MDLP: n log n and log n of 0
   to n_samples, and log(3^k - 2) of 0 to n_classes.
   cuts: [way][width * n_samples], of all rows end to end; n_cuts: [way][row], -1 where a number is
   infinite; n_known: [row], numbers that are not NaN; codes: of the first n_coded ways,
   [way][code_step][n_samples]. */
EXPORT int bestk_cut(const double *block, int64_t stride, int64_t width, int64_t n_samples,
    const int32_t *y, int64_t n_classes, const int64_t *ways, int64_t n_ways, const double *xlogx,
    const double *logs, const double *classes, double *cuts, int64_t *n_cuts, int64_t *n_known,
    int64_t n_coded, uint8_t *codes, int64_t code_step) {
    int64_t (*const methods[])(Cutter *) = {cut_by_entropy, cut_by_majority, cut_by_frequency};
    Room room = {0};
    Cutter *cutter = take(&room, 1, sizeof *cutter);
    int64_t *ends = take(&room, n_ways, sizeof *ends);
    if (room.status) return release(&room);
    *cutter = (Cutter){.n_samples = n_samples, .n_classes = n_classes, .y = y, .xlogx = xlogx,
        .logs = logs, .classes = classes};
    cutter->max_buckets = least_of(3 + n_samples / (BUCKET_ROWS + n_classes), MANY_BUCKETS);
    make_room(cutter, &room);
    if (room.status) return release(&room);
    const Column *column = &cutter->column;
    Cut *edge = cutter->scheme.edge;
    for (int64_t j = 0; j < width; j++, block += stride) {
        const int finite = tally(cutter, block);
        n_known[j] = column->range.n_known;
        for (int64_t way = 0; way < n_ways; way++) {
            int64_t count = finite ? 0 : -1;
            cutter->max_bins = ways[2 * way + 1];
            edge[0] = (Cut){0};
            edge[1] = (Cut){column->range.n_known, column->n_buckets, 0.0};
            if (finite && column->range.n_known) count = methods[ways[2 * way]](cutter);
            double *cuts_of_way = cuts + way * width * n_samples;
            for (int64_t t = 1; t <= count; t++)
                cuts_of_way[ends[way]++] =
                    midpoint(value_of(cutter, edge[t].rank - 1, edge[t].bucket),
                        value_of(cutter, edge[t].rank, edge[t].bucket));
            n_cuts[way * width + j] = count;
            if (way < n_coded && count >= 0 && count <= MAX_SMALL_CUTS)
                code_column(cutter, count, codes + (way * code_step + j) * n_samples);
        }
    }
    return release(&room);
}
