"""Try a way to select on the half for tuning: ``python -m benchmarks.quality.tune --function ...``.

    python -m benchmarks.quality.tune --function package.module:select_features --quick
    python -m benchmarks.quality.tune --options '{"method": "mrmr", "bound": null}'

A function is called as ``select(X, y, k, kind)``, with a DataFrame, classes or numbers, and
"classes" or "numbers"; it returns the places of k columns, best first. ``--options`` are those of
SelectBestK. With ``--nested`` it is called once for the largest k, whose first columns are taken
for smaller ones.

The result is compared, kind of table by kind of table, with what the record holds of
``--against``, and ranked among all methods that the record holds for the same folds. Folds and
scores are kept in the folder BESTK_CACHE (by default a temporary one): a model is fitted once for
a fold and a set of columns, whichever way selected them.
"""

import argparse
import json
import os
import pickle
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata

from benchmarks.machine import RESULTS
from benchmarks.quality.encode import days
from benchmarks.quality.judge import Judge, ks_for, split
from benchmarks.quality.problem import Half, Kind
from benchmarks.quality.runs import about_fold, read_packed
from benchmarks.quality.scores import Row, Scores
from benchmarks.quality.sets import COPIED, REAL, Entry, catalogue, line_of, load
from benchmarks.quality.ways import PREVIOUS

Select = Callable[[pd.DataFrame, NDArray[Any], int, Kind], Sequence[int]]
TRIED = "tried"
QUICK_SEEDS = 2  # of each made-up family
SHOWN_SETS = 8  # that gained and that lost the most
MIN_METHODS = 5  # ranks among fewer say little
SOURCES_OF_FOLDS = (
    "domains",
    "encode",
    "judge",
    "ordinary",
    "problem",
    "r_tables",
    "sets",
    "tables",
)


@dataclass(frozen=True)
class Trial:
    """What is tried, and on which tables."""

    select: Select

    nested: bool = False
    """Whether the first columns of a larger k are those of a smaller one."""

    half: Half = "tune"
    folds: int = 1
    quick: bool = False
    """Whether only the first seeds of made-up tables are run."""

    wanted: tuple[str, ...] = ()
    """Names, families or sources of tables; all if empty."""


def run_trial(trial: Trial) -> Iterator[Row]:
    """A row of the record for every table and fold."""
    for entry, fold in folds_of_trial(trial):
        judge = cached_judge(entry.name, fold)
        n_scores = len(judge.known)
        start = process_time()
        selected = _select_all(trial, judge)
        seconds = process_time() - start
        yield about_fold(judge, 0, fold) | {
            "way": TRIED,
            "seconds": round(seconds, 4),
            "ks": judge.describe(selected),
        }
        if len(judge.known) > n_scores:
            _write(_scores_path(entry.name, fold), judge.known)


def _select_all(trial: Trial, judge: Judge) -> dict[int, list[int]]:
    """The selected places for every k of the benchmark."""
    rows = judge.rows
    table = days(rows.X)
    ks = ks_for(judge.problem)
    asked = ks[-1:] if trial.nested else ks
    selected = {}
    for k in asked:
        places = trial.select(table, rows.y, k, rows.kind)
        selected[k] = [int(place) for place in places]
        if len(set(selected[k])) != k:
            raise ValueError(f"{judge.problem.name}: {len(set(selected[k]))} columns for k = {k}")
    return {k: selected[k] if k in selected else selected[ks[-1]][:k] for k in ks}


def folds_of_trial(trial: Trial) -> Iterator[tuple[Entry, int]]:
    """Tables of the half and their folds."""
    for entry in catalogue().values():
        asked = {entry.name, entry.family, entry.source} & set(trial.wanted)
        if entry.half != trial.half or not entry.available or (trial.wanted and not asked):
            continue
        if entry.family:
            if not trial.quick or entry.seed < QUICK_SEEDS:
                yield entry, 0
        else:
            for fold in range(trial.folds):
                yield entry, fold


