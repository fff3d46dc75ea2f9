/* Tabu search: populations of choices of k items, improved by swapping one item for another.

   With p_i = Q_ii + 2 sum of Q_ij over the other chosen items j, swapping u for v changes x'Qx by
   p_v - p_u - 2 Q_uv. A swap costs one pass over two rows of Q, which also finds, in each block of
   items, the lowest p of those that may leave and the highest of those that may enter: its
   extremes. The best swap is among the items whose p are near the extremes of all.

   An island is a population with the walk of its newest child. A walk makes the best swap each
   time, even a bad one, but an item that has just moved is under tabu: it stays where it is for
   some steps. When a walk has found no new best choice for long, its best may join the population,
   and the next walk sets out from what two members share. */
#include <math.h>
#include <string.h>

#include "bestk.h"

enum { BLOCK = 32 }; /* items whose extremes are kept together */
enum { LANES = 4 };  /* items that are updated together */
enum { LONGEST = 20 }; /* a walk ends after so many steps, times the depth */
enum { RESTART = 20 }; /* walks that leave a population as it is before a new one */
/* A walk from a random choice that ends at the best choice ever counts as so many walks without a
   new one, but for at most a fifth of the patience. */
enum { AGAIN = 10 };
enum { MIN_PATIENCE_FOR_AGAIN = 10 };
/* Steps that an item that left stays out: TENURE times a factor, which changes every so many steps
   along a fixed list. An item that entered stays for 7 / 10 of that. */
enum { TENURE = 15, STEPS_A_TENURE = 100, N_TENURES = 15 };
static const int64_t TENURE_FACTORS[N_TENURES] = {1, 2, 1, 4, 1, 2, 1, 8, 1, 2, 1, 4, 1, 2, 1};
#define ROUNDING 1e-13 /* relative differences below this are none */

/* Numbers of an island; in _search.py, their places have the same names. */
typedef struct {
    int64_t step;   /* steps of the walk */
    int64_t idle;   /* of them, those since its best choice */
    int64_t n_tabu; /* items under tabu */
    int64_t born;   /* walks so far */
    int64_t young;  /* walks since the population was empty */
    int64_t size;   /* members of the population */
    int64_t stale;  /* walks since a member was new */
    int64_t wait;   /* walks since the best choice ever, see AGAIN */
} Counts;

/* Values of choices of an island; in _search.py, their places have the same names. */
typedef struct {
    double value;   /* of the choice of the walk */
    double best;    /* of the best choice of the walk */
    double crown;   /* of the best choice ever, the champion */
    double worth[]; /* of the members of the population */
} Values;

/* The first part lives in arrays of the caller, the second is rebuilt at each call. */
typedef struct {
    const double *Q;     /* [n][n] */
    const double *least; /* [n]: the least entry of each row off the diagonal */
    double lowest;       /* of those */
    int64_t n, k, blocks, population;
    uint8_t *chosen;   /* [n]: the choice of the walk, 1 for its items */
    uint8_t *best;     /* [n]: its best one */
    uint8_t *champion; /* [n]: the best choice ever */
    uint8_t *pool;     /* [population][n]: the members of the population */
    double *p;         /* [n] */
    Values *values;
    int64_t *until; /* [n]: the step at which the tabu on an item ends, 0 for none */
    int64_t *tabu;  /* [n_tabu]: the items under tabu */
    Counts *counts;
    uint64_t *random;

    /* Gates, added to p: 0 for items that may leave or enter, else infinity or minus infinity. */
    double *leave, *enter; /* [n] */
    /* Extremes of p and gate: the lowest of those that may leave, the highest that may enter. */
    double *low, *high;         /* [blocks]: of each block */
    double lowest_p, highest_p; /* of all */
    int64_t *ins, *outs;        /* [n], scratch: items that a best swap may involve */
} Island;

/* A swap of the chosen item u for v. */
typedef struct {
    double gain;
    int64_t u, v;
} Exchange;

/* A random whole number below a limit, by xorshift. */
static int64_t draw(uint64_t *state, int64_t below) {
    uint64_t x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    *state = x;
    return (int64_t)((x >> 20) % (uint64_t)below);
}

/* Of items from i on, one a lane: p += 2 (into - out), and the extremes. */
INLINE void update_lanes(const Island *w, const double *out, const double *into, int64_t i,
    int64_t width, double *restrict low, double *restrict high) {
    const double *leave = w->leave + i;
    const double *enter = w->enter + i;
    double *p = w->p + i;
#pragma omp simd
    for (int64_t j = 0; j < width; j++) {
        p[j] += 2.0 * (into[i + j] - out[i + j]);
        low[j] = lower(p[j] + leave[j], low[j]);
        high[j] = higher(p[j] + enter[j], high[j]);
    }
}

