/* How well the levels of a column predict classes, in rows that were not fitted: by the frequency of
   each class among the other rows of the level. */
#include <math.h>
#include <stdlib.h>

#include "bestk.h"

/* A target in folds, and a column of levels. */
typedef struct {
    const int64_t *class_of_row, *fold_of_row, *level_of_row;
    int64_t n_rows, n_classes, n_folds, n_levels;
    double *frequencies; /* of each class in the rows outside of each fold: [n_folds][n_classes] */
} Column;

/* The rows of one level. */
typedef struct {
    const int64_t *rows;
    int64_t n_rows;
    double *of_cells;   /* how many are of each fold and class: [n_folds][n_classes] */
    double *of_classes; /* how many are of each class */
    double *of_folds;   /* how many are of each fold */
} Level;

/* Rows of one fold at one level, and the probability of being positive that training rows give. */
typedef struct {
    double probability, positives, negatives;
} LevelRows;

static int compare_probability(const void *first, const void *second) {
    const double a = ((const LevelRows *)first)->probability;
    const double b = ((const LevelRows *)second)->probability;
    return (a > b) - (a < b);
}

/* The frequencies of classes outside of each fold. */
static void find_frequencies(const Column *column, Room *room) {
    const int64_t n_classes = column->n_classes;
    double *counts = take(room, column->n_folds * n_classes, sizeof *counts);
    double *all_rows = take(room, n_classes, sizeof *all_rows);
    if (room->status) return;
    for (int64_t row = 0; row < column->n_rows; row++) {
        counts[column->fold_of_row[row] * n_classes + column->class_of_row[row]] += 1.0;
        all_rows[column->class_of_row[row]] += 1.0;
    }
    for (int64_t fold = 0; fold < column->n_folds; fold++) {
        double *of_fold = counts + fold * n_classes;
        double n_training = (double)column->n_rows;
        for (int64_t c = 0; c < n_classes; c++) n_training -= of_fold[c];
        for (int64_t c = 0; c < n_classes; c++)
            column->frequencies[fold * n_classes + c] = (all_rows[c] - of_fold[c]) / n_training;
    }
}

/* The rows of each level, one level after the other, and where each level starts. */
static void sort_by_level(const Column *column, int64_t *rows, int64_t *starts) {
    for (int64_t level = 0; level <= column->n_levels; level++) starts[level] = 0;
    for (int64_t row = 0; row < column->n_rows; row++) starts[column->level_of_row[row] + 1]++;
    for (int64_t level = 0; level < column->n_levels; level++) starts[level + 1] += starts[level];
    for (int64_t row = 0; row < column->n_rows; row++)
        rows[starts[column->level_of_row[row]]++] = row;
    for (int64_t level = column->n_levels; level > 0; level--) starts[level] = starts[level - 1];
    starts[0] = 0;
}

/* The area under the ROC curve of one class in one fold: the share of pairs of a positive and a
   negative row in which the positive one has the higher probability, equal ones counting half. Of
   all positives and negatives there must be some. */
static double area(LevelRows *levels, int64_t n_levels, double all_pairs) {
    qsort(levels, (size_t)n_levels, sizeof *levels, compare_probability);
    double ordered_pairs = 0.0, lower_negatives = 0.0;
    for (int64_t first = 0, last; first < n_levels; first = last) {
        double positives = 0.0, negatives = 0.0;
        for (last = first; last < n_levels; last++) {
            if (levels[last].probability > levels[first].probability) break;
            positives += levels[last].positives;
            negatives += levels[last].negatives;
        }
        ordered_pairs += positives * (lower_negatives + 0.5 * negatives);
        lower_negatives += negatives;
    }
    return ordered_pairs / all_pairs;
}

/* The mean over the folds that have rows of a class and of others; NaN if none has. levels has the
   rows of each fold and level; it is overwritten. */
static double mean_area(LevelRows *levels, int64_t n_folds, int64_t n_levels) {
    double sum = 0.0;
    int64_t n_measured = 0;
    for (int64_t fold = 0; fold < n_folds; fold++, levels += n_levels) {
        double positives = 0.0, negatives = 0.0;
        for (int64_t level = 0; level < n_levels; level++) {
            positives += levels[level].positives;
            negatives += levels[level].negatives;
        }
        if (!(positives * negatives > 0.0)) continue;
        sum += area(levels, n_levels, positives * negatives);
        n_measured++;
    }
    return n_measured ? sum / (double)n_measured : NAN;
}

/* Count the rows of a level; the counts are zero before. */
static void count_level(const Column *column, Level *level) {
    for (int64_t fold = 0; fold < column->n_folds; fold++) level->of_folds[fold] = 0.0;
    for (int64_t i = 0; i < level->n_rows; i++) {
        const int64_t c = column->class_of_row[level->rows[i]];
        const int64_t fold = column->fold_of_row[level->rows[i]];
        level->of_cells[fold * column->n_classes + c] += 1.0;
        level->of_classes[c] += 1.0;
        level->of_folds[fold] += 1.0;
    }
}

