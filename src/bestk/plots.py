"""Plots of selected features, and of errors against their number.

Each function draws into the given axes or makes a new figure, returns the axes, and neither shows
nor saves anything. matplotlib comes with ``pip install 'bestk[plots]'``.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bestk._typing import Floats
from bestk.bqp.solution import SCORES, Solution
from bestk.errors import ParameterError, cut_middle
from bestk.evaluation import BASELINE, Curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.lines import Line2D

__all__ = ["plot_error_curves", "plot_features", "plot_pairs"]

# Okabe and Ito's palette, for any kind of colour vision, on white and on black.
BLUE = "#0072B2"
SKY = "#56B4E9"
COLOURS = (BLUE, "#D55E00", "#009E73", "#CC79A7", "#E69F00", SKY)

# The markers and the styles of lines, which change with the colours.
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
STYLES = ("-", "--", "-.", ":")

# Longer names of features are cut to so many characters.
MAX_LABEL = 28

# The pairs of at most so many features are written as numbers.
MAX_NUMBERED = 12

# The bands of at most so many lines do not hide each other.
MAX_BANDS = 4

# A $ in a name is a dollar, and does not begin a formula.
PLAIN: dict[str, Any] = {"parse_math": False}

# The height of a feature in inches, where it has room, and where features are more than MAX_TALL.
ROW_HEIGHT = 0.3
LOW_ROW_HEIGHT = 0.19
MAX_TALL = 25

# The width of a cell of the heat map in inches, with its number and without.
CELL_WIDTH = 0.46
NARROW_CELL_WIDTH = 0.19

# The width of a letter of a name in inches, about.
LETTER_WIDTH = 0.075

# Letters are at most this part of the distance between two names.
LETTER_HEIGHT = 0.85
POINTS_OF_AN_INCH = 72


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
    selection = read_solution(solution, *SCORES)
    k = selection.k
    row_height = ROW_HEIGHT if k <= MAX_TALL else LOW_ROW_HEIGHT
    rows_height = min(max(k * row_height, 0.6), 20.0)
    ax = new_axes(ax, 6.4, rows_height + 1.4)
    # The first feature is on top.
    ax.set_ylim(k - 0.4, -0.6)
    name_ticks(ax.yaxis, shorten(selection._labels(), selection.support.tolist()))
    add_grid(ax, "x")
    rows = np.arange(k)
    details = selection.details
    relevance = ax.barh(rows - 0.2, details["relevance"], 0.4, color=SKY, label="relevance")
    contribution = ax.barh(
        rows + 0.2, details["contribution"], 0.4, color=BLUE, label="contribution"
    )
    (new_information,) = ax.plot(
        details["new_information"],
        rows,
        "|",
        label="new information",
        color=ink(ax),
        markersize=min(300 / k, 22.0),
        markeredgewidth=2,
    )
    ax.set_xlabel("information about y, nats")
    ax.legend(
        handles=[relevance, contribution, new_information],
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=3,
        frameon=False,
        columnspacing=1.0,
        handlelength=1.2,
    )
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
    # It draws any matrix with names and numbers.
    from sklearn.metrics import ConfusionMatrixDisplay

    selection = read_solution(solution, "pairs")
    pairs = np.asarray(selection.details["pairs"], np.float64)
    labels = shorten(selection._labels(), selection.support.tolist())
    numbered = selection.k <= MAX_NUMBERED
    cell_width = CELL_WIDTH if numbered else NARROW_CELL_WIDTH
    map_width = min(max(selection.k * cell_width, 3.2), 15.0)
    names_width = LETTER_WIDTH * max(len(label) for label in labels)
    width = map_width + names_width
    ax = new_axes(ax, width + 1.5, width + 0.9)
    display = ConfusionMatrixDisplay(pairs).plot(
        ax=ax,
        include_values=numbered,
        values_format=f"z.{_digits_of(pairs)}f",
        im_kw={"vmin": _first_colour(pairs)},
        text_kw={"fontsize": "small"},
    )
    name_ticks(ax.yaxis, labels)
    if numbered:
        name_ticks(ax.xaxis, labels, rotation=45, ha="right", rotation_mode="anchor")
    else:
        name_ticks(ax.xaxis, labels, rotation=90)
    ax.set_title("$I(x_j; y \\mid x_i)$; on the diagonal $I(x_j; y)$")
    ax.set(xlabel="$x_j$, added", ylabel="$x_i$, known")
    ax.spines[:].set_visible(False)
    display.im_.colorbar.set_label(r"information about y: $I(x_j; y \mid x_i)$, nats")
    return ax


def _digits_of(values: Floats) -> int:
    """The number of decimals that show two digits of the largest value, at least two."""
    largest = float(np.abs(values).max())
    if largest == 0:
        return 2
    exponent = int(np.floor(np.log10(largest)))
    return max(2, 1 - exponent)


def _first_colour(values: Floats) -> float:
    """The value of the first colour: 0, or the smallest value if it is far above 0, or below."""
    smallest = float(values.min())
    largest = float(values.max())
    if largest / 3 < smallest < largest:
        return smallest
    return min(0, smallest)


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
        raise ParameterError(
            f"nothing to draw: give Curves that error_curves has measured, not {came}"
        )
    errors = np.array([row.error for row in curves.rows])
    in_percent = curves.scoring is None and not ((errors < 0) | (errors > 1)).any()
    write = "{:.1%}".format if in_percent else "{:.3g}".format
    many = len(curves.methods) > MAX_BANDS
    legend: dict[str, Any] = {"framealpha": 0.7, "edgecolor": "none"}
    if many and ax is None:
        # In a new figure of many lines, the legend is beside them.
        legend |= {"loc": "center left", "bbox_to_anchor": (1.01, 0.5)}
    ax = _curve_axes(ax, 8.0 if many else 6.4)
    drawn = [_draw_curve(ax, curves, name, write, with_band=not many) for name in curves.methods]
    lines = [line for _, line in sorted(drawn, key=lambda both: both[0])]
    with_all_features = [row for row in curves.rows if row.method == BASELINE]
    if with_all_features:
        sign = -1 if curves.rising else 1
        level = sign * float(np.mean([row.error for row in with_all_features]))
        label = f"all {with_all_features[0].k} features: {write(level)}"
        line = ax.axhline(level, color=ink(ax), linestyle="--", linewidth=1, label=label)
        lines.append(line)
    ax.set_ylabel(curves.measure.replace("_", " "))
    if in_percent:
        ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    for text in ax.legend(handles=lines, **legend).get_texts():
        text.set(**PLAIN)
    return ax


def _draw_curve(
    ax: "Axes", curves: Curves, name: str, write: Callable[[float], str], with_band: bool
) -> "tuple[float, Line2D]":
    """Draw the line of a method; its smallest error, and the line.

    ``write`` makes a text of an error or a score. ``with_band``: whether to shade one standard
    error above and below the line.
    """
    # Scores are minus the errors.
    sign = -1 if curves.rising else 1
    ks = sorted({row.k for row in curves.rows if row.method == name})
    folds = curves.errors(name)
    n_folds = folds.shape[1]
    means = folds.mean(axis=1)
    best = int(np.nan_to_num(means, nan=np.inf).argmin())
    (line,) = ax.plot(
        ks,
        sign * means,
        linewidth=1.6,
        markevery=[best],
        markersize=8,
        markeredgecolor=ax.get_facecolor(),
        label=f"{name}: {write(sign * means[best])} at k = {ks[best]}",
        zorder=3,
    )
    if with_band and n_folds > 1:
        standard_error = folds.std(axis=1, ddof=1) / n_folds**0.5
        low = sign * means - standard_error
        high = sign * means + standard_error
        ax.fill_between(ks, low, high, color=line.get_color(), alpha=0.15, linewidth=0)
    return means[best], line


def _curve_axes(ax: "Axes | None", width: float) -> "Axes":
    """Axes over k, whose lines all look different."""
    from cycler import cycler
    from matplotlib.ticker import MaxNLocator

    ax = new_axes(ax, width)
    looks = cycler(color=(*COLOURS, ink(ax))) + cycler(marker=MARKERS)
    ax.set_prop_cycle(cycler(linestyle=STYLES) * looks)
    whole_numbers = MaxNLocator(integer=True, min_n_ticks=1, steps=[1, 2, 5, 10])
    ax.xaxis.set_major_locator(whole_numbers)
    ax.set_xlabel("number of features k")
    add_grid(ax)
    return ax


def read_solution(solution: Any, *wanted: str) -> Solution:
    """The solution, or that of a fitted selector; its details must have the wanted names."""
    from bestk.selectors.joint_selector import PartialFit

    if isinstance(solution, PartialFit):
        solution.finalize()
    selection = getattr(solution, "solution_", solution)
    if not isinstance(selection, Solution):
        raise TypeError(
            f"expected a Solution or a fitted selector, not {type(solution).__name__}; "
            "get one from bestk.select(X, y, k)"
        )
    for name in wanted:
        if name not in selection.details:
            raise ParameterError(
                f"this solution has no details[{name!r}], because its solver was given a matrix "
                "and no features; get one from bestk.select(X, y, k) or SelectBestK"
            )
    return selection


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
    axes = axis.axes
    box = axes.get_window_extent()
    length = box.width if axis is axes.xaxis else box.height
    inches_for_each = length / axes.figure.dpi / len(labels)
    usual_size = axis.get_major_ticks()[0].label1.get_fontsize()
    size = max(1.0, min(usual_size, LETTER_HEIGHT * POINTS_OF_AN_INCH * inches_for_each))
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
