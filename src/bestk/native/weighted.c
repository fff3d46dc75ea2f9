/* Sums of n log n over the cells of pairs of columns, where rows have weights: n, the weight of a
   cell, is any number of effective rows, and not a count of bits. */
#include <math.h>
#include <string.h>

#include "bestk.h"

/* What a cell adds to the sums, in units of 1 / one. Weights times scale are effective rows. */
typedef struct {
    double scale, one;
    double occupied;      /* subtracted once for each cell that is not empty */
    const double *chance; /* [0..n_rows]: what a cell of (xi, xj) adds for chance; or NULL */
    int64_t n_rows;
} Terms;

static int64_t plain_term(const Terms *terms, double weight) {
    const double n = weight * terms->scale;
    return llrint((n * log(n) - terms->occupied) * terms->one);
}

/* The table of chance is for whole numbers of rows; between them it is a straight line. */
static int64_t chance_term(const Terms *terms, double weight) {
    if (!terms->chance) return 0;
    const double n = weight * terms->scale;
    const int64_t low = least_of((int64_t)n, terms->n_rows - 1);
    const double share = lower(n - (double)low, 1.0);
    const double below = terms->chance[low];
    const double above = terms->chance[low + 1];
    return llrint((below + share * (above - below)) * terms->one);
}

/* The samples by the level of one column, those of a level by class. A run is the samples of one
   level and one class. */
typedef struct {
    int64_t *samples;
    double *weights;       /* of these samples */
    int64_t *run_ends;     /* where each run ends among them */
    uint8_t *is_last_run;  /* whether the run is the last one of its level */
    int64_t n_runs;
    int64_t *level_starts; /* room for sorting: a number for each level, and one more */
} Groups;

static void make_room(Groups *groups, Room *room, int64_t n_samples, int64_t most_levels) {
    groups->samples = take(room, n_samples, sizeof *groups->samples);
    groups->weights = take(room, n_samples, sizeof *groups->weights);
    groups->run_ends = take(room, n_samples, sizeof *groups->run_ends);
    groups->is_last_run = take(room, n_samples, sizeof *groups->is_last_run);
    groups->level_starts = take(room, most_levels + 1, sizeof *groups->level_starts);
}

/* Sort the samples, which come by class, by their level. */
static void group_samples(Groups *groups, const uint16_t *levels, const int64_t *class_of,
    const double *weights, int64_t n_samples, int64_t n_levels) {
    int64_t *next = groups->level_starts;
    memset(next, 0, sizeof *next * (size_t)(n_levels + 1));
    for (int64_t s = 0; s < n_samples; s++) next[levels[s] + 1]++;
    for (int64_t level = 0; level < n_levels; level++) next[level + 1] += next[level];
    for (int64_t s = 0; s < n_samples; s++) groups->samples[next[levels[s]]++] = s;
    groups->n_runs = 0;
    for (int64_t place = 0; place < n_samples; place++) {
        const int64_t s = groups->samples[place];
        groups->weights[place] = weights[s];
        const int is_end = place + 1 == n_samples;
        const int64_t following = is_end ? s : groups->samples[place + 1];
        const int ends_level = is_end || levels[following] != levels[s];
        if (!ends_level && class_of[following] == class_of[s]) continue;
        groups->run_ends[groups->n_runs] = place + 1;
        groups->is_last_run[groups->n_runs] = (uint8_t)ends_level;
        groups->n_runs++;
    }
}

/* Columns that are added up together: one by one, each sum would wait for the one before. */
enum { TOGETHER = 4 };

/* A column that is paired with the one that the samples are grouped by. */
typedef struct {
    const uint16_t *levels; /* of each sample */
    int64_t n_levels;
    double *in_run;   /* the weight of each level in a run, */
    double *in_level; /* and in all runs of a level of the other column so far */
    int64_t pair_sum, class_sum;
} Partner;

/* Add the weights of a run to the levels of each partner. */
static void add_run(const Groups *groups, Partner *partners, int64_t start, int64_t end) {
    for (int64_t place = start; place < end; place++) {
        const int64_t s = groups->samples[place];
        const double weight = groups->weights[place];
        for (int k = 0; k < TOGETHER; k++) partners[k].in_run[partners[k].levels[s]] += weight;
    }
}

