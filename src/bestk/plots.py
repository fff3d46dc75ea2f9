"""Plots of selected features, and of errors against their number.

Each function draws into the given axes or makes a new figure, returns the axes, and neither shows
nor saves anything. matplotlib comes with ``pip install 'bestk[plots]'``.
"""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bestk.bqp.solution import SCORES, Solution
from bestk.evaluation import BASELINE, Curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

__all__ = ["plot_error_curves", "plot_features", "plot_pairs"]

# Okabe and Ito's palette, for any kind of colour vision, on white and on black
COLOURS = BLUE, *_, SKY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"
MAX_LABEL = 28  # characters
MAX_NUMBERED = 12  # features whose pairs are written as numbers
MAX_BANDS = 4  # lines whose bands do not hide each other
MARKERS, STYLES = "os^DvPX", ("-", "--", "-.", ":")
PLAIN: dict[str, Any] = {"parse_math": False}  # a $ in a name is a dollar


def plot_features(solution: Any, *, ax: "Axes | None" = None) -> "Axes":
    """Plot the information of each selected feature about y, best first, in nats.

    The relevance is I(xj; y). The contribution is the feature's part of the objective, which is
    the sum of all. The new information is the smallest I(xj; y | xi) over the other selected xi.

    Parameters
    ----------
    solution : Solution or fitted selector
        From :func:`bestk.select` or :class:`bestk.SelectBestK`.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure with a row for each feature.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from sklearn.datasets import load_iris
    >>> from bestk import select
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> ax = plot_features(select(X, y, k=2, method="exact"), ax=Figure().subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['petal width (cm)', 'petal length (cm)']
    """
    found = read_solution(solution, *SCORES)
    relevance, contribution, new = (found.details[name] for name in SCORES)
    rows, height = np.arange(found.k), 0.3 if found.k <= 25 else 0.19  # inches of a row
    ax = new_axes(ax, 6.4, min(max(found.k * height, 0.6), 20.0) + 1.4)
    ax.set_ylim(found.k - 0.4, -0.6)  # the first on top
    name_ticks(ax.yaxis, shorten(found._labels(), found.support.tolist()))
    add_grid(ax, "x")
    mark = {"color": ink(ax), "markersize": min(300 / found.k, 22.0), "markeredgewidth": 2}
    artists = [
        ax.barh(rows - 0.2, relevance, 0.4, color=SKY, label="relevance"),
        ax.barh(rows + 0.2, contribution, 0.4, color=BLUE, label="contribution"),
        *ax.plot(new, rows, "|", label="new information", **mark),
    ]
    ax.set_xlabel("information about y, nats")
    above: Any = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": 3, "frameon": False}
    ax.legend(handles=artists, columnspacing=1.0, handlelength=1.2, **above)
    return ax


