"""Running times of whole selections, compared with other packages."""

from evidence.markup import digits, paragraphs, picture, seconds, table, title
from evidence.records import Line, number, pick, provenance, read

COMMAND = "python -m benchmarks.selectors"
QUALITY = "python -m benchmarks.quality"
BASE = "default"


def page() -> str:
    """The section."""
    lines = read("selectors", COMMAND)
    return paragraphs(
        [
            title("A whole selection"),
            _part(lines, "peers", "JMI and mRMR, in all packages that have them."),
            _part(lines, "scikit-learn", "Compared with scikit-learn's univariate filters."),
            _start(lines),
            picture("selectors", "running time of a selection, by package and by size"),
            provenance(lines, COMMAND, "selectors"),
        ]
    )


def _part(lines: list[Line], part: str, says: str) -> str:
    """One table of the record, fastest first."""
    rows = sorted(pick(lines, part=part), key=lambda line: number(line, "seconds_min"))
    if not rows:
        return ""
    size = f"{int(rows[0]['n_features']):,} columns, {int(rows[0]['n_samples']):,} rows"
    head = ["", "version", "time", "note"]
    cells = [[_bold(row), row["version"], _time(row), _note(row)] for row in rows]
    return paragraphs(
        [f"{says} k = {rows[0]['k']} of {rows[0]['case']}: {size}.", table(head, cells)]
    )


def _bold(row: Line) -> str:
    return f"**{row['contender']}**" if row["kind"] == "bestk" else row["contender"]


def _time(row: Line) -> str:
    scaled = "~" if number(row, "share") < 1 else ""
    return scaled + seconds(number(row, "seconds_min"))


def _note(row: Line) -> str:
    share = number(row, "share")
    part = f"extrapolated from {digits(100 * share, 2)}% of the work" if share < 1 else ""
    return "; ".join(filter(None, [part, row["note"].replace("|", "\\|")]))


def _start(lines: list[Line]) -> str:
    times = {row["contender"]: number(row, "seconds_min") for row in pick(lines, part="start")}
    told = ", ".join(f"{name} {seconds(value)}" for name, value in times.items())
    return f"In a new process: {told}." if told else ""


def on_real_data() -> str:
    """The default and other methods on the data sets of the paper."""
    lines = read("quality_times", QUALITY)
    sets = list(dict.fromkeys(line["set"] for line in lines))
    shown = [name for name in dict.fromkeys(line["method"] for line in lines)
             if len(pick(lines, method=name)) == len(sets)]  # fmt: skip
    shown.sort(key=lambda name: (name != BASE, _total(lines, name)))
    head = ["", *(f"**{name}**" if name == BASE else name for name in shown)]
    return paragraphs(
        [
            title("Real data sets"),
            f"Time to select {lines[0]['k']} features, for the methods that were run on all"
            f" {len(sets)} data sets. :doc:`../quality` has the prediction errors.",
            table(head, [[name, *_row(lines, name, shown)] for name in sets]),
            picture("quality_times", "mean error over all sets against the time of a selection"),
            provenance(lines, QUALITY, "quality_times"),
        ]
    )


def _row(lines: list[Line], name: str, methods: list[str]) -> list[str]:
    return [seconds(number(pick(lines, method=m, set=name)[0], "seconds")) for m in methods]


def _total(lines: list[Line], name: str) -> float:
    return sum(number(line, "seconds") for line in pick(lines, method=name))
