"""Time of a default selection by stage, and of others: ``python -m benchmarks.end_to_end``.

``shapes`` are made-up tables, ``sets`` the real ones of ``BESTK_DATA`` and ``BESTK_DATA2``, ``jmi``
greedy selections of 50 columns from codes. Stages are exclusive of each other; ratios are to
``f_classif`` or ``f_regression`` on the same array, in the same rounds; *no bound* is the same
selection with ``bound=None``. On a busy machine
``--cpu`` measures the time of the processor, of all threads together.
"""

import argparse
import csv
import statistics
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from importlib import import_module
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.feature_selection import f_classif, f_regression, mutual_info_classif
from sklearn.preprocessing import OrdinalEncoder

from benchmarks.machine import RESULTS, describe_machine
from benchmarks.pictures import pyplot, save
from benchmarks.quality import sets
from bestk import SelectBestK

K = 10
SHAPES: dict[str, tuple[int, int, str]] = {  # rows, columns, kind
    "569 x 30": (569, 30, "float"),
    "5,000 x 100, mixed": (5_000, 100, "mixed"),
    "2,000 x 500": (2_000, 500, "float"),
    "100,000 x 50": (100_000, 50, "float"),
    "1,000,000 x 20, integers": (1_000_000, 20, "int"),
    "200 x 10,000": (200, 10_000, "float"),
    "2,000 x 20,000": (2_000, 20_000, "float"),
    "6,000 x 5,000": (6_000, 5_000, "float"),
    "5,000 x 2,000, sparse": (5_000, 2_000, "sparse"),
    "1,000 x 100,000, two levels": (1_000, 100_000, "binary"),
}
JMI = {"6,000 x 500": (6_000, 500, 2, 2), "72 x 7,070": (72, 7_070, 3, 2),
       "2,000 x 649": (2_000, 649, 10, 10)}  # rows, columns, levels, classes  # fmt: skip
STAGES = {  # where the functions of each stage are looked up
    "read": ["selectors.steps.read_features", "selectors.steps.parse_targets"],
    "check": ["tables.dataset.find_constant", "tables.table.Table.check_exact"],
    "cut": ["information.coding.fit_together", "information.coding._discretise"],
    "encode": ["information.coding.encode", "information.backends._native.pack"],
    "scores": ["information.entropy_reader.ScoredTable.__init__",
               "information.block_information.make_design"],
    "count": ["information.backends._native.NativeCounter.fill",
              "information.backends._native.NativeCounter.pick",
              "information.scan.pairs_above",
              "information._gaussian.GaussianSource.fill",
              "information.scan.scan_pairs"],
    "solve": ["selectors.selector.select_number"],
    "describe": ["selectors.selector.diagnose", "information.information.pair_details"],
}  # fmt: skip


Now = Callable[[], float]


def clock(now: Now, run: Callable[[], Any]) -> float:
    """Seconds of one call."""
    start = now()
    run()
    return now() - start


@contextmanager
def stopwatch(now: Now) -> Iterator[dict[str, float]]:
    """Seconds of each stage, without those of stages that it calls."""
    seconds, inner, undo = dict.fromkeys([*STAGES, "rest"], 0.0), [0.0], []

    def timed(stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any, **options: Any) -> Any:
            inner.append(0.0)
            start = now()
            try:
                return function(*arguments, **options)
            finally:
                took = now() - start
                seconds[stage] += took - inner.pop()
                inner[-1] += took

        return run

    for stage, names in STAGES.items():
        for name in names:
            path, attribute = f"bestk.{name}".rsplit(".", 1)
            module, _, owner = path.rpartition(".") if path[path.rfind(".") + 1].isupper() else (
                path, "", "")  # fmt: skip
            place = getattr(import_module(module), owner) if owner else import_module(module)
            undo.append((place, attribute, getattr(place, attribute)))
            setattr(place, attribute, timed(stage, getattr(place, attribute)))
    start = now()
    try:
        yield seconds
    finally:
        seconds["rest"] = now() - start - inner[0]
        for place, attribute, function in undo:
            setattr(place, attribute, function)


def make(rows: int, columns: int, kind: str) -> tuple[Any, Any]:
    """A table of which every tenth column follows the class."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, rows)
    if kind == "binary":
        X = rng.integers(0, 2, (rows, columns), dtype=np.uint8)
        X[:, ::10] = np.where(rng.random((rows, len(X[0, ::10]))) < 0.2, y[:, None], X[:, ::10])
        return X, y
    X = rng.standard_normal((rows, columns))
    X[:, ::10] += rng.random(X[:, ::10].shape[1]) * y[:, None]
    if kind == "int":
        X = (100 * X).astype(np.int32)
    if kind == "sparse":
        X = sparse.csc_array(np.where(rng.random(X.shape) < 0.9, 0.0, X))
    if kind == "mixed":
        X = pd.DataFrame(X).rename(columns=str)
        X = X.assign(**{name: pd.cut(X[name], 6, labels=list("abcdef")) for name in X.columns[::4]})
    return X, y


def coded(rows: int, columns: int, levels: int, classes: int) -> tuple[Any, Any]:
    """Codes, a third of which follow the class in some rows."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(rows) % classes)
    X = rng.integers(0, levels, (rows, columns), dtype=np.int16)
    follows = rng.random((rows, columns)) < np.where(rng.random(columns) < 1 / 3, 0.3, 0.0)
    return np.where(follows, (y % levels)[:, None], X).astype(np.int16), y


