/* Columns in order: values are spread evenly over buckets by radix passes, which sorts most of
   them; those that share a bucket are sorted by their bits. */
#include "bestk.h"

#include <math.h>
#include <string.h>

#define SIGN 0x8000000000000000u
#define HIGH 0xffffffff00000000u

/* Numbers that are compared at once. */
enum { LANES = 8 };

/* Runs of so many values are sorted by insertion. */
enum { SHORT = 32 };

/* Bits of a digit, and digits of a bucket, at most. */
enum { MAX_WIDTH = 11, MAX_DIGITS = 4 };

/* Buckets are so many times (as a power of two) as the values: few values share one. */
enum { SPARE_BITS = 7 };

/* Take at most one number a lane into the range of each. */
INLINE void widen(const double *x, int64_t width, double *low, double *high, int64_t *n_known) {
#pragma omp simd
    for (int64_t j = 0; j < width; j++) {
        low[j] = lower(x[j], low[j]);
        high[j] = higher(x[j], high[j]);
        n_known[j] += x[j] == x[j];
    }
}

Range bestk_range(const double *x, int64_t n) {
    double low[LANES];
    double high[LANES];
    int64_t n_known[LANES] = {0};
    Range range = {0, INFINITY, -INFINITY};
    for (int j = 0; j < LANES; j++) {
        low[j] = INFINITY;
        high[j] = -INFINITY;
    }
    for (int64_t i = 0; i + LANES <= n; i += LANES) widen(x + i, LANES, low, high, n_known);
    widen(x + n - n % LANES, n % LANES, low, high, n_known);
    for (int j = 0; j < LANES; j++) {
        range.low = lower(low[j], range.low);
        range.high = higher(high[j], range.high);
        range.n_known += n_known[j];
    }
    return range;
}

/* The bits of a float as an integer of the same order, read as unsigned. */
static inline uint64_t to_key(double value) {
    uint64_t bits;
    value += 0.0; /* -0.0 becomes 0.0 */
    memcpy(&bits, &value, sizeof bits);
    return bits ^ ((0 - (bits >> 63)) | SIGN);
}

void bestk_spread(const double *column, int64_t n, Range range, int64_t n_buckets, int by_bits,
    uint16_t *buckets) {
    const double spread = range.high - range.low;
    const double last = (double)(n_buckets - 2);
    const uint64_t base = to_key(range.low);
    const uint64_t width = to_key(range.high) - base;
    int shift = 0;
    while (width >> shift >= (uint64_t)n_buckets - 1) shift++;
    if (!by_bits && spread > 1e-280 && spread < 1e300) { /* else too close, or far, to divide by */
        const double scale = last / spread;
        for (int64_t i = 0; i < n; i++) {
            const double x = column[i];
            const double place = lower(1.0 + (x - range.low) * scale, last + 1.0);
            const double place_or_last = x == x ? place : (double)n_buckets;
            buckets[i] = (uint16_t)(int32_t)(x == range.low ? 0.0 : place_or_last);
        }
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        const double x = column[i];
        const uint64_t place = x > range.low ? 1 + ((to_key(x) - base) >> shift) : 0;
        buckets[i] = (uint16_t)(x == x ? place : (uint64_t)n_buckets);
    }
}

/* Insertion of few pairs by their values. */
static void sort_few(const double *column, uint64_t *pairs, int64_t n) {
    for (int64_t i = 1; i < n; i++) {
        const uint64_t pair = pairs[i];
        const double value = column[row_of(pair)];
        int64_t at = i;
        for (; at > 0 && column[row_of(pairs[at - 1])] > value; at--) pairs[at] = pairs[at - 1];
        pairs[at] = pair;
    }
}

/* Stable passes over digits of pairs, from bit 32 up. */
static void sort_high(uint64_t *pairs, uint64_t *spare, int64_t n, int width, int n_digits) {
    uint32_t places[MAX_DIGITS << MAX_WIDTH];
    const uint32_t mask = (1u << width) - 1;
    uint64_t *from = pairs;
    uint64_t *to = spare;
    memset(places, 0, sizeof(uint32_t) * (size_t)n_digits << width);
    for (int64_t i = 0; i < n; i++)
        for (int d = 0; d < n_digits; d++)
            places[((uint32_t)d << width) + ((pairs[i] >> (32 + d * width)) & mask)]++;
    for (int d = 0; d < n_digits; d++) {
        uint32_t *place = places + ((size_t)d << width);
        uint32_t sum = 0;
        const int shift = 32 + d * width;
        if (place[(from[0] >> shift) & mask] == n) continue; /* all have this digit */
        for (uint32_t value = 0; value <= mask; value++) {
            const uint32_t count = place[value];
            place[value] = sum;
            sum += count;
        }
        for (int64_t i = 0; i < n; i++) to[place[(from[i] >> shift) & mask]++] = from[i];
        uint64_t *filled = to;
        to = from;
        from = filled;
    }
    if (from != pairs) memcpy(pairs, from, sizeof(uint64_t) * (size_t)n);
}