/* The same of one block of items, of which there are ``size``; keep its extremes. */
INLINE void update_block(
    Island *w, const double *out, const double *into, int64_t block, int64_t size) {
    double low[LANES];
    double high[LANES];
    for (int j = 0; j < LANES; j++) {
        low[j] = INFINITY;
        high[j] = -INFINITY;
    }
    int64_t i = block * BLOCK;
    const int64_t end = i + size;
    for (; i + LANES <= end; i += LANES) update_lanes(w, out, into, i, LANES, low, high);
    update_lanes(w, out, into, i, end - i, low, high);
    for (int j = 1; j < LANES; j++) {
        low[0] = lower(low[j], low[0]);
        high[0] = higher(high[j], high[0]);
    }
    w->low[block] = low[0];
    w->high[block] = high[0];
}

/* The same of all blocks; keep the extremes of all. */
static void update(Island *w, const double *out, const double *into) {
    const int64_t full_blocks = w->n / BLOCK;
    double lowest = INFINITY;
    double highest = -INFINITY;
    for (int64_t block = 0; block < w->blocks; block++) {
        if (block < full_blocks)
            update_block(w, out, into, block, BLOCK);
        else
            update_block(w, out, into, block, w->n % BLOCK);
        lowest = lower(w->low[block], lowest);
        highest = higher(w->high[block], highest);
    }
    w->lowest_p = lowest;
    w->highest_p = highest;
}

/* Swap u for v in p, and find the extremes; u = v: only the latter. */
static void move(Island *w, int64_t u, int64_t v) {
    const double *out = w->Q + u * w->n;
    const double *into = w->Q + v * w->n;
    if (u != v) { /* an item does not count itself */
        w->p[u] += 2.0 * out[u];
        w->p[v] -= 2.0 * into[v];
    }
    update(w, out, into);
}

/* Let an item move, or keep it where it is. */
static void set_gate(Island *w, int64_t i, int open) {
    w->leave[i] = open && w->chosen[i] ? 0.0 : INFINITY;
    w->enter[i] = open && !w->chosen[i] ? 0.0 : -INFINITY;
}

/* Take the item at a place off the list of those under tabu; the last one takes its place. */
static void drop_tabu(Island *w, int64_t place) {
    w->counts->n_tabu--;
    w->tabu[place] = w->tabu[w->counts->n_tabu];
}

/* Keep an item that has moved where it is for so many steps. */
static void forbid(Island *w, int64_t i, int64_t tenure) {
    set_gate(w, i, 1);
    if (tenure <= 0) { /* nothing else may be left to move: an older tabu ends */
        for (int64_t j = 0; j < w->counts->n_tabu; j++)
            if (w->tabu[j] == i) drop_tabu(w, j);
        w->until[i] = 0;
        return;
    }
    set_gate(w, i, 0);
    if (w->until[i] == 0) {
        w->tabu[w->counts->n_tabu] = i;
        w->counts->n_tabu++;
    }
    w->until[i] = w->counts->step + tenure;
}

/* Let those items move whose tabu is over. */
static void expire(Island *w) {
    int64_t j = 0;
    while (j < w->counts->n_tabu) {
        const int64_t i = w->tabu[j];
        if (w->until[i] > w->counts->step) {
            j++;
            continue;
        }
        drop_tabu(w, j);
        w->until[i] = 0;
        set_gate(w, i, 1);
    }
}

/* The first item that may move and has this p, which is the extreme of a block. */
static int64_t find_first(
    const double *p, const double *gate, const double *extreme, double wanted) {
    int64_t b = 0;
    while (extreme[b] != wanted) b++;
    int64_t i = b * BLOCK;
    while (p[i] + gate[i] != wanted) i++;
    return i;
}

/* Find the items that may move with sign * p of at most a limit; return their number. */
INLINE int64_t find_near(const Island *w, const double *gate, const double *extreme, double sign,
    double limit, int64_t *found) {
    const double *p = w->p;
    int64_t n_found = 0;
    for (int64_t b = 0; b < w->blocks; b++) {
        if (!(sign * extreme[b] <= limit)) continue;
        const int64_t end = least_of((b + 1) * BLOCK, w->n);
        for (int64_t i = b * BLOCK; i < end; i++) {
            found[n_found] = i;
            n_found += sign * (p[i] + gate[i]) <= limit;
        }
    }
    return n_found;
}

