/* One column in order, shared by the kernels that cut columns and those that rank them. */
#ifndef BESTK_COLUMNS_H
#define BESTK_COLUMNS_H

#include "bestk.h"

/* The values of a column that are not NaN: how many, the least and the greatest. */
typedef struct {
    int64_t n_known;
    double low, high;
} Range;

Range bestk_range(const double *column, int64_t n);

/* Rank the values of a column that are not NaN, equal ones in the order of their rows: the low 32
   bits of pairs[rank] are the row. pairs and spare are room for n each. */
void bestk_sort_column(const double *column, int64_t n, Range range, uint64_t *pairs, uint64_t *spare);

static inline int64_t row_of(uint64_t pair) { return (int64_t)(pair & 0xffffffffu); }

#endif
