"""Plot a summary of the records: ``python -m benchmarks.headline``."""

import csv
from operator import itemgetter
from pathlib import Path
from typing import Any

from benchmarks.machine import RESULTS
from benchmarks.pictures import pyplot, save

OURS, THEIRS = "#0072b2", "#b0b0b0"
RANKED = {
    "default": "bestk",
    "LightGBM gain": "LightGBM, gain",
    "fastcan": "fastcan",
    "Boruta": "Boruta",
    "extra trees": "extra trees",
    "random forest": "random forest",
    "fast-select mRMR": "fast-select mRMR",
    "mrmr_selection": "mrmr_selection",
    "RFE": "RFE, linear",
    "f_classif": "SelectKBest, f_classif",
    "mutual_info": "SelectKBest, mutual_info",
}
TIMED = {
    "bestk": "bestk: $I(x_j; y\\,|\\,x_i)$, all pairs",
    "one-hot sgemm, thrifty": "numpy sgemm: the same",
    "mutual_info_classif": "scikit-learn: $I(x_i; y)$, no pairs",
    "fast-select, F order": "fast-select: $I(x_i; x_j)$, all pairs",
}
Bars = list[tuple[str, float]]


def ranks(folder: Path = RESULTS) -> tuple[str, Bars]:
    """The number of sets; mean ranks of the error of the default and of other packages."""
    rows = _read(folder / "quality_ranks.csv")
    column = next(name for name in rows[0] if name.startswith("all"))
    found = {row["method"]: float(row[column]) for row in rows}
    bars = sorted(((label, found[name]) for name, label in RANKED.items()), key=itemgetter(1))
    return column.removeprefix("all (").removesuffix(")"), bars


def times(folder: Path = RESULTS) -> Bars:
    """Seconds for the pairs, or the columns, of the largest table."""
    rows = [row for row in _read(folder / "counting.csv") if row["part"] == "cases"]
    found = {
        row["contender"]: float(row["seconds_min"])  # peers that take minutes: scaled from a part
        for row in rows
        if row["case"] == "gisette_like"
    }
    return [(label, found[name]) for name, label in TIMED.items()]


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def draw() -> Any:
    plt = pyplot()
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.4), layout="constrained")
    n_sets, ranked = ranks()
    _bars(left, ranked, "{:.1f}")
    left.set_title(f"Error on held-out rows of {n_sets} data sets", loc="left")
    left.set_xlabel("mean rank among 17 ways to select; 1 is best")
    _bars(right, times(), "{:.3g} s")
    right.set_xscale("log")
    right.set_title("4997 columns, 6000 rows, two cores", loc="left")
    right.set_xlim(0.02, 1500)
    right.set_xlabel("seconds, logarithmic")
    return figure


def _bars(axes: Any, bars: Bars, form: str) -> None:
    labels, values = zip(*bars, strict=True)
    colours = [OURS if label.startswith("bestk") else THEIRS for label in labels]
    drawn = axes.barh(labels, values, color=colours)
    axes.bar_label(drawn, [form.format(value + 1e-9) for value in values], padding=3)
    axes.invert_yaxis()
    axes.margins(x=0.14)
    axes.spines[["top", "right"]].set_visible(False)


if __name__ == "__main__":
    save(draw(), RESULTS / "headline")