/* The best swap of items that may move, a random one of equals, and its gain.

   Q_uv is not below the least entry of u, of v, nor of all: only a u of low p and a v of high p can
   be in the best. First the swaps of the extreme u with any such v, and of the extreme v with any
   such u, give a good swap; then all pairs that could be better are tried. */
static Exchange best_exchange(Island *w) {
    const double *p = w->p;
    const double *Q = w->Q;
    const int64_t n = w->n;
    const double low = w->lowest_p;
    const double high = w->highest_p;
    const double floor = 2.0 * w->lowest;
    const double rounding = ROUNDING * (fabs(low) + fabs(high));
    int64_t *ins = w->ins;
    int64_t *outs = w->outs;
    int64_t u = find_first(p, w->leave, w->low, low);
    int64_t v = find_first(p, w->enter, w->high, high);
    double best = high - low - 2.0 * Q[u * n + v];
    const double highest_in = high - floor - best + rounding;
    const int64_t n_in = find_near(w, w->leave, w->low, 1.0, highest_in, ins);
    for (int64_t a = 0; a < n_in; a++)
        best = higher(high - p[ins[a]] - 2.0 * Q[v * n + ins[a]], best);
    const double lowest_out = rounding - low - floor - best; /* of -p */
    const int64_t n_near = find_near(w, w->enter, w->high, -1.0, lowest_out, outs);
    for (int64_t b = 0; b < n_near; b++)
        best = higher(p[outs[b]] - low - 2.0 * Q[u * n + outs[b]], best);
    int64_t n_out = 0; /* those that, by their own least entry, can reach the best */
    for (int64_t b = 0; b < n_near; b++) {
        const int64_t i = outs[b];
        outs[n_out] = i;
        n_out += p[i] - 2.0 * w->least[i] >= best + low - rounding;
    }
    int64_t ties = 0;
    for (int64_t a = 0; a < n_in; a++) {
        const double p_a = p[ins[a]];
        const double *row = Q + ins[a] * n;
        const double own_floor = 2.0 * w->least[ins[a]];
        if (high - p_a - own_floor < best - rounding) continue;
        for (int64_t b = 0; b < n_out; b++) {
            const double p_b = p[outs[b]];
            if (p_b - p_a - own_floor < best - rounding) continue;
            const double gain = p_b - p_a - 2.0 * row[outs[b]];
            if (!(gain >= best - rounding)) continue;
            ties = gain <= best + rounding ? ties + 1 : 1;
            best = higher(gain, best);
            if (ties == 1 || draw(w->random, ties) == 0) {
                u = ins[a];
                v = outs[b];
            }
        }
    }
    const double gain = p[v] - p[u] - 2.0 * Q[u * n + v];
    return (Exchange){gain, u, v};
}

/* Whether a swap could gain more than that if there were no tabu. */
static int could_gain(const Island *w, double wanted) {
    double low = w->lowest_p;
    double high = w->highest_p;
    for (int64_t j = 0; j < w->counts->n_tabu; j++) {
        const int64_t i = w->tabu[j];
        if (w->chosen[i])
            low = lower(w->p[i], low);
        else
            high = higher(w->p[i], high);
    }
    return high - low - 2.0 * w->lowest > wanted;
}

/* The best swap that is allowed, or one under tabu that leads to a new best. */
static Exchange next_exchange(Island *w) {
    const Exchange allowed = best_exchange(w);
    const double best = w->values->best;
    const double wanted = best - w->values->value + ROUNDING * fabs(best);
    if (allowed.gain > wanted || !could_gain(w, wanted)) return allowed;
    for (int64_t j = 0; j < w->counts->n_tabu; j++) set_gate(w, w->tabu[j], 1);
    move(w, 0, 0);
    const Exchange any = best_exchange(w);
    for (int64_t j = 0; j < w->counts->n_tabu; j++) set_gate(w, w->tabu[j], 0);
    return any.gain > wanted ? any : allowed;
}

/* Make one swap. */
static void step(Island *w) {
    const Exchange swap = next_exchange(w);
    Counts *counts = w->counts;
    Values *values = w->values;
    counts->step++;
    counts->idle++;
    w->chosen[swap.u] = 0;
    w->chosen[swap.v] = 1;
    expire(w);
    const int64_t factor = TENURE_FACTORS[counts->step / STEPS_A_TENURE % N_TENURES];
    const int64_t tenure = TENURE * factor;
    forbid(w, swap.u, least_of(tenure, (w->n - w->k) / 2));
    forbid(w, swap.v, least_of(tenure * 7 / 10, w->k / 2));
    move(w, swap.u, swap.v);
    values->value += swap.gain;
    if (values->value > values->best + ROUNDING * fabs(values->best)) {
        values->best = values->value;
        counts->idle = 0;
        memcpy(w->best, w->chosen, (size_t)w->n);
    }
}

