"""Where other packages are faster or find better solutions, from the same records."""

from bestk.methods.registry import METHODS
from evidence.markup import paragraphs, seconds, title
from evidence.records import Line, number, pick, read
from evidence.selectors import BASE, COMMAND, QUALITY
from evidence.solvers import COMMAND as SOLVERS
from evidence.solvers import OURS


def page() -> str:
    """The section."""
    return paragraphs(
        [
            title("Where other packages are faster"),
            *(f"- {sentence}" for sentence in [*_filters(), *_real(), *_solvers()]),
        ]
    )


def _filters() -> list[str]:
    """Packages that are faster than bestk on the same table."""
    out = []
    for part in ("scikit-learn", "peers"):
        rows = pick(read("selectors", COMMAND), part=part)
        ours = [row for row in rows if row["kind"] == "bestk"]
        if not ours:
            continue
        best = min(ours, key=lambda row: number(row, "seconds_min"))
        faster = [row for row in rows if row["kind"] != "bestk" and _less(row, best)]
        told = ", ".join(f"{row['contender']} takes {_time(row)}" for row in faster)
        ours_best = f"bestk takes {_time(best)} ({best['contender']})"
        out.append(f"{rows[0]['case']}: {told or 'no package is faster'}; {ours_best}.")
    return out


def _less(row: Line, other: Line) -> bool:
    return number(row, "seconds_min") < number(other, "seconds_min")


def _time(row: Line) -> str:
    return seconds(number(row, "seconds_min"))


def _real() -> list[str]:
    """On how many data sets each other package is faster than the default."""
    lines = read("quality_times", QUALITY)
    base = {row["set"]: number(row, "seconds") for row in pick(lines, method=BASE)}
    out = []
    for name in dict.fromkeys(line["method"] for line in lines):
        rows = pick(lines, method=name)
        won = sum(number(row, "seconds") < base[row["set"]] for row in rows)
        if won and not _is_ours(name):
            out.append(f"{name} on {won} of {len(rows)}")
    return [f"Real data sets, faster than the default: {'; '.join(out)}."] if out else []


def _is_ours(name: str) -> bool:
    return name in METHODS or name.split()[0] in ("default", "blend", "gaussian", "mdlp")


def _solvers() -> list[str]:
    """Problems on which a general solver found or proved as much in the same time."""
    rows = pick(read("solvers", SOLVERS), part="peers")
    out = []
    for case in dict.fromkeys(row["case"] for row in rows):
        here = pick(rows, case=case)
        best = max(number(row, "objective") for row in here if row["solver"] in OURS)
        equal = [
            row["solver"] for row in here
            if row["solver"] not in OURS and number(row, "objective") >= best * (1 - 1e-9)
        ]  # fmt: skip
        if equal:
            out.append(f"{case} by {', '.join(dict.fromkeys(equal))}")
    if not out:
        return []
    limit = seconds(number(rows[0], "limit"))
    return [f"General solvers reach the best value of bestk within {limit}: {'; '.join(out)}."]