def cached_judge(name: str, fold: int) -> Judge:
    """A fold of a table with its matrix, and the scores of the models that were fitted on it."""
    path = cache_folder() / f"{name.replace('/', '__')}-{fold}.fold"
    judge = _read(path)
    if judge is None:
        problem = load(name)
        judge = Judge(problem, split(problem, 0, fold))
        judge.rows.matrix  # noqa: B018, encoded once and kept with the rows
        _write(path, judge)
    scores = _read(_scores_path(name, fold))
    return judge if scores is None else replace(judge, known=scores)


def _scores_path(name: str, fold: int) -> Path:
    return cache_folder() / f"{name.replace('/', '__')}-{fold}.scores"


@cache
def cache_folder() -> Path:
    """A folder that belongs to the present code of the benchmark, since folds depend on it."""
    here = Path(__file__).parent
    code = b"".join((here / f"{name}.py").read_bytes() for name in SOURCES_OF_FOLDS)
    default = Path(tempfile.gettempdir()) / "bestk-benchmark"
    folder = Path(os.environ.get("BESTK_CACHE", default)) / sha256(code).hexdigest()[:12]
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _read(path: Path) -> Any:
    """What was written, or None if there is nothing to read."""
    with suppress(FileNotFoundError, EOFError, pickle.UnpicklingError):
        return pickle.loads(path.read_bytes())
    return None