/* p += weight * row of an item. */
static void add_row(Island *w, int64_t item, double weight) {
    const double *restrict row = w->Q + item * w->n;
    double *restrict p = w->p;
    for (int64_t i = 0; i < w->n; i++) p[i] += weight * row[i];
}

/* The objective of a choice; on the way, set p. */
static double value_of(Island *w, const uint8_t *chosen) {
    const int64_t n = w->n;
    for (int64_t i = 0; i < n; i++) {
        const double entry = w->Q[i * n + i];
        w->p[i] = chosen[i] ? -entry : entry; /* its own row adds it twice */
    }
    for (int64_t j = 0; j < n; j++)
        if (chosen[j]) add_row(w, j, 2.0);
    double value = 0.0;
    for (int64_t i = 0; i < n; i++)
        if (chosen[i]) value += (w->p[i] + w->Q[i * n + i]) / 2.0;
    return value;
}

/* How many items are chosen. */
static int64_t n_chosen(const Island *w) {
    int64_t count = 0;
    for (int64_t i = 0; i < w->n; i++) count += w->chosen[i];
    return count;
}

/* Choose the item of the highest p among those allowed; NULL: all are. */
static void add_best(Island *w, const uint8_t *allowed) {
    int64_t best = -1;
    for (int64_t i = 0; i < w->n; i++) {
        if (w->chosen[i] || (allowed && !allowed[i])) continue;
        if (best < 0 || w->p[i] > w->p[best]) best = i;
    }
    w->chosen[best] = 1;
    add_row(w, best, 2.0);
}

/* Drop the chosen item of the lowest p, which is missed least. */
static void drop_worst(Island *w) {
    int64_t worst = -1;
    for (int64_t i = 0; i < w->n; i++) {
        if (!w->chosen[i]) continue;
        if (worst < 0 || w->p[i] < w->p[worst]) worst = i;
    }
    w->chosen[worst] = 0;
    add_row(w, worst, -2.0);
}

/* Drop what is missed least, or add what helps most, until k items are chosen. */
static void repair(Island *w) {
    value_of(w, w->chosen);
    int64_t surplus = n_chosen(w) - w->k;
    for (; surplus > 0; surplus--) drop_worst(w);
    for (; surplus < 0; surplus++) add_best(w, NULL);
}

/* Any k items, each choice as likely as another: the last k items come in turn, each as a random
   one of those up to it, or as itself if that is in already (Floyd's rule). */
static void choose_any(Island *w) {
    memset(w->chosen, 0, (size_t)w->n);
    for (int64_t last = w->n - w->k; last < w->n; last++) {
        const int64_t i = draw(w->random, last + 1);
        w->chosen[w->chosen[i] ? last : i] = 1;
    }
}

/* Keep what two parents share; fill up with the best of one or the other, at random. */
static void cross(Island *w) {
    const int64_t size = w->counts->size;
    const int64_t mother = draw(w->random, size);
    const int64_t father = (mother + 1 + draw(w->random, size - 1)) % size;
    const uint8_t *one = w->pool + mother * w->n;
    const uint8_t *other = w->pool + father * w->n;
    for (int64_t i = 0; i < w->n; i++) w->chosen[i] = one[i] & other[i];
    value_of(w, w->chosen);
    for (int64_t n_missing = w->k - n_chosen(w); n_missing > 0; n_missing--)
        add_best(w, draw(w->random, 2) == 0 ? one : other);
}

/* Set out from a start that was given, a random choice, or a child of two parents. */
static void begin(Island *w, const uint8_t *starts, int64_t n_starts) {
    Counts *counts = w->counts;
    if (counts->stale >= RESTART) {
        counts->size = 0;
        counts->stale = 0;
        counts->young = 0;
    }
    if (counts->born < n_starts) {
        memcpy(w->chosen, starts + counts->born * w->n, (size_t)w->n);
        repair(w);
    } else if (counts->young < w->population || counts->size < 2) {
        choose_any(w);
    } else {
        cross(w);
    }
    counts->born++;
    counts->young++;
    w->values->value = value_of(w, w->chosen);
    w->values->best = w->values->value;
    memcpy(w->best, w->chosen, (size_t)w->n);
    memset(w->until, 0, (size_t)w->n * sizeof *w->until);
    counts->step = 0;
    counts->idle = 0;
    counts->n_tabu = 0;
    for (int64_t i = 0; i < w->n; i++) set_gate(w, i, 1);
    move(w, 0, 0);
}

