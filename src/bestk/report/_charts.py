"""The error against the number of features, in SVG whose text keeps its size on any screen."""

from math import floor, isfinite, log2, log10, sqrt

from bestk.report._facts import Curve, Errors
from bestk.report._html import Markup, element, join
from bestk.report._text import rounded

HEIGHT = 260  # pixels
LINES = 4  # styles of a line
MOST_DOTS = 20  # of a line: more of them hide it
FLAT = 0.4  # of the height is the least that curves have when guessing is drawn with them
APART = 9  # percent of the width between numbers on the axis
DOTS = (  # a disc, a square, a triangle, a diamond
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "M-4-4h8v8h-8z",
    "M0-5L5 4H-5z",
    "M0-5.5L5.5 0L0 5.5L-5.5 0z",
)


def draw_errors(errors: Errors, k: int) -> Markup:
    """A line for each method, the error against the number of features, and the chosen number."""
    axes = Axes.of(errors)
    grid = [_level(axes.y(level), _tick(level, errors)) for level in axes.levels]
    ticks = [
        element("text", size, x=f"{axes.x(size)}%", y=HEIGHT + 18, text_anchor="middle")
        for size in axes.ticks(k)
    ]
    chosen = element("line", class_="chosen", x1=f"{axes.x(k)}%", x2=f"{axes.x(k)}%", y1=0,
                     y2=HEIGHT)  # fmt: skip
    guess = [_guess(axes.y(errors.guess))] if axes.shows(errors.guess) else []
    lines = [_band(errors.curves[0], axes, errors.folds)]
    lines += [_line(place, curve, axes) for place, curve in enumerate(errors.curves)]
    dots = [_dots(place, curve, axes, errors) for place, curve in enumerate(errors.curves)]
    label = element("text", "number of features, log scale", x="50%", y=HEIGHT + 38,
                    text_anchor="middle", class_="soft")  # fmt: skip
    title = element("title", f"Cross-validated {errors.measure} against the number of features")
    told = element("desc", _describe(errors, k))
    stretched = element("svg", *lines, width="100%", height=HEIGHT, viewBox=f"0 0 100 {HEIGHT}",
                        preserveAspectRatio="none")  # fmt: skip
    drawn = element("svg", title, told, *grid, *ticks, label, *guess, chosen, stretched, *dots,
                    role="img", class_="fluid", height=HEIGHT)  # fmt: skip
    return element("div", drawn, class_="plot")


class Axes:
    """Where numbers of features and errors are: percent of the width, pixels from the top."""

    def __init__(self, ks: list[int], low: float, high: float) -> None:
        self.ks = ks
        self.levels = levels(low, high)
        self.low, self.high = self.levels[0], max(high, self.levels[-1])

    @classmethod
    def of(cls, errors: Errors) -> "Axes":
        """Axes that hold all curves; from 0 where that does not flatten them."""
        ks = sorted({k for curve in errors.curves for k in curve.ks})
        values = [v for curve in errors.curves for v in curve.means if isfinite(v)] or [0.0]
        low, high = min(values), max(values)
        flat = high > 0 and high - low < FLAT * (errors.guess - low)
        if errors.guess > high and not flat:
            high = errors.guess
        if 0 <= low <= 0.6 * high:
            low = 0.0
        return cls(ks, low, high)

    def x(self, size: int) -> float:
        """Percent of the width."""
        span = log2(self.ks[-1] / self.ks[0])
        return round(100 * log2(size / self.ks[0]) / span, 2) if span else 50.0

    def y(self, error: float) -> float:
        """Pixels from the top."""
        return round(HEIGHT * (self.high - error) / (self.high - self.low), 2)

    def shows(self, error: float) -> bool:
        """Whether an error is within the drawing."""
        return self.low <= error <= self.high

    def ticks(self, k: int) -> list[int]:
        """The numbers that can stand beside each other, k among them."""
        kept = [k]
        for size in (self.ks[0], self.ks[-1], *self.ks):
            if all(abs(self.x(size) - self.x(other)) >= APART for other in kept):
                kept.append(size)
        return sorted(kept)


def levels(low: float, high: float) -> list[float]:
    """Round numbers about all that is between two.

    Examples
    --------
    >>> levels(0, 0.103), levels(2900, 3500)
    ([0.0, 0.05, 0.1], [2800.0, 3000.0, 3200.0, 3400.0])
    """
    span = (high - low) or abs(high) or 1.0
    size = 10.0 ** floor(log10(span / 2))
    step = next(m * size for m in (5, 2, 1) if m * size <= span / 2)
    first, last = (floor(value / step + 1e-9) for value in (low, high))
    return [round(i * step, 12) for i in range(first, max(first + 1, last) + 1)]


def _tick(level: float, errors: Errors) -> str:
    return f"{100 * level:.4g}%" if errors.share else f"{level:,.4g}"


def _level(at: float, text: str) -> Markup:
    line = element("line", class_="axis", x1=0, x2="100%", y1=at, y2=at)
    return join([line, element("text", text, x=-8, y=at + 4, text_anchor="end")])


def _guess(at: float) -> Markup:
    line = element("line", class_="guess", x1=0, x2="100%", y1=at, y2=at)
    return join([line, element("text", "guessing", x="100%", y=at - 5, text_anchor="end",
                               class_="soft")])  # fmt: skip


def _band(curve: Curve, axes: Axes, folds: int) -> Markup:
    """One standard error about the mean, both ways."""
    known = [(axes.x(k), mean, spread / sqrt(folds))
             for k, mean, spread in zip(curve.ks, curve.means, curve.deviations, strict=True)
             if isfinite(spread) and isfinite(mean)]  # fmt: skip
    up = [(x, axes.y(min(mean + error, axes.high))) for x, mean, error in known]
    down = [(x, axes.y(max(mean - error, axes.low))) for x, mean, error in reversed(known)]
    return element("polygon", class_="band", points=" ".join(f"{x},{y}" for x, y in up + down))


def _line(place: int, curve: Curve, axes: Axes) -> Markup:
    path = " ".join(f"{axes.x(k)},{axes.y(mean)}" for k, mean in
                    zip(curve.ks, curve.means, strict=True) if isfinite(mean))  # fmt: skip
    return element("polyline", class_=f"s{place % LINES}", points=path)


def _dots(place: int, curve: Curve, axes: Axes, errors: Errors) -> Markup:
    if len(curve.ks) > MOST_DOTS:
        return Markup("")
    known = zip(curve.ks, curve.means, strict=True)
    return join(_dot(place, curve.name, k, mean, axes, errors) for k, mean in known)


def _dot(place: int, name: str, k: int, mean: float, axes: Axes, errors: Errors) -> Markup:
    if not isfinite(mean):
        return Markup("")
    hint = element("title", f"{name}, {k} features: {rounded(mean, share=errors.share)}")
    shape = element("path", class_=f"f{place % LINES}", d=DOTS[place % LINES])
    return element("svg", hint, shape, x=f"{axes.x(k)}%", y=axes.y(mean), class_="dot")


def _describe(errors: Errors, k: int) -> str:
    each = ", ".join(f"{curve.name} {rounded(curve.at(k)[0], share=errors.share)}"
                     for curve in errors.curves)  # fmt: skip
    return f"With {k} features: {each}. The table has all numbers."