/* The cells of a run are complete: sum them up, and add them to those of the level. To find them,
   look at all levels, or at those of the samples where these are fewer. */
static void close_run(
    const Groups *groups, Partner *partner, const Terms *terms, int64_t start, int64_t end) {
    const int by_level = partner->n_levels <= end - start;
    const int64_t n_looks = by_level ? partner->n_levels : end - start;
    for (int64_t look = 0; look < n_looks; look++) {
        const int64_t level = by_level ? look : partner->levels[groups->samples[start + look]];
        const double weight = partner->in_run[level];
        if (weight == 0.0) continue;
        partner->class_sum += plain_term(terms, weight);
        partner->in_level[level] += weight;
        partner->in_run[level] = 0.0;
    }
}

/* The same for the cells of a level, the samples from start to end. */
static void close_level(
    const Groups *groups, Partner *partner, const Terms *terms, int64_t start, int64_t end) {
    const int by_level = partner->n_levels <= end - start;
    const int64_t n_looks = by_level ? partner->n_levels : end - start;
    for (int64_t look = 0; look < n_looks; look++) {
        const int64_t level = by_level ? look : partner->levels[groups->samples[start + look]];
        const double weight = partner->in_level[level];
        if (weight == 0.0) continue;
        partner->pair_sum += plain_term(terms, weight);
        partner->class_sum += chance_term(terms, weight);
        partner->in_level[level] = 0.0;
    }
}

/* Add up the cells of the grouped column with each partner: of (xi, xj), and of (xi, xj, y). */
static void add_pairs(const Groups *groups, Partner *partners, const Terms *terms) {
    int64_t level_start = 0;
    int64_t start = 0;
    for (int64_t run = 0; run < groups->n_runs; run++) {
        const int64_t end = groups->run_ends[run];
        add_run(groups, partners, start, end);
        for (int k = 0; k < TOGETHER; k++) close_run(groups, partners + k, terms, start, end);
        start = end;
        if (!groups->is_last_run[run]) continue;
        for (int k = 0; k < TOGETHER; k++)
            close_level(groups, partners + k, terms, level_start, end);
        level_start = end;
    }
}

/* For the columns rows[first:last] against some columns each: the sums of n log n over the cells of
   (xi, xj); and those over the cells of (xi, xj, y), with what chance adds for each of (xi, xj).
   codes: [column][sample], samples by class; n_levels: of each column. */
EXPORT int bestk_add_weights(const uint16_t *codes, const int64_t *n_levels, int64_t n_samples,
    int64_t most_levels, const int64_t *class_of, const double *weights, double scale, double one,
    double occupied, const double *chance, int64_t n_rows, const int64_t *rows,
    const int64_t *columns, int64_t n_columns, int64_t *pair_sums, int64_t pair_stride,
    int64_t *class_sums, int64_t class_stride, int64_t first, int64_t last) {
    const Terms terms = {scale, one, occupied, chance, n_rows};
    Room room = {0};
    Groups groups = {0};
    Partner partners[TOGETHER] = {0};
    make_room(&groups, &room, n_samples, most_levels);
    for (int k = 0; k < TOGETHER; k++) {
        partners[k].in_run = take(&room, most_levels, sizeof *partners[k].in_run);
        partners[k].in_level = take(&room, most_levels, sizeof *partners[k].in_level);
    }
    for (int64_t row = first; row < last && room.status == OK; row++) {
        const int64_t i = rows[row];
        const uint16_t *levels_of_row = codes + i * n_samples;
        group_samples(&groups, levels_of_row, class_of, weights, n_samples, n_levels[i]);
        for (int64_t column = 0; column < n_columns; column += TOGETHER) {
            for (int k = 0; k < TOGETHER; k++) {
                /* Beyond the last column it is the last one again, and not written. */
                const int64_t j = columns[least_of(column + k, n_columns - 1)];
                partners[k].levels = codes + j * n_samples;
                partners[k].n_levels = n_levels[j];
                partners[k].pair_sum = 0;
                partners[k].class_sum = 0;
            }
            add_pairs(&groups, partners, &terms);
            for (int k = 0; k < least_of(TOGETHER, n_columns - column); k++) {
                pair_sums[row * pair_stride + column + k] = partners[k].pair_sum;
                class_sums[row * class_stride + column + k] = partners[k].class_sum;
            }
        }
    }
    return release(&room);
}
