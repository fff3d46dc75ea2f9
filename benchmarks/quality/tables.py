"""The tables of the report."""

from collections.abc import Sequence
from statistics import median as middle

import numpy as np

from benchmarks.quality.classifiers import CLASSIFIERS, LABELS
from benchmarks.quality.comparisons import REGION, Standing, Versus, against_each, ranks
from benchmarks.quality.folds import KS
from benchmarks.quality.generated import MAKERS
from benchmarks.quality.methods import DEFAULT
from benchmarks.quality.results import Results
from benchmarks.quality.sets import HALVES
from benchmarks.quality.times import Seconds
from experiments.tables import Grid


def rank_grid(results: Results) -> Grid | None:
    """Mean ranks overall, in each half, for each classifier and each k; and mean errors."""
    names = results.everywhere
    columns: dict[str, Standing | None] = {"all": ranks(results, names)}
    columns |= {half: ranks(results, names, results.half(half)) for half in HALVES}
    columns |= {LABELS[each]: ranks(results, names, classifier=each) for each in CLASSIFIERS}
    columns |= {f"k = {k}": ranks(results, names, k=k) for k in KS}
    overall = columns["all"]
    if overall is None:
        return None
    heads = [f"{head} ({found.n_sets})" for head, found in columns.items() if found is not None]
    kept = [found for found in columns.values() if found is not None]
    errors = mean_errors(results)
    rows = [
        [name, *(f"{found.rank(name):.2f}" for found in kept), f"{errors[name]:.2f}"]
        for name in overall.order
    ]
    caption = "Mean ranks, 1 for the least error (number of sets), and the mean error in percent"
    return Grid(caption, ["method", *heads, "error"], rows)


def mean_errors(results: Results, sets: Sequence[str] | None = None) -> dict[str, float]:
    """Mean error over the sets, of the methods that have all of them."""
    table = results.table(results.everywhere, sets)
    return dict(zip(results.everywhere, map(float, table.mean(axis=0)), strict=True))


def default_grid(results: Results) -> Grid:
    """The default against each other method."""
    found = against_each(results, DEFAULT, others(results))
    return _versus_grid(found, f"`{DEFAULT}` against each other method, all sets")


def judge_grid(results: Results) -> Grid | None:
    """The same on the sets that were not looked at when the default was chosen."""
    sets = results.half("judge")
    if len(sets) < 2:
        return None
    found = against_each(results, DEFAULT, others(results), sets)
    return _versus_grid(found, f"`{DEFAULT}` against each other method, sets of `judge` only")


def others(results: Results) -> list[str]:
    """All methods but the default."""
    return [name for name in results.methods if name != DEFAULT]


def _versus_grid(found: Sequence[Versus], caption: str) -> Grid:
    head = ["against", "sets", "won-tied-lost", "difference, points", "p (Wilcoxon, Holm)",
            f"P(better by > {REGION:g})", f"P(within {REGION:g})",
            f"P(worse by > {REGION:g})"]  # fmt: skip
    rows = [
        [
            each.other, str(each.n_sets), each.score, f"{each.difference:+.2f}",
            f"{each.pvalue:.3g}", f"{each.belief.below:.3f}", f"{each.belief.within:.3f}",
            f"{each.belief.above:.3f}",
        ]
        for each in sorted(found, key=lambda each: each.difference)
    ]  # fmt: skip
    return Grid(caption, head, rows)


def set_grid(results: Results) -> Grid:
    """Mean error of each method on each set; the least in bold."""
    rows = []
    for name in results.sets:
        errors = [results.error(name, method) for method in results.methods]
        least = np.nanmin(errors)
        cells = [f"**{e:.1f}**" if e <= least + 1e-9 else f"{e:.1f}" for e in errors]
        rows.append([name, *("-" if cell == "nan" else cell for cell in cells)])
    caption = "Error in percent, mean over folds, k and classifiers"
    turned = [list(row) for row in zip(["method", *results.methods], *rows, strict=True)]
    return Grid(caption, turned[0], turned[1:])


def recall_grid(results: Results) -> Grid | None:
    """Recall of planted features, by made-up set."""
    sets = [name for name in MAKERS if name in results.folds]
    if not sets:
        return None
    rows = []
    for method in results.methods:
        found = results.recalls(method)
        cells = [f"{100 * found[name]:.0f}" if name in found else "-" for name in sets]
        rows.append([method, *cells, f"{100 * np.mean(list(found.values())):.0f}"])
    caption = "Share in percent of what matters that is among as many chosen features"
    return Grid(caption, ["method", *sets, "mean"], rows)


def cost_grid(results: Results, seconds: Seconds) -> Grid:
    """Stability, error and seconds of each method."""
    errors = mean_errors(results)
    rows = []
    for method in results.methods:
        there = [name for name in results.sets if method in results.folds[name]]
        stable = np.nanmean([np.nan, *(results.stability(name, method) for name in there)])
        error = f"{errors[method]:.2f}" if method in errors else "-"
        own = [seconds[name][method] for name in seconds if method in seconds[name]]
        cells = [f"{middle(own):.3g}", f"{max(own):.3g}"] if own else ["-", "-"]
        rows.append([method, error, f"{stable:.2f}", *cells])
    caption = "Mean error in percent, stability over folds, and seconds of one selection"
    return Grid(caption, ["method", "error", "stability", "seconds, median", "longest"], rows)


def median(seconds: Seconds, method: str) -> float | None:
    """Median over the sets, where a method was timed on all of them."""
    found = [own.get(method) for own in seconds.values()]
    known = [value for value in found if value is not None]
    return middle(known) if known and len(known) == len(found) else None
