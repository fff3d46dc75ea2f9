/* What all kernels share: types, exports, statuses, memory, the chosen instruction set. */
#ifndef BESTK_H
#define BESTK_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#if defined(__GLIBC__) && defined(__x86_64__)
__asm__(".symver log, log@GLIBC_2.2.5"); /* the same bits, also on Linux from 2014 on */
#endif

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

enum { OK = 0, NO_MEMORY = 1 };
#define INLINE static inline __attribute__((always_inline))

static inline double lower(double a, double b) { return a < b ? a : b; }
static inline double higher(double a, double b) { return a > b ? a : b; }
static inline int64_t least_of(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t most_of(int64_t a, int64_t b) { return a > b ? a : b; }

/* Of some numbers that are not NaN: how many, the lowest and the highest; inf and -inf of none. */
typedef struct {
    int64_t n_known;
    double low, high;
} Range;

Range bestk_range(const double *x, int64_t n);

/* n numbers of a type of TABLE_TYPES in _library.py, a step of bytes apart; order: those of some
   places, or NULL for all. */
void bestk_read_numbers(
    const char *data, int64_t step, const int64_t *order, int64_t n, int64_t type, double *out);

/* Rank the values of a column that are not NaN, equal ones in the order of their rows: the low 32
   bits of pairs[rank] are the row. pairs and spare are room for n each. */
void bestk_sort_column(
    const double *column, int64_t n, Range range, uint64_t *pairs, uint64_t *spare);

/* The same for n rows in ascending order. */
void bestk_sort_rows(
    const double *column, uint32_t *rows, int64_t n, uint64_t *pairs, uint64_t *spare);

/* Spread numbers over buckets in ascending order, evenly or by their magnitude: the lowest has the
   first to itself, NaN takes the one after the last. */
void bestk_spread(const double *column, int64_t n, Range range, int64_t n_buckets, int by_bits,
    uint16_t *buckets);

static inline int64_t row_of(uint64_t pair) { return (int64_t)(pair & 0xffffffffu); }

enum { CACHE_LINE = 64 }; /* bytes */
enum { LINE = 8, SCAN = 64 }; /* numbers in a line of the cache; with more cuts, they are searched */

/* How many of n cuts, ascending, one at least, are below a number. */
static inline int64_t search_cuts(const double *cuts, int64_t n, double value) {
    const double *low = cuts;
    for (; n > 1; n -= n / 2) low += low[n / 2 - 1] < value ? n / 2 : 0;
    return low - cuts + (*low < value);
}

/* Codes of a line of numbers: how many of some cuts, ascending, are below each; NaN takes the code
   after the last. */
static inline void code_line(
    const double *values, const double *cuts, int64_t n_cuts, int64_t *codes) {
    double below[LINE] = {0};
    for (int64_t c = 0; c < n_cuts && n_cuts <= SCAN; c++)
        for (int i = 0; i < LINE; i++) below[i] += values[i] > cuts[c] ? 1.0 : 0.0;
    for (int i = 0; i < LINE; i++) {
        const int64_t code = n_cuts > SCAN ? search_cuts(cuts, n_cuts, values[i]) : (int64_t)below[i];
        codes[i] = values[i] == values[i] ? code : n_cuts + 1;
    }
}

/* The memory of one call: taken piece by piece, freed at once. */
typedef struct {
    void *pieces[40];
    int count, status; /* status: of the call, NO_MEMORY once a piece could not be had */
} Room;

/* Memory from the start of a cache line on, zero where that is asked for; NULL if none is left. */
static inline void *take_some(Room *room, int64_t count, size_t size, int zero) {
    const size_t n = (size_t)most_of(count, 1) + CACHE_LINE / size + 1;
    char *piece = zero ? calloc(n, size) : n > SIZE_MAX / size ? NULL : malloc(n * size);
    if (!piece) {
        room->status = NO_MEMORY;
        return NULL;
    }
    room->pieces[room->count++] = piece;
    return piece + (CACHE_LINE - (uintptr_t)piece % CACHE_LINE) % CACHE_LINE;
}

static inline void *take(Room *room, int64_t count, size_t size) {
    return take_some(room, count, size, 1);
}

/* The same for what is written before it is read. */
static inline void *take_unset(Room *room, int64_t count, size_t size) {
    return take_some(room, count, size, 0);
}

/* Free all pieces; return the status. */
static inline int release(Room *room) {
    while (room->count > 0) free(room->pieces[--room->count]);
    return room->status;
}

#endif
