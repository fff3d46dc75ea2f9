"""What all pictures share: axes to draw into, colours that all can tell apart, fonts that fit."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours, told apart with any kind of colour vision, on white and on black
BLUE, ORANGE, GREEN, PINK, YELLOW, SKY = COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9",
)  # fmt: skip
POINTS = 72  # in an inch
SMALLEST = 4.5  # points; smaller text is left out


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


def text_size(kind: str = "ytick.labelsize") -> float:
    """The size in points that the style has for some text."""
    from matplotlib import rcParams
    from matplotlib.font_manager import FontProperties

    return float(FontProperties(size=rcParams[kind]).get_size_in_points())


def size_in_points(ax: "Axes") -> tuple[float, float]:
    """Width and height of the axes."""
    box, dpi = ax.get_window_extent(), ax.get_figure(root=True).dpi  # type: ignore[union-attr]
    return box.width * POINTS / dpi, box.height * POINTS / dpi


def soft_grid(ax: "Axes", axis: str = "both") -> None:
    """Thin lines behind the data, and no frame where no axis is."""
    ax.grid(True, axis=axis, color=ink(ax), alpha=0.15, linewidth=0.6)  # type: ignore[arg-type]
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