static void sort_bits(const double *column, uint64_t *pairs, uint64_t *spare, int64_t n);

/* Pairs are in the order of their high bits: sort those that have them in common. */
static void sort_equal(const double *column, uint64_t *pairs, uint64_t *spare, int64_t n) {
    for (int64_t start = 0, stop; start < n; start = stop) {
        for (stop = start + 1; stop < n && (pairs[stop] ^ pairs[start]) <= ~HIGH;) stop++;
        if (stop - start > SHORT)
            sort_bits(column, pairs + start, spare, stop - start);
        else if (stop - start > 1)
            sort_few(column, pairs + start, stop - start);
    }
}

/* Sort pairs by the bits of their values: 32 at a time, from the highest in which they differ. */
static void sort_bits(const double *column, uint64_t *pairs, uint64_t *spare, int64_t n) {
    const uint64_t first = to_key(column[row_of(pairs[0])]);
    uint64_t differ = 0;
    for (int64_t i = 0; i < n; i++) differ |= to_key(column[row_of(pairs[i])]) ^ first;
    if (!differ) return;
    const int shift = __builtin_clzll(differ);
    for (int64_t i = 0; i < n; i++)
        pairs[i] = ((to_key(column[row_of(pairs[i])]) << shift) & HIGH) | (pairs[i] & ~HIGH);
    sort_high(pairs, spare, n, 8, 4);
    if (differ << shift << 32) sort_equal(column, pairs, spare, n);
}

void bestk_sort_column(
    const double *column, int64_t n, Range range, uint64_t *pairs, uint64_t *spare) {
    const int bits = SPARE_BITS + (n > 1 ? 64 - __builtin_clzll((uint64_t)n - 1) : 0);
    const int n_digits = bits <= 2 * MAX_WIDTH ? 2 : 3;
    const int width = (bits + n_digits - 1) / n_digits;
    const double spread = range.high - range.low;
    int64_t n_low = 0;
    int64_t n_more = 0; /* a table may hold zeros for the most part: no need to sort */
    const int even = spread > 1e-280 && spread < 1e300; /* else too close, or far, to divide by */
    const double scale = even ? (double)((1 << (width * n_digits)) - 1) / spread : 0.0;
    const double base = even ? range.low : INFINITY; /* nothing is above: all share a bucket */
    for (int64_t row = 0; row < n; row++) {
        const double value = column[row];
        const int64_t bucket = (int64_t)(higher(value - base, 0.0) * scale);
        pairs[n_low] = (uint64_t)row;
        spare[n_more] = (uint64_t)bucket << 32 | (uint64_t)row;
        n_low += value == range.low;
        n_more += value > range.low;
    }
    memcpy(pairs += n_low, spare, sizeof *pairs * (size_t)n_more);
    if (n_more < 2) return;
    if (even) sort_high(pairs, spare, n_more, width, n_digits);
    (even ? sort_equal : sort_bits)(column, pairs, spare, n_more);
}

void bestk_sort_rows(
    const double *column, uint32_t *rows, int64_t n, uint64_t *pairs, uint64_t *spare) {
    double values[SHORT];
    if (n <= SHORT) {
        for (int64_t i = 0; i < n; i++) {
            const uint32_t row = rows[i];
            const double value = column[row];
            int64_t at = i;
            for (; at > 0 && values[at - 1] > value; at--) {
                values[at] = values[at - 1];
                rows[at] = rows[at - 1];
            }
            values[at] = value;
            rows[at] = row;
        }
        return;
    }
    for (int64_t i = 0; i < n; i++) pairs[i] = rows[i];
    sort_bits(column, pairs, spare, n);
    for (int64_t i = 0; i < n; i++) rows[i] = (uint32_t)row_of(pairs[i]);
}
