"""Plot the running time of every way to count, by columns and by rows, on logarithmic scales."""

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.pictures import pyplot, save
from benchmarks.scale.record import read_rows
from bestk.bqp.lazy import MEMORY
from bestk.bqp.solvers._tpower import MAX_SUMMED_ITEMS
from bestk.methods.registry import MAX_DENSE_FEATURES
from bestk.tables.rows import MAX_VALUES

ESTIMATE = "estimate: "  # rows of older records, which are not drawn
AXES = {"n": "columns, n", "m": "rows, m"}
COLOURS = ("#c1272d", "#2f6f9f", "#3f9c4f", "#b8860b", "#7a4fa3", "#555555", "#00a0a0")


def draw(path: Path) -> None:
    """Draw the latest rows of a file of results."""
    rows = [row for row in read_rows(path) if not row["what"].startswith(ESTIMATE)]
    latest = {(row["part"], row["what"], row["n"], row["m"]): row for row in rows}
    names = dict.fromkeys(name for _, name, _, _ in latest)
    colours = dict(zip(names, COLOURS * 2, strict=False))
    figure, axes = pyplot().subplots(1, 2, figsize=(14, 6), sharey=True, layout="constrained")
    for axis, (part, label) in zip(axes, AXES.items(), strict=True):
        own = [row for row in latest.values() if row["part"] == part]
        if own:
            _draw_lines(axis, own, part, colours)
            label += _mark(axis, part, int(own[0]["m" if part == "n" else "n"]))
        axis.set(xscale="log", yscale="log", xlabel=label)
        axis.grid(alpha=0.2)
    axes[0].set_ylabel("seconds to select 50 features")
    handles = {label: line for axis in axes for line, label in zip(*_legend(axis), strict=True)}
    title = "dotted: sizes at which bestk changes to another way"
    figure.legend(
        handles.values(),
        handles,
        loc="outside lower center",
        ncols=4,
        fontsize=8,
        title=title,
        title_fontsize=8,
    )
    last = rows[-1]
    figure.suptitle(f"{last['machine']}; bestk {last['commit']}, {last['date']}", fontsize=9)
    save(figure, path.with_suffix(".png"))


def _draw_lines(axis: Any, rows: list[dict[str, str]], part: str, colours: dict[str, str]) -> None:
    lines: dict[str, list[tuple[int, float]]] = {}
    for row in sorted(rows, key=lambda row: int(row[part])):
        lines.setdefault(row["what"], []).append((int(row[part]), float(row["seconds"])))
    for name, points in lines.items():
        look = {"lw": 2, "marker": "o", "ms": 4, "color": colours[name]}
        axis.plot(*zip(*points, strict=True), label=name, **look)
    matrix, columns = (lines.get(name, []) for name in ("matrix, native", "columns, native"))
    if place := meeting(matrix, columns):
        height = float(np.exp(np.interp(np.log(place), *np.log(np.array(columns)).T)))
        axis.plot(place, height, "k*", ms=12)
        words = f"columns are faster\nfrom {part} = {place:,.0f}"
        axis.annotate(words, (place, height), (14, -50), textcoords="offset points", fontsize=8,
                      arrowprops={"arrowstyle": "-", "color": "#999999"})  # fmt: skip
    fixed = "m" if part == "n" else "n"
    axis.set_title(f"{fixed} = {int(rows[0][fixed]):,}; binary columns, 2 classes", fontsize=10)


def _legend(axis: Any) -> Any:
    return axis.get_legend_handles_labels()


def meeting(first: list[tuple[int, float]], second: list[tuple[int, float]]) -> float | None:
    """The size from which the second line is below the first, along straight lines of logarithms.

    It is None where the lines do not cross at sizes that both have.
    """
    both = sorted(dict(first).keys() & dict(second).keys())
    ahead = [float(np.log(dict(second)[size] / dict(first)[size])) for size in both]
    for place in range(len(both) - 1, 0, -1):
        before, after = ahead[place - 1], ahead[place]
        if before >= 0 > after:
            left, right = np.log(both[place - 1]), np.log(both[place])
            return float(np.exp(left + (right - left) * before / (before - after)))
    return None


def _mark(axis: Any, part: str, fixed: int) -> str:
    """Draw lettered lines at sizes where bestk changes to another way; return what they mean."""
    words = ""
    for letter, (place, text) in zip("abc", crossings(part, fixed), strict=False):
        axis.axvline(place, color="#999999", lw=1, ls=":")
        axis.text(place, 0.02, letter, transform=axis.get_xaxis_transform(), ha="center",
                  fontsize=9, bbox={"color": "white", "pad": 1})  # fmt: skip
        words += f"\n{letter}: from {text}"
    return words


def crossings(part: str, fixed: int) -> list[tuple[float, str]]:
    """Sizes at which bestk changes to another way, and what it does from there on.

    Along m there are ``fixed`` columns.
    """
    if part == "n":
        return [
            (
                MAX_DENSE_FEATURES,
                f"{MAX_DENSE_FEATURES:,}: columns, if there is no bound (forward, swap)",
            ),
            (np.sqrt(MEMORY / 8), f"{np.sqrt(MEMORY / 8):,.0f}: columns, the matrix is over 4 GiB"),
            (MAX_SUMMED_ITEMS, f"{MAX_SUMMED_ITEMS:,}: tpower starts from forward"),
        ]
    rows = MAX_VALUES / fixed
    return [(rows, f"{rows:,.0f}: rows are sampled")]