/* The probability of a class at a level, from the rows outside of a fold. The frequencies of all
   training rows count as one row more, so that a level that was not seen gives those. */
static double probability_of(const Column *column, const Level *level, int64_t fold, int64_t c) {
    const int64_t cell = fold * column->n_classes + c;
    const double class_rows = level->of_classes[c] - level->of_cells[cell];
    const double level_rows = (double)level->n_rows - level->of_folds[fold];
    return (class_rows + column->frequencies[cell]) / (level_rows + 1.0);
}

/* The sum over the rows of a level of -log of the probability of their class. The counts of cells
   and classes are zero afterwards: each is taken with its first row. */
static double take_losses(const Column *column, Level *level, double smallest) {
    double loss = 0.0;
    for (int64_t i = 0; i < level->n_rows; i++) {
        const int64_t c = column->class_of_row[level->rows[i]];
        const int64_t fold = column->fold_of_row[level->rows[i]];
        double *n_cell = level->of_cells + fold * column->n_classes + c;
        if (*n_cell == 0.0) continue;
        const double probability = probability_of(column, level, fold, c);
        loss -= *n_cell * log(probability > smallest ? probability : smallest);
        *n_cell = 0.0;
    }
    for (int64_t i = 0; i < level->n_rows; i++)
        level->of_classes[column->class_of_row[level->rows[i]]] = 0.0;
    return loss;
}

/* The rows of each fold and level, positive ones of a judged class, and the losses of all rows.
   judged_rows has the shape [n_judged][n_folds][n_levels]; the counts of ``level`` are zero before
   and afterwards. Returns the sum over rows of -log of the probability of their class. */
static double predict_levels(const Column *column, const int64_t *starts, Level level,
    const int64_t *judged, int64_t n_judged, double smallest, LevelRows *judged_rows) {
    const int64_t *rows = level.rows;
    double loss = 0.0;
    for (int64_t number = 0; number < column->n_levels; number++) {
        level.rows = rows + starts[number];
        level.n_rows = starts[number + 1] - starts[number];
        count_level(column, &level);
        for (int64_t j = 0; j < n_judged; j++) {
            for (int64_t fold = 0; fold < column->n_folds; fold++) {
                LevelRows *at = judged_rows + (j * column->n_folds + fold) * column->n_levels + number;
                at->probability = probability_of(column, &level, fold, judged[j]);
                at->positives = level.of_cells[fold * column->n_classes + judged[j]];
                at->negatives = level.of_folds[fold] - at->positives;
            }
        }
        loss += take_losses(column, &level, smallest);
    }
    return loss;
}

/* For each column, the sum over rows of -log of the probability of their class, which is at least
   ``smallest``; and the mean area under the ROC curve of each of some classes, the judged ones.
   levels has the shape [n_columns][n_rows], areas has [n_columns][n_judged]. Levels of a column are
   0, 1, ..., n_levels - 1. Every fold has rows outside of it. */
EXPORT int bestk_predict_classes(const int64_t *class_of_row, int64_t n_classes,
    const int64_t *judged, int64_t n_judged, const int64_t *fold_of_row, int64_t n_folds,
    double smallest, int64_t n_rows, const int64_t *levels, const int64_t *n_levels,
    int64_t n_columns, double *log_losses, double *areas) {
    int64_t most_levels = 0;
    for (int64_t i = 0; i < n_columns; i++) most_levels = most_of(most_levels, n_levels[i]);
    Room room = {0};
    Column column = {class_of_row, fold_of_row, levels, n_rows, n_classes, n_folds, 0,
        take(&room, n_folds * n_classes, sizeof(double))};
    int64_t *rows = take_unset(&room, n_rows, sizeof *rows);
    int64_t *starts = take_unset(&room, most_levels + 1, sizeof *starts);
    const Level level = {rows, 0, take(&room, n_folds * n_classes, sizeof(double)),
        take(&room, n_classes, sizeof(double)), take(&room, n_folds, sizeof(double))};
    LevelRows *judged_rows =
        take_unset(&room, n_judged * n_folds * most_levels, sizeof *judged_rows);
    if (room.status == OK) find_frequencies(&column, &room);
    if (room.status != OK) return release(&room);
    for (int64_t i = 0; i < n_columns; i++) {
        column.level_of_row = levels + i * n_rows;
        column.n_levels = n_levels[i];
        sort_by_level(&column, rows, starts);
        log_losses[i] =
            predict_levels(&column, starts, level, judged, n_judged, smallest, judged_rows);
        for (int64_t j = 0; j < n_judged; j++) {
            LevelRows *of_class = judged_rows + j * n_folds * n_levels[i];
            areas[i * n_judged + j] = mean_area(of_class, n_folds, n_levels[i]);
        }
    }
    return release(&room);
}
