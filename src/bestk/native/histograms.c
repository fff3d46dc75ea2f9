/* Counting by histograms: one pass over the samples of a pair, whatever its number of cells.
   A table T over counts is summed cell by cell without ever visiting the cells: raising a count
   from t to t + 1 adds T[t + 1] - T[t]. Samples come grouped by the level of one feature, so the
   counters needed at a time are as many as the other feature has levels. */
#include "counting.h"

#include <string.h>

/* Order samples by level, then class; return how many (level, class) runs there are.
   row: samples sorted by class, class c at starts[c]:starts[c + 1]. ends: the end of each run,
   negated where the level ends with it. scratch: 2 * n_levels + 1 numbers. */
int64_t bestk_group_samples(const uint16_t *row, int64_t n_samples, int64_t n_levels,
    const int64_t *starts, int64_t *scratch, uint32_t *order, int64_t *ends) {
    int64_t *at = scratch, *stop = scratch + n_levels + 1, n_runs = 0, begin = 0;
    memset(at, 0, (size_t)(n_levels + 1) * sizeof *at);
    for (int64_t i = 0; i < n_samples; i++) at[row[i] + 1]++;
    for (int64_t level = 0; level < n_levels; level++) stop[level] = at[level + 1] += at[level];
    for (int64_t i = 0; i < n_samples; i++) order[at[row[i]]++] = (uint32_t)i;
    for (int64_t level = 0; level < n_levels; level++) {
        int64_t c = 0;
        for (int64_t place = begin; place < stop[level]; place++) {
            while (order[place] >= starts[c + 1]) c++;
            if (place + 1 == stop[level])
                ends[n_runs++] = -stop[level];
            else if (order[place + 1] >= starts[c + 1])
                ends[n_runs++] = place + 1;
        }
        begin = stop[level];
    }
    return n_runs;
}

/* Sum the tables whose steps are given; in_level and in_run are zero, and stay so. */
uint64_t bestk_sum_pair(const uint16_t *row, const uint32_t *order, const int64_t *ends,
    int64_t n_runs, const int64_t *pair_step, const int64_t *class_step, uint32_t *in_level,
    uint32_t *in_run) {
    uint64_t total = 0;
    int64_t level_begin = 0, begin = 0;
    for (int64_t run = 0; run < n_runs; run++) {
        const int64_t end = ends[run] < 0 ? -ends[run] : ends[run];
        if (end == begin + 1) { /* most runs, where there are more cells than samples */
            const uint16_t code = row[order[begin]];
            total += (uint64_t)class_step[0] + (uint64_t)pair_step[in_level[code]++];
        } else {
            for (int64_t place = begin; place < end; place++) {
                const uint16_t code = row[order[place]];
                total += (uint64_t)class_step[in_run[code]++];
                total += (uint64_t)pair_step[in_level[code]++];
            }
            for (int64_t place = begin; place < end; place++) in_run[row[order[place]]] = 0;
        }
        if (ends[run] < 0) {
            for (int64_t place = level_begin; place < end; place++) in_level[row[order[place]]] = 0;
            level_begin = end;
        }
        begin = end;
    }
    return total;
}