def _write(path: Path, value: Any) -> None:
    """Write at once, so that another process never reads a part."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    temporary.write_bytes(pickle.dumps(value))
    temporary.replace(path)


def kind_of_table(name: str, source: str) -> str:
    """The kind of table that a set is reported under."""
    if source in REAL:
        return line_of(name, source)
    return "with copies" if source in COPIED else "made-up"


def compare(rows: Iterable[Row], record: Iterable[Row], against: str) -> pd.DataFrame:
    """Means of what was tried and of another method over the tables of each kind."""
    losses = losses_of_sets(rows, record, against)
    lines = {}
    for kind, sets in losses.groupby("kind", sort=False):
        lines[f"{kind} ({len(sets)})"] = _compare_sets(sets)
    real = losses[~losses["kind"].isin(["with copies", "made-up"])]
    if len(real):
        means = real.groupby("kind").mean(numeric_only=True)
        lines["five kinds of real tables alike"] = _compare_sets(means)
    return pd.DataFrame(lines).T


def _compare_sets(sets: pd.DataFrame) -> dict[str, float | str]:
    difference = (sets["loss"] - sets["loss other"]).round(9)
    return {
        "loss": sets["loss"].mean(),
        "change": difference.mean(),
        "AUC, log loss": sets["loss2"].mean(),
        "its change": (sets["loss2"] - sets["loss2 other"]).mean(),
        "won-lost": f"{(difference < 0).sum()}-{(difference > 0).sum()}",
        "noise": sets["noise"].mean(),
        "noise other": sets["noise other"].mean(),
        "rank": sets["rank"].mean(),
        "rank other": sets["rank other"].mean(),
        "rank AUC": sets["rank2"].mean(),
        "rank AUC other": sets["rank2 other"].mean(),
        "methods": sets["methods"].mean(),
        "seconds": sets["seconds"].mean(),
    }


def losses_of_sets(rows: Iterable[Row], record: Iterable[Row], against: str) -> pd.DataFrame:
    """A line for each table: losses, noise and rank of what was tried and of another method."""
    tried = Scores.of(rows).cells
    folds = pd.MultiIndex.from_frame(tried[["set", "fold"]]).unique()
    recorded = Scores.of(row for row in record if (row["set"], row["fold"]) in folds).cells
    if not len(recorded):
        recorded = tried[:0]
    other = _means(recorded[recorded["way"] == against])
    table = _means(tried).join(other.add_suffix(" other"), how="left")
    names = table.index.to_series()
    table.insert(0, "kind", [kind_of_table(name, catalogue()[name].source) for name in names])
    with_tried = pd.concat([recorded, tried])
    for measure, name in (("loss", "rank"), ("loss2", "rank2")):
        table[name] = _ranks(with_tried, TRIED, measure).reindex(table.index)
        table[f"{name} other"] = _ranks(recorded, against, measure).reindex(table.index)
    table["methods"] = recorded.groupby("set")["way"].nunique().reindex(table.index)
    return table


def _means(cells: pd.DataFrame) -> pd.DataFrame:
    columns = ["loss", "loss2", "noise", "seconds"]
    return cells.astype({"noise": float}).groupby("set", sort=False)[columns].mean()


def _ranks(cells: pd.DataFrame, method: str, measure: str) -> pd.Series:
    """The rank of a method by a loss among all methods that finished the same table."""
    if method not in set(cells["way"]):
        return pd.Series(dtype=float)
    losses = cells.pivot_table(measure, "set", "way").round(9)
    ranks = {}
    for name, values in losses.iterrows():
        finished = values.dropna()
        if method in finished and len(finished) >= MIN_METHODS:
            place = list(finished.index).index(method)
            ranks[name] = rankdata(finished)[place]
    return pd.Series(ranks, dtype=float)


def select_by_options(
    options: dict[str, Any], X: pd.DataFrame, y: NDArray[Any], k: int, kind: Kind
) -> Sequence[int]:
    """What SelectBestK selects with these parameters."""
    from bestk import SelectBestK

    target = "classes" if kind == "classes" else "continuous"
    selector = SelectBestK(k, target=target, random_state=0, **options)
    return selector.fit(X, y).solution_.support.tolist()


def _find_function(path: str) -> Select:
    module, name = path.split(":")
    return getattr(import_module(module), name)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options of the command."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality.tune",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--function", type=_find_function, metavar="MODULE:NAME")
    what.add_argument("--options", type=json.loads, default={}, help="of SelectBestK, as JSON")
    parser.add_argument("--nested", action="store_true", help="one call for the largest k")
    parser.add_argument("--folds", type=int, default=1, choices=range(1, 6), metavar="1..5")
    parser.add_argument("--quick", action="store_true", help="two seeds of made-up tables")
    parser.add_argument("--sets", nargs="+", default=[], help="names, families or sources")
    parser.add_argument("--against", default=PREVIOUS, help="a method of the record")
    parser.add_argument("--record", type=Path, default=RESULTS / "quality.jsonl.gz")
    parser.add_argument("--out", type=Path, help="write a line for each table to this CSV file")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a trial, and print how it compares."""
    options = parse(arguments)
    warnings.simplefilter("ignore")
    select = options.function or partial(select_by_options, options.options)
    wanted = tuple(options.sets)
    trial = Trial(select, options.nested, "tune", options.folds, options.quick, wanted)
    rows = list(run_trial(trial))
    record = [row for row in read_packed(options.record) if row["half"] == trial.half]
    with pd.option_context("display.width", 250, "display.max_columns", 20):
        print(compare(rows, record, options.against).to_string(float_format="{:.4f}".format))
        _print_extremes(losses_of_sets(rows, record, options.against), options.against)
    if options.out:
        losses_of_sets(rows, record, options.against).to_csv(options.out)
    return 0


def _print_extremes(losses: pd.DataFrame, against: str) -> None:
    """The tables whose loss changed the most."""
    change = (losses["loss"] - losses["loss other"]).dropna().sort_values()
    print(f"\nloss less that of {against}, the tables that changed most:")
    shown = pd.concat([change[:SHOWN_SETS], change[-SHOWN_SETS:]])
    for name in dict.fromkeys(shown.index):
        line = losses.loc[name]
        noise = "" if np.isnan(line["noise"]) else f", noise {line['noise']:.2f}"
        print(f"{change[name]:+.4f}  {name} ({line['kind']}): loss {line['loss']:.4f}{noise}")


if __name__ == "__main__":
    sys.exit(main())
