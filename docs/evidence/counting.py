"""Counting all pairs: bestk, other packages, and the limits of the processor."""

from evidence.markup import digits, paragraphs, picture, seconds, table, title
from evidence.records import Line, number, pick, provenance, read

COMMAND = "python -m benchmarks.counting"
INTRODUCTION = """
``cmi_matrix`` computes ``I(xj; y | xi)`` for every i and j. Most packages compute one pair per call
and ran for a few seconds; ~ marks times extrapolated to all pairs. Several compute less:
``I(xi; xj)`` without the target, or ``I(xi; y)`` without pairs.
"""
BARE = """
Counting with bit operations needs AND and popcount for all pairs, and writes the result. Each was
timed alone, with the same blocking. AND and popcount of all pairs take {}.
"""
MANY = """
With few rows, look-ups take longer than counting; with many rows, counting dominates. For {n:,}
columns, the pairs take {} times as long as AND and popcount at {:,} rows and {} times at {:,}; the
whole call, which also reads, checks and packs the table, {} and {} times.
"""
LIMITS = {
    "limit: AND+popcount": "AND and popcount",
    "limit: output": "writing the matrix, to fresh memory",
}


def page() -> str:
    """The section."""
    lines = read("counting", COMMAND)
    cases = pick(lines, part="cases")
    return paragraphs(
        [
            title("All pairs of columns"),
            INTRODUCTION,
            _against(cases),
            picture("counting", "time of all pairs against features, samples and peers"),
            title("How near to the limit", "~"),
            _limits(cases),
            _many_rows(pick(lines, part="laws", case="m")),
            provenance(lines, COMMAND, "counting"),
        ]
    )


def names(cases: list[Line]) -> list[str]:
    """The tables, in the order of the record."""
    return list(dict.fromkeys(line["case"] for line in cases))


def time_of(cases: list[Line], case: str, contender: str) -> float:
    """Seconds of a contender on a table; NaN if it was not there."""
    found = pick(cases, case=case, contender=contender)
    return number(found[0], "seconds_min") if found else float("nan")


def _against(cases: list[Line]) -> str:
    tables = names(cases)
    shown = [line for line in pick(cases, case=tables[0]) if line["kind"] != "limit"]
    shown.sort(key=lambda line: (line["kind"] != "bestk", number(line, "seconds_min")))
    rows = [[_name(line), line["computes"], *_times(cases, line)] for line in shown]
    sizes = [
        ["columns", "", *_sizes(cases, "n_features")],
        ["rows", "", *_sizes(cases, "n_samples")],
    ]
    return table(["", "measures", *tables], [*sizes, *rows])


def _sizes(cases: list[Line], key: str) -> list[str]:
    return [f"{int(pick(cases, case=case)[0][key]):,}" for case in names(cases)]


def _name(line: Line) -> str:
    text = f"{line['contender']} {line['version'] if line['kind'] != 'bestk' else ''}".strip()
    return f"**{text}**" if line["kind"] == "bestk" else text


def _times(cases: list[Line], line: Line) -> list[str]:
    found = [pick(cases, case=case, contender=line["contender"]) for case in names(cases)]
    return [("~" if f[0]["scaled"] == "1" else "") + seconds(number(f[0], "seconds_min"))
            if f else "" for f in found]  # fmt: skip


def _limits(cases: list[Line]) -> str:
    tables = names(cases)
    head = ["times the bare pass of AND and popcount", *tables]
    parts = {
        "the whole call, table to matrix": "bestk",
        "counting, from codes on": "bestk, counting only",
        "the pairs alone": "bestk, pairs only",
        "the pairs, to memory in use": "bestk, pairs to memory in use",
    } | {text: name for name, text in LIMITS.items()}
    rows = [[text, *(digits(_ratio(cases, case, name), 2) for case in tables)]
            for text, name in parts.items()]  # fmt: skip
    sums = [sum(_ratio(cases, case, name) for name in LIMITS) for case in tables]
    rows.append(["both together", *(digits(value, 2) for value in sums)])
    bare = [f"{seconds(time_of(cases, case, next(iter(LIMITS))))} ({case})" for case in tables]
    return paragraphs([BARE.format(", ".join(bare)), table(head, rows)])


def _ratio(cases: list[Line], case: str, name: str) -> float:
    return time_of(cases, case, name) / time_of(cases, case, "limit: AND+popcount")


def _many_rows(laws: list[Line]) -> str:
    """How near the pairs come to the limit as rows grow."""
    sizes = sorted({int(line["n_samples"]) for line in laws})
    if not sizes:
        return ""
    columns = int(laws[0]["n_features"])
    pairs, whole = (
        [digits(_at(laws, m, name) / _at(laws, m, "limit: AND+popcount")) for m in sizes]
        for name in ("bestk, pairs only", "bestk")
    )
    numbers = (pairs[0], sizes[0], pairs[-1], sizes[-1], whole[0], whole[-1])
    return MANY.format(*numbers, n=columns)


def _at(laws: list[Line], m: int, name: str) -> float:
    return number(pick(laws, n_samples=str(m), contender=name)[0], "seconds_min")
