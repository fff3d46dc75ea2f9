"""What all pictures share: axes to draw into, colours that all can tell apart, fonts that fit."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

# Okabe and Ito's colours: told apart with any kind of colour vision, seen on white and on black
BLUE, RED, GREEN, PINK, YELLOW, SKY = COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9",
)  # fmt: skip
POINTS = 72  # in an inch
SMALLEST = 4.5  # points of text; where there is room for less, some of it is left out


def new_axes(ax: "Axes | None", width: float = 6.4, height: float = 4.8) -> "Axes":
    """The axes given, or those of a new figure of that size in inches."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'bestk[plots]'") from error
    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def ink(ax: "Axes") -> Any:
    """The colour in which these axes are labelled: black on white, white on black."""
    return ax.xaxis.label.get_color()


def text_size() -> float:
    """The size in points that the style has for the names on an axis."""
    from matplotlib import rcParams
    from matplotlib.font_manager import FontProperties

    return float(FontProperties(size=rcParams["ytick.labelsize"]).get_size_in_points())


def pixels_per_point(ax: "Axes") -> float:
    """How many pixels of the figure make a point of text."""
    return float(ax.figure.dpi) / POINTS


def size_in_points(ax: "Axes") -> tuple[float, float]:
    """Width and height of the axes."""
    box, scale = ax.get_window_extent(), pixels_per_point(ax)
    return box.width / scale, box.height / scale


def soft_grid(ax: "Axes", axis: Literal["both", "x", "y"] = "both") -> None:
    """Thin lines behind the data, and no frame where no axis is."""
    ax.grid(True, axis=axis, color=ink(ax), alpha=0.15, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def write_ticks(axis: "Axis", write: Callable[[float], str]) -> None:
    """Write the numbers of an axis in some way; on a logarithmic one at 1, 2 and 5."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    if axis.get_scale() == "log":
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: write(value)))


def whole_numbers(axis: "Axis") -> None:
    """Ticks at whole numbers only."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1, steps=[1, 2, 5, 10]))