def as_numbers(X: Any) -> Any:
    """What scikit-learn's scores take."""
    if isinstance(X, pd.DataFrame):
        text = X.columns[X.dtypes == "category"]
        X = X.assign(**dict(zip(text, OrdinalEncoder().fit_transform(X[text]).T, strict=True)))
        return np.nan_to_num(X.to_numpy(float))
    return X


def measure(name: str, X: Any, y: Any, peers: bool, options: Any) -> dict[str, Any]:
    """The best of some rounds: all in each, so that load affects all of them."""
    numbers = as_numbers(X)
    score = f_regression if np.asarray(y).dtype.kind == "f" else f_classif
    others = {"f_classif": lambda: score(numbers, y),
              "no bound": lambda: SelectBestK(K, bound=None, random_state=0).fit(X, y)}  # fmt: skip
    if peers and min(numbers.shape) and numbers.shape[0] * numbers.shape[1] < 2e6:
        others["mutual_info_classif"] = lambda: mutual_info_classif(numbers, y)
        others["LightGBM"] = lambda: _gains(numbers, y)
    best: dict[str, float] = {}
    stages: dict[str, float] = {}
    for _ in range(options.rounds):
        with stopwatch(options.now) as found:
            seconds = clock(options.now, lambda: SelectBestK(K, random_state=0).fit(X, y))
        if seconds < best.get("bestk", np.inf):
            best["bestk"], stages = seconds, found
        for peer, run in others.items():
            best[peer] = min(best.get(peer, np.inf), clock(options.now, run))
    return {"case": name, **best, "ratio": best["bestk"] / best["f_classif"], **stages}


def _gains(X: Any, y: Any) -> Any:
    from lightgbm import LGBMClassifier

    model = LGBMClassifier(importance_type="gain", n_jobs=2, verbose=-1)
    return model.fit(X, y).feature_importances_


def rows(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Measure what was asked for."""
    if "shapes" in options.parts:
        for name, shape in SHAPES.items():
            yield measure(name, *make(*shape), True, options)
    if "sets" in options.parts:
        found = []
        for entry in sets.entries():
            if entry.source in sets.FOLDERS and entry.available:
                problem = sets.load(entry.name)
                numbers = all(kind != "category" for kind in problem.X.dtypes)
                X = problem.X.to_numpy() if numbers else problem.X
                found.append(measure(entry.name, X, problem.y, False, options))
                yield found[-1]
        yield {"case": "median of sets", "ratio": statistics.median(r["ratio"] for r in found)}
        most = max(found, key=lambda row: row["bestk"] / row["no bound"])
        yield {"case": f"most of all sets beside no bound: {most['case']}",
               "ratio": most["bestk"] / most["no bound"]}  # fmt: skip
    if "jmi" in options.parts:
        for name, shape in JMI.items():
            X, y = coded(*shape)
            fit = SelectBestK(50, "jmi", discretizer=None, bound=None).fit
            again = [clock(options.now, partial(fit, X, y)) for _ in range(3 * options.rounds)]
            yield {"case": f"JMI, 50 of {name} codes", "bestk": min(again)}


def draw(found: list[dict[str, Any]], path: Path) -> None:
    """A bar for each table: the share of every stage."""
    plt = pyplot()
    figure, axes = plt.subplots(figsize=(9, 0.32 * len(found) + 1.5), layout="constrained")
    left = np.zeros(len(found))
    names = [f"{row['case']}: {1e3 * row['bestk']:,.0f} ms" for row in found]
    for stage in [*STAGES, "rest"]:
        share = np.array([row[stage] / row["bestk"] for row in found])
        axes.barh(names, share, left=left, label=stage)
        left += share
    axes.invert_yaxis()
    axes.margins(y=0.01)
    axes.set(xlabel="share of the time", xlim=(0, 1))
    axes.legend(ncols=5, loc="lower left", bbox_to_anchor=(0, 1))
    save(figure, path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=["shapes", "sets", "jmi"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=RESULTS / "end_to_end.csv")
    parser.add_argument("--cpu", action="store_const", dest="now", const=process_time)
    parser.set_defaults(now=perf_counter)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    found = []
    for row in rows(options):
        found.append(row)
        figures = (f"{key} {value:.4g}" for key, value in row.items() if key != "case")
        print(f"{row['case']:30s}", *figures, flush=True)
    staged = [row for row in found if "solve" in row]
    names = dict.fromkeys(key for row in found for key in row)
    machine = asdict(describe_machine())
    with options.out.open("w", newline="") as file:
        writer = csv.DictWriter(file, [*names, *machine])
        writer.writeheader()
        writer.writerows({**row, **machine} for row in found)
    if staged:
        draw(staged, options.out.with_suffix(""))


if __name__ == "__main__":
    main()
