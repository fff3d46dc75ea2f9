"""Save plots as PNG and SVG, reproducibly."""

from pathlib import Path
from typing import Any


def pyplot() -> Any:
    """matplotlib.pyplot, without a screen."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "bestk"
    import matplotlib.pyplot as plt

    return plt


def save(figure: Any, path: Path) -> None:
    """Write ``path`` as PNG and as SVG, and forget the figure."""
    for suffix in (".png", ".svg"):
        metadata = {"Date": None} if suffix == ".svg" else None
        figure.savefig(path.with_suffix(suffix), dpi=120, metadata=metadata)
    pyplot().close(figure)
