/* Branch and bound with the row bound: a depth-first search that can stop and go on anywhere. */
#include <math.h>
#include <string.h>

#include "bestk.h"

/* Where the search stands; SEARCH in rows.py has the same fields in this order. */
typedef struct {
    double depth; /* how many items are chosen; -1 when the tree is exhausted */
    double floor; /* a choice must be worth more than this */
    double nodes; /* visited so far */
} Search;

/* What is chosen and open at every depth d, from 0 to k - 1. */
typedef struct {
    const double *Q;        /* [n][n]: items in a fixed order, the most promising first */
    const double *partners; /* [m][p][i]: the sum of the m largest Q_ij over j >= p other than i */
    int64_t n, k;
    double *gains;         /* [d][i]: Q_ii + 2 sum of Q_ij over the d chosen */
    int64_t *open_items;   /* [d][q]: items that may still be chosen */
    int64_t *n_open;       /* [d]: how many there are */
    int64_t *next;         /* [d]: where among them the search stands */
    int64_t *chosen;       /* [d]: the item that was chosen */
    int64_t *best;         /* [d]: the best choice found */
    double *value;         /* [d]: what the d chosen items are worth */
    double *worth;         /* [n], scratch: at most what each open item adds */
    double *largest_worth; /* [n], scratch: the largest of these, descending */
} Tree;

/* Put a value into a list of the ``size`` largest so far, descending, in place of the smallest. */
static inline void insert(double *largest, int64_t size, double value) {
    int64_t q = size - 1;
    for (; q > 0 && largest[q - 1] < value; q--) largest[q] = largest[q - 1];
    largest[q] = value;
}

/* At sums[m][p][i] the sum of the m largest Q_ij over j >= p other than i, for m < k.

   For each i, p goes down from the last item, and a list keeps the k - 1 largest entries so far. */
EXPORT int bestk_branch_partners(const double *Q, int64_t n, int64_t k, double *sums) {
    double *largest = malloc((size_t)k * sizeof *largest);
    if (!largest) return NO_MEMORY;
    for (int64_t i = 0; i < n; i++) {
        int64_t held = 0;
        for (int64_t p = n - 1; p >= 0; p--) {
            const double entry = Q[i * n + p];
            const int is_partner = p != i && k > 1;
            if (is_partner && (held < k - 1 || entry > largest[held - 1])) {
                held = least_of(held + 1, k - 1);
                insert(largest, held, entry);
            }
            double sum = 0.0;
            sums[p * n + i] = 0.0;
            for (int64_t m = 1; m < k; m++) {
                if (m <= held) sum += largest[m - 1];
                sums[(m * n + p) * n + i] = sum;
            }
        }
    }
    free(largest);
    return OK;
}

/* Try every open item as the last one; return the new floor. */
static double finish(Tree *t, int64_t depth, double floor) {
    for (int64_t q = t->next[depth]; q < t->n_open[depth]; q++) {
        const int64_t item = t->open_items[depth * t->n + q];
        const double value = t->value[depth] + t->gains[depth * t->n + item];
        if (!(value > floor)) continue;
        floor = value;
        memcpy(t->best, t->chosen, (size_t)depth * sizeof *t->best);
        t->best[depth] = item;
    }
    return floor;
}

/* Choose the next open item, and pass on to the next depth those that are worth keeping; return 0
   if no choice of open items can be above the floor.

   With r items to choose, each open item is worth its gain and at most its r - 1 best partners
   among the open ones. The r largest of these numbers bound all choices; with one certain item in
   place of the smallest of the r, they bound the choices that have it. */
static int descend(Tree *t, int64_t depth, double floor) {
    const int64_t n = t->n;
    const int64_t n_missing = t->k - depth;
    const int64_t start = t->next[depth];
    const int64_t stop = t->n_open[depth];
    const int64_t *items = t->open_items + depth * n;
    const int64_t first = items[start];
    const double *gains = t->gains + depth * n;
    const double *row = t->Q + first * n;
    const double *partners = t->partners + ((n_missing - 1) * n + first) * n;
    double *largest = t->largest_worth;
    for (int64_t q = 0; q < n_missing; q++) largest[q] = -INFINITY;
    for (int64_t q = start; q < stop; q++) {
        const double worth = gains[items[q]] + partners[items[q]];
        t->worth[q] = worth;
        if (worth > largest[n_missing - 1]) insert(largest, n_missing, worth);
    }
    double sum = 0.0;
    for (int64_t q = 0; q < n_missing; q++) sum += largest[q];
    const double lowest = largest[n_missing - 1];
    const double bound = t->value[depth] + sum;
    if (bound <= floor) return 0;
    t->next[depth]++;
    t->chosen[depth] = first;
    t->value[depth + 1] = t->value[depth] + gains[first];
    int64_t *next_items = t->open_items + (depth + 1) * n;
    double *next_gains = t->gains + (depth + 1) * n;
    int64_t n_kept = 0;
    for (int64_t q = start + 1; q < stop; q++) {
        const double worth = t->worth[q] < lowest ? t->worth[q] : lowest;
        if (!(bound - lowest + worth > floor)) continue;
        const int64_t item = items[q];
        next_items[n_kept] = item;
        next_gains[item] = gains[item] + 2 * row[item];
        n_kept++;
    }
    t->n_open[depth + 1] = n_kept;
    t->next[depth + 1] = 0;
    return 1;
}

/* Visit the node where the search stands: go down from it, or try all its last items, or leave it.
   Return the depth of the next node. */
static int64_t visit(Tree *t, int64_t depth, Search *state) {
    const int64_t n_missing = t->k - depth;
    const int64_t n_open = t->n_open[depth] - t->next[depth];
    if (n_open < n_missing) return depth - 1;
    if (n_missing == 1) {
        state->floor = finish(t, depth, state->floor);
        return depth - 1;
    }
    return descend(t, depth, state->floor) ? depth + 1 : depth - 1;
}

/* Go on for so many nodes; the tree is exhausted when the depth is negative.

   Q, partners, gains, open_items, value: as in Tree. path: four rows of k: n_open, next, chosen and
   best. state: as in Search. */
EXPORT int bestk_branch_advance(const double *Q, const double *partners, int64_t n, int64_t k,
    int64_t nodes, double *gains, int64_t *open_items, int64_t *path, double *value,
    double *state_values) {
    double *scratch = malloc(2 * (size_t)n * sizeof *scratch);
    if (!scratch) return NO_MEMORY;
    Tree t = {
        .Q = Q,
        .partners = partners,
        .n = n,
        .k = k,
        .gains = gains,
        .open_items = open_items,
        .n_open = path,
        .next = path + k,
        .chosen = path + 2 * k,
        .best = path + 3 * k,
        .value = value,
        .worth = scratch,
        .largest_worth = scratch + n,
    };
    Search *state = (Search *)state_values;
    int64_t depth = (int64_t)state->depth;
    int64_t n_visited = 0;
    for (; depth >= 0 && n_visited < nodes; n_visited++) depth = visit(&t, depth, state);
    state->depth = (double)depth;
    state->nodes += (double)n_visited;
    free(scratch);
    return OK;
}
