"""A picture of a choice: its features one by one, and in pairs."""

from pathlib import Path
from typing import Any

IMAGES = (".png", ".svg", ".pdf")


def check_image(path: Path) -> str:
    """The suffix of an image; refuses one that cannot be drawn."""
    suffix = path.suffix.lower()
    if suffix not in IMAGES:
        raise ValueError(f"{path} is not the name of an image; it is one of {', '.join(IMAGES)}")
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError("plots need matplotlib; run: pip install 'bestk[plots]'") from error
    return suffix


def draw(solution: Any, path: Path, suffix: str) -> None:
    """Draw a solution into a file; no window is opened."""
    from matplotlib.figure import Figure

    from bestk.plots import plot_features, plot_pairs

    side = min(15.0, max(5.0, 0.3 * solution.k))
    figure = Figure(figsize=(2 * side + 4, side + 2), layout="constrained")
    features, pairs = figure.subplots(1, 2)
    plot_features(solution, ax=features)
    plot_pairs(solution, ax=pairs)
    figure.savefig(path, format=suffix[1:], dpi=150, bbox_inches="tight")
