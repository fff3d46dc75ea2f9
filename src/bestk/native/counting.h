/* What the files that count pairs share: the table of bits, and kernels of one instruction set. */
#ifndef BESTK_COUNTING_H
#define BESTK_COUNTING_H

#include "bestk.h"

enum { LANES = 16, WORD = 32, CHUNK = 32 };

/* Features against the sixteen of a tile, whose words lie side by side. */
typedef struct {
    /* counts[class][row][plane][lane]: samples with both bits set.
       rows: [n_rows][n_words]; tile: [plane][word][lane]; words[c]:words[c + 1] are class c. */
    void (*count_rows)(const uint32_t *rows, int64_t n_rows, const uint32_t *tile, int64_t n_planes,
                       const int64_t *words, int64_t n_classes, uint32_t *counts);
    /* sums[lane] += sum over cells of table[cells[cell][lane]]. small: NULL, or table[0..15]
       followed by table[a] + table[b] at 16 * b + a, which serve where all counts are small. */
    void (*sum_table)(const uint64_t *table, const uint64_t *small, const uint32_t *cells,
                      int64_t n_cells, uint64_t *sums);
} PlaneKernels;

/* The kernels for the instruction set in use. */
const PlaneKernels *bestk_plane_kernels(void);

/* Counting by histograms; see histograms.c. */
int64_t bestk_group_samples(const uint16_t *row, int64_t n_samples, int64_t n_levels,
                            const int64_t *starts, int64_t *scratch, uint32_t *order, int64_t *ends);
uint64_t bestk_sum_pair(const uint16_t *row, const uint32_t *order, const int64_t *ends,
                        int64_t n_runs, const int64_t *pair_step, const int64_t *class_step,
                        uint32_t *in_level, uint32_t *in_run);

#endif
