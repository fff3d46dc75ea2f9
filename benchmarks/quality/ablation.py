"""What each constant of the default is worth: ``python -m benchmarks.quality.ablation``.

Every number among the fields of a method is halved and doubled, one at a time, and the tables are
selected and scored again:

    python -m benchmarks.quality.ablation --method bestk.methods.forward:BlockForward

Constants may also be the fields of a field, such as those of ``BlockForward.constants``.

``ablation.csv`` gets a line for each constant, factor and half of the benchmark: how the mean loss
of real tables, of tables with permuted copies and of made-up ones changes, how the share of noise
among ten selected columns changes, and in how many folds another set of columns is selected.
Whole numbers are rounded, and stay at least 1.
"""

import argparse
import csv
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.machine import describe_machine
from benchmarks.quality.problem import Half
from benchmarks.quality.reads import note_read
from benchmarks.quality.scores import Row, Scores
from benchmarks.quality.sets import COPIED, NEW_COPIED, NEW_MADE_UP, NEW_REAL, REAL
from benchmarks.quality.tune import Select, Trial, run_trial, select_by_options

OUT = Path(__file__).with_name("ablation.csv")
FACTORS = {"halved": 0.5, "doubled": 2.0}
NOISE_K = 10
NEW_SOURCES = (*NEW_REAL, *NEW_COPIED, *NEW_MADE_UP)


@dataclass(frozen=True)
class Variant:
    """A method with one constant changed."""

    constant: str
    value: float
    factor: str
    tried: float
    method: Any


def variants(method: Any, constants: Sequence[str] = ()) -> Iterator[Variant]:
    """The method with each of its numbers halved, and doubled; or only some of them.

    Numbers of a field that is a dataclass itself are varied as well.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Toy:
    ...     ridge: float = 0.5
    ...     levels: int = 1
    ...     name: str = "toy"
    >>> [(variant.constant, variant.tried) for variant in variants(Toy())]
    [('ridge', 0.25), ('ridge', 1.0), ('levels', 2)]
    """
    for field in fields(method):
        value = getattr(method, field.name)
        if is_dataclass(value):
            for variant in variants(value, constants):
                changed = replace(method, **{field.name: variant.method})
                yield replace(variant, method=changed)
            continue
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or (constants and field.name not in constants):
            continue
        for factor, multiplier in FACTORS.items():
            tried = value * multiplier
            if isinstance(value, int):
                tried = max(1, round(tried))
            if tried != value:
                changed = replace(method, **{field.name: tried})
                yield Variant(field.name, value, factor, tried, changed)


def measure(
    method: Any,
    make_select: Callable[[Any], Select],
    trial: Trial,
    constants: Sequence[str] = (),
) -> Iterator[dict[str, Any]]:
    """A line for each variant of a method: what it changes on the tables of a trial."""
    plain = list(run_trial(replace(trial, select=make_select(method))))
    for variant in variants(method, constants):
        changed = list(run_trial(replace(trial, select=make_select(variant.method))))
        yield {
            "constant": variant.constant,
            "value": variant.value,
            "change": variant.factor,
            "half": trial.half,
        } | compare(plain, changed)


def compare(plain: Sequence[Row], changed: Sequence[Row]) -> dict[str, float]:
    """Differences of the means over tables, the changed method less the plain one."""
    before = _means_by_source(plain)
    after = _means_by_source(changed)
    difference = (after - before).round(6)
    values = {
        "loss, real tables": difference["loss"].get("real", np.nan),
        "loss, with copies": difference["loss"].get("copies", np.nan),
        "loss, made-up": difference["loss"].get("made-up", np.nan),
        "second loss, real tables": difference["loss2"].get("real", np.nan),
        "noise, with copies": difference["noise"].get("copies", np.nan),
        "noise, made-up": difference["noise"].get("made-up", np.nan),
        "selections that differ": round(share_of_other_selections(plain, changed), 4),
    }
    return {name: float(value) for name, value in values.items()}


def _means_by_source(rows: Sequence[Row]) -> pd.DataFrame:
    """Means over tables of the losses, and of the noise among ten columns."""
    cells = Scores.of(rows).cells.astype({"noise": float})
    kind = cells["source"].map(_kind_of_source)
    losses = cells.groupby([kind, "set"])[["loss", "loss2"]].mean().groupby(level=0).mean()
    ten = cells[cells["k"] == NOISE_K]
    noise = ten.groupby([kind, "set"])["noise"].mean().groupby(level=0).mean()
    return losses.join(noise)


def _kind_of_source(source: str) -> str:
    if source in REAL:
        return "real"
    return "copies" if source in COPIED else "made-up"


def share_of_other_selections(plain: Sequence[Row], changed: Sequence[Row]) -> float:
    """The share of the tables, folds and k for which another set of columns is selected."""
    differ = []
    for before, after in zip(plain, changed, strict=True):
        for k, scores in before["ks"].items():
            differ.append(set(scores["selected"]) != set(after["ks"][k]["selected"]))
    return float(np.mean(differ))


def select_by_method(method: Any) -> Select:
    """How SelectBestK selects with a method."""
    return partial(select_by_options, {"method": method})


def _find_class(path: str) -> Any:
    module, name = path.split(":")
    return getattr(import_module(module), name)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options of the command."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality.ablation",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--method", type=_find_class, required=True, metavar="MODULE:CLASS")
    parser.add_argument("--constants", nargs="+", default=[], help="only these fields")
    parser.add_argument("--halves", nargs="+", default=["tune"], choices=["tune", "judge"])
    parser.add_argument("--folds", type=int, default=1, choices=range(1, 6), metavar="1..5")
    parser.add_argument("--quick", action="store_true", help="two seeds of made-up tables")
    parser.add_argument("--nested", action="store_true", help="one selection for all k")
    parser.add_argument("--sets", nargs="+", default=[], help="names, families or sources")
    parser.add_argument("--out", type=Path, default=OUT)
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and write all lines, in place of those of the same constants and halves."""
    options = parse(arguments)
    warnings.simplefilter("ignore")
    method = options.method()
    machine = describe_machine()
    lines: list[dict[str, Any]] = []
    for half in options.halves:
        trial = Trial(
            select=select_by_method(method),
            nested=options.nested,
            half=half,
            folds=options.folds,
            quick=options.quick,
            wanted=_tables_of(half, options.sets),
        )
        if half == "judge":
            note_read("ablation of the default")
        for line in measure(method, select_by_method, trial, options.constants):
            lines.append(line | {"date": machine.date, "commit": machine.commit})
            print(line, flush=True)
            write_lines(options.out, lines)
    return 0


def _tables_of(half: Half, wanted: Sequence[str]) -> tuple[str, ...]:
    """What was asked for; of the half for judging, the new tables unless others were."""
    return tuple(wanted) if wanted or half == "tune" else NEW_SOURCES


def write_lines(path: Path, lines: Sequence[dict[str, Any]]) -> None:
    """Write lines in place of those of the same constant, change and half."""
    by_key: dict[tuple[str, ...], dict[str, Any]] = {}
    if path.exists():
        with path.open(newline="") as file:
            by_key = {_key(line): line for line in csv.DictReader(file)}
    by_key |= {_key(line): line for line in lines}
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(lines[-1]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(by_key.values())


def _key(line: dict[str, Any]) -> tuple[str, ...]:
    return line["constant"], line["change"], line["half"]


if __name__ == "__main__":
    sys.exit(main())