def plot_pairs(solution: Any, *, ax: "Axes | None" = None) -> "Axes":
    """Plot a heat map of the information that selected features add to each other.

    The diagonal is the relevance I(xj; y); off it, the cell in row i and column j is
    I(xj; y | xi). A dark cell below a bright diagonal is a feature that the row makes redundant;
    a cell brighter than the diagonal of its column is a synergy of the two.

    Parameters
    ----------
    solution, ax
        As for :func:`plot_features`; a new figure has room for the names.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from sklearn.datasets import load_iris
    >>> from bestk import select
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> ax = plot_pairs(select(X, y, k=2, method="exact"), ax=Figure().subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['petal width (cm)', 'petal length (cm)']
    """
    from sklearn.metrics import ConfusionMatrixDisplay  # draws any matrix with names and numbers

    found = read_solution(solution, "pairs")
    pairs = np.asarray(found.details["pairs"], np.float64)
    labels = shorten(found._labels(), found.support.tolist())
    numbered = found.k <= MAX_NUMBERED
    side = min(max(found.k * (0.46 if numbered else 0.19), 3.2), 15.0)  # inches of the heat map
    names = 0.075 * max(map(len, labels))  # inches
    ax = new_axes(ax, side + names + 1.5, side + names + 0.9)
    least, most = float(pairs.min()), float(pairs.max())
    largest = max(abs(least), abs(most))
    digits = 2 if largest == 0 else max(2, 1 - int(np.floor(np.log10(largest))))
    start = least if most / 3 < least < most else min(0, least)  # of the colours
    display = ConfusionMatrixDisplay(pairs).plot(
        ax=ax, include_values=numbered, values_format=f"z.{digits}f", im_kw={"vmin": start},
        text_kw={"fontsize": "small"},
    )  # fmt: skip
    turned = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    name_ticks(ax.yaxis, labels)
    name_ticks(ax.xaxis, labels, **(turned if numbered else {"rotation": 90}))
    ax.set_title("$I(x_j; y \\mid x_i)$; on the diagonal $I(x_j; y)$")
    ax.set(xlabel="$x_j$, added", ylabel="$x_i$, known")
    ax.spines[:].set_visible(False)
    display.im_.colorbar.set_label(r"information about y: $I(x_j; y \mid x_i)$, nats")
    return ax


def plot_error_curves(curves: Curves, *, ax: "Axes | None" = None) -> "Axes":
    """Plot the mean error over folds against k, a line for each method.

    The smallest error of each method is marked, at the smallest such k. The error with all
    features, if it was measured, is a dashed line. Errors between 0 and 1 are in percent. Curves
    with a ``scoring`` are drawn as scores. One standard error is shaded for up to four methods.

    Parameters
    ----------
    curves : Curves
        From :func:`bestk.evaluation.error_curves`. Where a fold has no error, the line has a gap.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from bestk.evaluation import Curves, Row
    >>> measured = ((1, 0, 0.3), (1, 1, 0.5), (2, 0, 0.1), (2, 1, 0.1))  # k, fold, error
    >>> rows = [Row("jmi", k, fold, error, 10, 0.0, []) for k, fold, error in measured]
    >>> ax = plot_error_curves(Curves(tuple(rows), ["a", "b"]), ax=Figure().subplots())
    >>> ax.lines[0].get_ydata(), ax.lines[0].get_label()
    (array([0.4, 0.1]), 'jmi: 10.0% at k = 2')
    """
    from matplotlib.ticker import PercentFormatter

    if not isinstance(curves, Curves) or not curves.methods:
        came = type(curves).__name__
        raise ValueError(f"nothing to draw: give Curves that error_curves has measured, not {came}")
    sign = -1 if curves.rising else 1  # scores are minus the errors
    errors = np.array([row.error for row in curves.rows])
    percent = curves.scoring is None and not ((errors < 0) | (errors > 1)).any()
    write = "{:.1%}".format if percent else "{:.3g}".format
    many, own = len(curves.methods) > MAX_BANDS, ax is None
    ax = _curve_axes(ax, 8.0 if many else 6.4)
    handles = []
    for name in curves.methods:
        ks = sorted({row.k for row in curves.rows if row.method == name})
        folds = curves.errors(name)
        means = folds.mean(axis=1)
        best = int(np.nan_to_num(means, nan=np.inf).argmin())
        label = f"{name}: {write(sign * means[best])} at k = {ks[best]}"
        (line,) = ax.plot(
            ks, sign * means, linewidth=1.6, markevery=[best], markersize=8,
            markeredgecolor=ax.get_facecolor(), label=label, zorder=3,
        )  # fmt: skip
        if not many and folds.shape[1] > 1:
            spread = folds.std(axis=1, ddof=1) / folds.shape[1] ** 0.5
            low, high, colour = sign * means - spread, sign * means + spread, line.get_color()
            ax.fill_between(ks, low, high, color=colour, alpha=0.15, linewidth=0)
        handles.append((means[best], line))
    lines = [line for _, line in sorted(handles, key=lambda both: both[0])]
    everything = [row for row in curves.rows if row.method == BASELINE]
    if everything:
        level = sign * float(np.mean([row.error for row in everything]))
        label = f"all {everything[0].k} features: {write(level)}"
        lines.append(ax.axhline(level, color=ink(ax), linestyle="--", linewidth=1, label=label))
    ax.set_ylabel(curves.measure.replace("_", " "))
    if percent:
        ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    beside: Any = {"loc": "center left", "bbox_to_anchor": (1.01, 0.5)} if own and many else {}
    for text in ax.legend(handles=lines, framealpha=0.7, edgecolor="none", **beside).get_texts():
        text.set(**PLAIN)
    return ax


