"""Recovery against the number of columns, beside the published figures."""

import csv
from collections import defaultdict
from pathlib import Path

import numpy as np

from benchmarks.interactions.problems import RELEVANT
from benchmarks.pictures import pyplot, save

PUBLISHED_ROWS = "1000"
SHOWN = {
    "rf": ("random forest", "tab:green", "-"), "lassonet": ("LassoNet", "tab:orange", "-"),
    "relief": ("Relief", "tab:olive", "-"), "mrmr": ("mRMR", "tab:purple", "-"),
    "best": ("best of 41 published", "0.25", "--"),
}  # fmt: skip
Curve = dict[int, float]


def read_record(path: Path) -> dict[tuple[str, str], Curve]:
    """The mean best_k of every problem and method, by the number of columns."""
    found: dict[tuple[str, str], dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    with path.open() as file:
        for row in csv.DictReader(file):
            if row["task"] == "recovery":
                key = row["problem"], row["method"]
                found[key][int(row["columns"])].append(float(row["best_k"]))
    return {key: {n: float(np.mean(v)) for n, v in sorted(by.items())} for key, by in found.items()}


def read_published(path: Path) -> dict[tuple[str, str], Curve]:
    """The published best_k, and the best of all methods under the name ``best``."""
    found: dict[tuple[str, str], Curve] = defaultdict(dict)
    with path.open() as file:
        for row in csv.DictReader(file):
            if row["metric"] == "best_k" and row["rows"] == PUBLISHED_ROWS:
                n, value = int(row["columns"]), float(row["value"])
                found[row["problem"], row["method"]][n] = value
                best = found[row["problem"], "best"]
                best[n] = max(best.get(n, 0.0), value)
    return {key: dict(sorted(curve.items())) for key, curve in found.items()}


def draw_recovery(record: Path, published: str | None) -> None:
    """One panel for each problem; published figures if their folder is given."""
    ours, plt = read_record(record), pyplot()
    theirs = read_published(Path(published) / "published.csv") if published else {}
    figure, axes = plt.subplots(2, 2, figsize=(9.5, 6.4), sharex=True, sharey=True)
    for axis, problem in zip(axes.flat, RELEVANT, strict=True):
        for method, (label, color, style) in SHOWN.items():
            if curve := theirs.get((problem, method)):
                axis.plot(*zip(*curve.items(), strict=True), style, color=color, linewidth=1.2,
                          marker=".", markersize=3, label=label)  # fmt: skip
        for method, color in {"SelectRelevant": "C3", "SelectBestK": "C0"}.items():
            if curve := ours.get((problem, method)):
                axis.plot(*zip(*curve.items(), strict=True), "o-", color=color, linewidth=2,
                          markersize=5, label=f"bestk.{method}")  # fmt: skip
        axis.set(title=problem, xscale="log", ylim=(-0.04, 1.06))
        axis.grid(alpha=0.3)
    for axis in axes[1]:
        axis.set_xlabel("columns")
    for axis in axes[:, 0]:
        axis.set_ylabel("relevant columns among the first k")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=4, frameon=False)
    figure.tight_layout(rect=(0, 0.09, 1, 1))
    save(figure, record.with_name("interactions"))