/* Whether the best choice of the walk, of that value, is a member of the population already. */
static int is_member(const Island *w, double value) {
    for (int64_t member = 0; member < w->counts->size; member++) {
        if (w->values->worth[member] != value) continue;
        if (!memcmp(w->pool + member * w->n, w->best, (size_t)w->n)) return 1;
    }
    return 0;
}

/* Let the best choice of the walk into the population if it is new and there is room, or if it is
   worth more than the worst member, whose place it then takes. */
static void join(Island *w, double value) {
    Counts *counts = w->counts;
    double *worth = w->values->worth;
    if (is_member(w, value)) return;
    int64_t place = counts->size;
    if (counts->size < w->population) {
        counts->size++;
    } else {
        place = 0;
        for (int64_t member = 1; member < w->population; member++)
            if (worth[member] < worth[place]) place = member;
        if (!(value > worth[place])) return;
    }
    memcpy(w->pool + place * w->n, w->best, (size_t)w->n);
    worth[place] = value;
    counts->stale = 0;
}

/* The walk is over: count it, and keep its best choice. */
static void end_walk(Island *w, int64_t patience) {
    Counts *counts = w->counts;
    const double value = value_of(w, w->best);
    const double crown = w->values->crown;
    const double margin = ROUNDING * fabs(crown);
    const int is_random = counts->young <= w->population;
    const int is_again = is_random && value >= crown - margin;
    counts->stale++;
    if (is_again && patience >= MIN_PATIENCE_FOR_AGAIN)
        counts->wait += least_of(AGAIN, patience / 5);
    else
        counts->wait++;
    if (value > crown + margin) {
        w->values->crown = value;
        memcpy(w->champion, w->best, (size_t)w->n);
        counts->wait = 0;
    }
    join(w, value);
}

/* Make room for the second part of an island, and rebuild it. */
static void wake(Island *w, Room *room) {
    w->leave = take(room, w->n, sizeof *w->leave);
    w->enter = take(room, w->n, sizeof *w->enter);
    w->low = take(room, w->blocks, sizeof *w->low);
    w->high = take(room, w->blocks, sizeof *w->high);
    w->ins = take(room, w->n, sizeof *w->ins);
    w->outs = take(room, w->n, sizeof *w->outs);
    if (room->status) return;
    for (int64_t i = 0; i < w->n; i++) set_gate(w, i, 1);
    for (int64_t j = 0; j < w->counts->n_tabu; j++) set_gate(w, w->tabu[j], 0);
    move(w, 0, 0);
}

/* Let an island make so many steps more, or until so many walks brought no new champion.

   masks: rows of n: the choice of the walk, its best one, the champion, the population. tabu: two
   rows of n, ``until`` and ``tabu`` of Island. values: as in Values. counts: as in Counts.
   starts: [n_starts][n], choices of the first walks; they may have more or fewer than k items. */
EXPORT int bestk_tabu_advance(const double *Q, const double *least, int64_t n, int64_t k,
    int64_t depth, int64_t patience, int64_t steps, const uint8_t *starts, int64_t n_starts,
    int64_t population, uint8_t *masks, double *p, int64_t *tabu, double *values,
    int64_t *count_values, uint64_t *random) {
    Counts *counts = (Counts *)count_values;
    Island w = {
        .Q = Q,
        .least = least,
        .lowest = bestk_range(least, n).low,
        .n = n,
        .k = k,
        .blocks = (n + BLOCK - 1) / BLOCK,
        .population = population,
        .chosen = masks,
        .best = masks + n,
        .champion = masks + 2 * n,
        .pool = masks + 3 * n,
        .p = p,
        .values = (Values *)values,
        .until = tabu,
        .tabu = tabu + n,
        .counts = counts,
        .random = random,
    };
    Room room = {0};
    wake(&w, &room);
    if (room.status) return release(&room);
    if (counts->born == 0) begin(&w, starts, n_starts);
    while (steps > 0 && counts->wait < patience) {
        while (steps > 0 && counts->idle < depth && counts->step < LONGEST * depth) {
            step(&w);
            steps--;
        }
        if (steps <= 0) break;
        end_walk(&w, patience); /* no new best came for ``depth`` steps */
        begin(&w, starts, n_starts);
        steps -= k;
    }
    return release(&room);
}