def _curve_axes(ax: "Axes | None", width: float) -> "Axes":
    """Axes over k, whose lines all look different."""
    from cycler import cycler
    from matplotlib.ticker import MaxNLocator

    ax = new_axes(ax, width)
    looks = cycler(color=(*COLOURS, ink(ax))) + cycler(marker=list(MARKERS))
    ax.set_prop_cycle(cycler(linestyle=STYLES) * looks)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1, steps=[1, 2, 5, 10]))
    ax.set_xlabel("number of features k")
    add_grid(ax)
    return ax


def read_solution(solution: Any, *wanted: str) -> Solution:
    """The solution, or that of a fitted selector; its details must contain what is wanted."""
    from bestk.selectors.base import PartialFit

    if isinstance(solution, PartialFit):
        solution.finalize()
    found = getattr(solution, "solution_", solution)
    if not isinstance(found, Solution):
        raise TypeError(
            f"expected a Solution or a fitted selector, not {type(solution).__name__}; "
            "get one from bestk.select(X, y, k)"
        )
    for name in wanted:
        if name not in found.details:
            raise ValueError(
                f"this solution has no details[{name!r}], because its solver was given a matrix "
                "and no features; get one from bestk.select(X, y, k) or SelectBestK"
            )
    return found


def new_axes(ax: "Axes | None", width: float = 6.4, height: float = 4.8) -> "Axes":
    """The given axes, or those of a new figure of that size in inches."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plots need matplotlib; run: pip install 'bestk[plots]'") from error
    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def ink(ax: "Axes") -> Any:
    """The colour of the axis labels: black on white, white on black."""
    return ax.xaxis.label.get_color()


def add_grid(ax: "Axes", axis: Literal["both", "x", "y"] = "both") -> None:
    """Draw thin lines behind the data, and no frame on the sides without ticks."""
    ax.grid(True, axis=axis, color=ink(ax), alpha=0.15, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def name_ticks(axis: "Axis", labels: Sequence[str], **text: Any) -> None:
    """Label 0, 1, 2, ..., in smaller letters where there is little room for each."""
    box, axes = axis.axes.get_window_extent(), axis.axes
    length = (box.width if axis is axes.xaxis else box.height) / axes.figure.dpi
    size = axis.get_major_ticks()[0].label1.get_fontsize()
    size = max(1.0, min(size, 0.85 * 72 * length / len(labels)))  # points, 72 an inch
    axis.set_ticks(range(len(labels)), labels, fontsize=size, **PLAIN, **text)
    axis.set_tick_params(which="both", length=0)


def shorten(names: Sequence[str], items: Sequence[int]) -> list[str]:
    """Names cut in the middle to fit; equal results get the number of their item."""
    short = [cut_middle(" ".join(name.split()), MAX_LABEL) for name in names]
    counts = Counter(short)
    return [
        f"{cut_middle(name, MAX_LABEL - 6)} #{item}" if counts[name] > 1 else name
        for name, item in zip(short, items, strict=True)
    ]


def cut_middle(text: str, longest: int) -> str:
    """A text of at most so many characters, with an ellipsis in place of its middle."""
    if len(text) <= longest:
        return text
    tail = (longest - 1) // 2
    return f"{text[: longest - 1 - tail]}…{text[len(text) - tail :]}"
