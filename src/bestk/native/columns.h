/* Columns of a table: read as doubles, put in order, searched. */
#ifndef BESTK_COLUMNS_H
#define BESTK_COLUMNS_H

#include "bestk.h"

/* n numbers of a type of TABLE_TYPES in _library.py, a step of bytes apart; order: those of some
   places, or NULL for all. */
void bestk_read_numbers(
    const char *data, int64_t step, const int64_t *order, int64_t n, int64_t type, double *out);

/* Rank the values of a column that are not NaN, equal ones in the order of their rows: the low 32
   bits of pairs[rank] are the row. pairs and spare are room for n each. */
void bestk_sort_column(
    const double *column, int64_t n, Range range, uint64_t *pairs, uint64_t *spare);

static inline int64_t row_of(uint64_t pair) { return (int64_t)(pair & 0xffffffffu); }

/* How many of n ascending numbers, one at least, are below a value. */
static inline int64_t count_below(const double *ascending, int64_t n, double value) {
    const double *low = ascending;
    for (; n > 1; n -= n / 2) low += low[n / 2 - 1] < value ? n / 2 : 0;
    return low - ascending + (*low < value);
}

#endif
