"""The pairs of features as a picture: an image of a pixel for each pair, with names about it."""

import base64
import struct
import zlib
from math import ceil

import numpy as np
from numpy.typing import NDArray

from bestk.report._html import Markup, element, join

MARGIN, TOP = 190, 26  # pixels: the names, the numbers on top
SIDE, SMALLEST, LARGEST = 560, 1.5, 28  # of the map, and of a cell
TEXT = 14  # from one line of text to the next
# from dark blue over green to bright yellow, of rising brightness
ANCHORS = (
    (38, 20, 84),
    (52, 62, 140),
    (38, 116, 142),
    (36, 162, 118),
    (130, 204, 64),
    (250, 232, 60),
)


def ramp() -> NDArray[np.uint8]:
    """256 colours, from the least to the most."""
    places = np.linspace(0, len(ANCHORS) - 1, 256)
    anchors = np.array(ANCHORS, float)
    channels = [np.interp(places, np.arange(len(ANCHORS)), channel) for channel in anchors.T]
    return np.stack(channels, axis=1).round().astype(np.uint8)


def shades(values: NDArray[np.float64]) -> NDArray[np.uint8]:
    """The place of each value in the ramp, from the least of them, or 0, to the largest.

    Examples
    --------
    >>> shades(np.array([[0.0, 0.5], [1.0, np.nan]])).tolist()
    [[0, 128], [255, 0]]
    """
    low, high = limits(values)
    scaled = (np.nan_to_num(values, nan=low) - low) / ((high - low) or 1.0)
    return np.asarray((255 * scaled).round(), np.uint8)


def limits(values: NDArray[np.float64]) -> tuple[float, float]:
    """The values of the first and of the last colour."""
    known = values[np.isfinite(values)]
    return min(0.0, float(known.min(initial=0.0))), max(0.0, float(known.max(initial=0.0)))


def png(pixels: NDArray[np.uint8]) -> bytes:
    """An image of the colours of the ramp, a byte a pixel, as a PNG file."""
    height, width = pixels.shape
    rows = np.hstack([np.zeros((height, 1), np.uint8), pixels])  # each begins with its filter: none
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    parts = [(b"IHDR", header), (b"PLTE", ramp().tobytes()),
             (b"IDAT", zlib.compress(rows.tobytes(), 9)), (b"IEND", b"")]  # fmt: skip
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in parts
    )


def data_uri(pixels: NDArray[np.uint8]) -> str:
    """The image as it stands in a page."""
    return f"data:image/png;base64,{base64.b64encode(png(pixels)).decode()}"


def draw_ramp() -> Markup:
    """All colours, from the least to the most."""
    uri = data_uri(np.arange(256, dtype=np.uint8)[None, :])
    return Markup(f'<img class="ramp" alt="from dark blue to bright yellow" src="{uri}">')


def draw_map(names: list[str], labels: list[str], pairs: NDArray[np.float64]) -> Markup:
    """The picture: rows are known, columns are added. The script draws it anew to fit the page."""
    n = len(names)
    cell = min(LARGEST, max(SMALLEST, SIDE / n))
    side, every = round(cell * n, 2), ceil(TEXT / cell)
    rows = (
        element("text", f"{i + 1}. {labels[i]}", x=MARGIN - 6,
                y=round(TOP + cell * (i + 0.5) + 4, 2), text_anchor="end")
        for i in range(0, n, every)
    )  # fmt: skip
    numbers = (
        element("text", i + 1, x=round(MARGIN + cell * (i + 0.5), 2), y=TOP - 8,
                text_anchor="middle")
        for i in range(0, n, 2 * every if every > 1 else 1)
    )  # fmt: skip
    image = element("image", href=data_uri(shades(pairs)), width=n, height=n,
                    preserveAspectRatio="none")  # fmt: skip
    boxes = [
        element("rect", class_=kind, width=1, height=1, visibility="hidden")
        for kind in ("cursor-edge", "cursor")
    ]
    view = element("svg", image, *boxes, class_="view", x=MARGIN, y=TOP, width=side, height=side,
                   viewBox=f"0 0 {n} {n}", preserveAspectRatio="none")  # fmt: skip
    title = element("title", "Pairs of selected features", id="map-title")
    told = element("desc", _describe(names, pairs), id="map-told")
    texts = element("g", join(rows), join(numbers), class_="labels", aria_hidden="true")
    return element(
        "svg", title, told, texts, view, element("g", class_="values", aria_hidden="true"),
        role="img", aria_labelledby="map-title map-told",
        width=round(MARGIN + side + 10), height=round(TOP + side + 10),
    )  # fmt: skip


def alike_together(shared: NDArray[np.float64]) -> list[int]:
    """An order of features in which those that share much stand side by side.

    Examples
    --------
    >>> alike_together(np.array([[3, 0, 2.0], [0, 3, 0], [2, 0, 3]]))
    [1, 0, 2]
    """
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    if len(shared) < 3:
        return list(range(len(shared)))
    both = np.nan_to_num((shared + shared.T) / 2)
    far = both.max() - both
    np.fill_diagonal(far, 0.0)
    order: list[int] = leaves_list(linkage(squareform(far, checks=False), "average")).tolist()
    return order


def _describe(names: list[str], pairs: NDArray[np.float64]) -> str:
    """The most and the least redundant pair, in words."""
    if len(names) < 2:
        return f"One feature, {names[0]}, which says {pairs[0, 0]:.4f} nats alone."
    off = np.where(np.eye(len(names), dtype=bool), np.nan, pairs)
    (i, j), (p, q) = (divmod(int(find(off)), len(names)) for find in (np.nanargmin, np.nanargmax))
    return (
        f"{len(names)} by {len(names)} cells. {names[j]} adds least, {off[i, j]:.4f} nats, once "
        f"{names[i]} is known; {names[q]} adds most, {off[p, q]:.4f} nats, once {names[p]} is."
    )
