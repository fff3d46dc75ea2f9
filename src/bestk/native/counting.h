/* What the files that count pairs share: the table of bits, and kernels of one instruction set. */
#ifndef BESTK_COUNTING_H
#define BESTK_COUNTING_H

#include "bestk.h"

enum { LANES = 16, WORD = 32, CHUNK = 32 };

/* A discrete table as bits; see bestk.information.backends._packed. */
typedef struct {
    const uint32_t *bits;    /* tile after tile, each [plane][word][lane] */
    const uint32_t *margins; /* bits that are set: tile after tile, each [class][plane][lane] */
    const int64_t *n_planes; /* of each tile; -1: it has none */
    const int64_t *bits_at;  /* where each tile begins in bits */
    const int64_t *margins_at;
    const int64_t *words;  /* words[c]:words[c + 1] are class c */
    const int64_t *sizes;  /* samples of each class */
    const int64_t *starts; /* samples starts[c]:starts[c + 1] are class c */
    const int64_t *levels; /* of each place */
    const uint16_t *codes; /* [place][sample]; NULL where planes serve every pair */
    const double *costs;   /* nanoseconds of a word, a cell and a sample */
    int64_t n_features;
    int64_t n_classes;
    int64_t n_samples;
    int64_t n_tables; /* that are looked up for each cell */
} Table;

/* scale * (sum of tables over cells + row_term + column_term), in fixed point. */
typedef struct {
    const uint64_t *pair_table;  /* what a cell (xi, xj) of 0, 1, ... samples adds */
    const uint64_t *class_table; /* and a cell (xi, xj, y) */
    const int64_t *pair_step;    /* differences of neighbors in the tables */
    const int64_t *class_step;
    const int64_t *row_term; /* by place */
    const int64_t *column_term;
    double scale;
    double lowest;         /* smaller values are raised to it */
    uint64_t small[16];    /* class_table[0..15] */
    const uint64_t *joint; /* all tables at once, or NULL; see bestk_start_formula in pairs.c */
} Formula;

/* The same as parameters of a kernel, and made of them. */
#define COUNTED                                                                                 \
    /* table */ const uint32_t *bits, const uint32_t *margins, const int64_t *n_planes,         \
        const int64_t *bits_at, const int64_t *margins_at, const int64_t *words,                \
        const int64_t *sizes, const int64_t *starts, const int64_t *levels,                     \
        const uint16_t *codes, const double *costs, int64_t n_features, int64_t n_classes,      \
        int64_t n_samples, /* formula */ const int64_t *pair_table, const int64_t *class_table, \
        const int64_t *pair_step, const int64_t *class_step, const int64_t *row_term,           \
        const int64_t *column_term, double scale, double lowest
#define TABLE                                                                                \
    {bits, margins, n_planes, bits_at, margins_at, words, sizes, starts, levels, codes, costs, \
        n_features, n_classes, n_samples, n_classes + 1}
#define FORMULA                                                                       \
    {(const uint64_t *)pair_table, (const uint64_t *)class_table, pair_step, class_step, \
        row_term, column_term, scale, lowest, {0}, NULL}

/* A row feature against a tile: what is looked up for its pairs. */
typedef struct {
    int64_t n_i;            /* planes of the row */
    int64_t n_j;            /* and of the tile */
    const uint32_t *counts; /* [class][step]: from there [n_i][n_j][lane], bits in common */
    int64_t step;
    const uint32_t *row_margins; /* [n_i][class] */
    const uint32_t *joint;     /* [n_i + 1]: the same of all classes at once, and of all samples */
    const uint32_t *margins;   /* [class][n_j][lane]: those of the tile */
    const uint64_t *two_level; /* tables of a two-level row, or NULL; see pairs.c */
    uint32_t *cells;           /* scratch */
} Block;

/* counts[class][row][plane][lane]: samples with both bits set.
   rows: [n_rows][n_words]; tile: [plane][word][lane]; words[c]:words[c + 1] are class c. */
int bestk_count_rows(const uint32_t *rows, int64_t n_rows, const uint32_t *tile, int64_t n_planes,
    const int64_t *words, int64_t n_classes, uint32_t *counts);

/* sums[lane] = the tables summed over the cells of each pair; two_level: where n_i and n_j are 1
   and the row has tables of its own; joint: where the formula has its table. */
void bestk_sum_cells(const Table *t, const Formula *f, const Block *b, uint64_t *sums);
void bestk_sum_two_level(const Table *t, const Block *b, uint64_t *sums);
void bestk_sum_joint(const Table *t, const Formula *f, const Block *b, const uint32_t *rows,
    const uint32_t *tile, uint64_t *sums);

/* Make the tables of a formula that look-ups are quick in; joint is from the room. */
void bestk_start_formula(Table *t, Formula *f, Room *room);

/* The pairs of the feature at a place with all features, by their places, from all tiles. */
int bestk_fill_row(const Table *t, const Formula *f, const int64_t *tiles, int64_t n_tiles,
    int64_t place, double *row);

/* Copy the plane of one lane out of its tile. */
static inline void bestk_copy_plane(
    const uint32_t *tile, int64_t plane, int64_t lane, int64_t n_words, uint32_t *to) {
    for (int64_t w = 0; w < n_words; w++) to[w] = tile[(plane * n_words + w) * LANES + lane];
}

#endif
