"""Plot the running times on a GPU as bars, on a logarithmic scale."""

from pathlib import Path
from typing import Any

from benchmarks.pictures import pyplot, save
from benchmarks.scale.record import read_rows

COLOURS = {"bare": "#8a8a8a", "native": "#2f6f9f", "ours": "#c1272d"}
WORDS = {"bare": "matrix product only", "native": "bestk, two cores", "ours": "bestk, GPU"}
TITLES = {"products": "All pairs, on the GPU", "streamed": "Row sums and best pairs",
          "default": "From a table in the host's memory to the selection"}  # fmt: skip


def draw(path: Path) -> None:
    """Draw the latest rows of a file of results."""
    rows = read_rows(path)
    shown = [part for part in TITLES if any(row["part"] == part for row in rows)]
    if not shown:
        return
    latest = {(row["part"], row["what"]): row for row in rows}
    heights = [sum(part == one for one, _ in latest) for part in shown]
    figure, axes = pyplot().subplots(
        len(shown), 1, figsize=(11, 0.33 * sum(heights) + 1.6), squeeze=False,
        height_ratios=heights, layout="constrained",
    )  # fmt: skip
    for axis, part in zip(axes[:, 0], shown, strict=True):
        _draw_bars(axis, [row for row in latest.values() if row["part"] == part], part)
    figure.suptitle(
        f"{rows[-1]['machine']}\nbestk {rows[-1]['commit']}, {rows[-1]['date']}", fontsize=9
    )
    save(figure, path.with_suffix(".png"))


def _draw_bars(axis: Any, rows: list[dict[str, str]], part: str) -> None:
    labelled: set[str] = set()
    for place, row in enumerate(reversed(rows)):
        kind = next((k for k in ("bare", "native") if row["what"].startswith(k)), "ours")
        seconds = float(row["seconds"])
        label = None if kind in labelled else WORDS[kind]
        labelled.add(kind)
        axis.barh(place, seconds, color=COLOURS[kind], label=label)
        axis.text(seconds * 1.1, place, f"{seconds:.3g} s", va="center", fontsize=8)
    axis.set_xscale("log")
    axis.set_xlim(right=axis.get_xlim()[1] * 4)
    axis.set_yticks(range(len(rows)), [row["what"] for row in reversed(rows)], fontsize=8)
    size = f"{int(rows[0]['n']):,} columns, {int(rows[0]['m']):,} rows, 2 classes"
    title = TITLES[part] if part == "default" else f"{TITLES[part]}: {size}"
    axis.set_title(title, fontsize=10)
    axis.set_xlabel("seconds")
    axis.legend(fontsize=8)
