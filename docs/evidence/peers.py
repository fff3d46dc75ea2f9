"""Tables of other packages, from the record of the checks."""

from evidence.markup import digits, table
from evidence.records import Line, number, pick

HYPHEN = "\u2011"  # at which no line is broken
BREAK = "\u200b"  # nothing to see, but a line may be broken here
TAKES = {  # probe -> head of its column
    "newest packages": "newest",
    "finds": "finds",
    "pandas": "pandas",
    "polars": "polars",
    "sparse": "sparse",
    "missing values": "NaN",
    "strings": "strings",
    "continuous target": "number",
}
DOES = {
    "sample weights": "weights",
    "forced in": "forced in",
    "several targets": "targets",
    "column groups": "groups",
    "stability": "stability",
    "pipeline": "pipeline",
    "column limit": "limit",
    "own scorer": "scorer",
    "export": "export",
    "check_estimator": "checks",
    "deterministic": "same picks",
    "pair matrix": "all pairs",
    "bound": "bound",
}
DULL = (  # evidence that says no more than the "no" before it
    "a function, not an estimator",
    "for classes only",
    "no parameter for it",
    "fit takes no sample_weight",
    "returns picks",
    "all pass",
)


def names(lines: list[Line], basis: str) -> list[str]:
    """Packages that were run, or described from their documentation; bestk first."""
    found = dict.fromkeys(line["peer"] for line in lines if line["basis"] == basis)
    return sorted(found, key=lambda name: name != "bestk")


def answer(lines: list[Line], peer: str, probe: str) -> Line:
    """The line of a check; an empty one if it was not run."""
    found = pick(lines, peer=peer, probe=probe)
    return found[0] if found else {"answer": "", "evidence": ""}


def who(lines: list[Line], basis: str) -> str:
    """Version, date, license and criteria of each package."""
    rows = []
    for name in names(lines, basis):
        first, told = pick(lines, peer=name)[0], answer(lines, name, "criteria")
        licence = answer(lines, name, "licence")["answer"]
        day = first["released"].replace("-", HYPHEN)
        rows.append([shown(name), first["version"], day, licence, told["evidence"]])
    return table(["", "version", "released", "licence", "selects by"], rows)


def what(lines: list[Line], basis: str, heads: dict[str, str]) -> str:
    """Yes and no: a row for each package, a column for each check."""
    peers = names(lines, basis)
    probes = [p for p in heads if any(answer(lines, name, p)["answer"] for name in peers)]
    rows = [[shown(n), *(_mark(answer(lines, n, p)["answer"]) for p in probes)] for n in peers]
    return table(["", *(heads[probe] for probe in probes)], rows)


def _mark(text: str) -> str:
    return f"**{text}**" if text in ("yes", "partly") else text


def shown(name: str) -> str:
    """A name that can be broken over lines; bestk is bold."""
    return f"**{name}**" if name == "bestk" else name.replace("_", f"_{BREAK}")


def seen(lines: list[Line], basis: str) -> str:
    """Details of the checks with a result other than yes."""
    heads = TAKES | DOES
    rows = [
        [shown(line["peer"]), heads[line["probe"]], line["answer"], _plain(line["evidence"])]
        for name in names(lines, basis)
        for line in pick(lines, peer=name)
        if line["probe"] in heads and line["answer"] != "yes" and not _is_dull(line["evidence"])
    ]
    return table(["", "", "answer", "what was seen"], rows)


def _is_dull(evidence: str) -> bool:
    return evidence.startswith(DULL) or not evidence


def _plain(text: str) -> str:
    """The text of an error message, with markup escaped."""
    escaped = "".join(f"\\{c}" if c in "*`|_\\" else c for c in text)
    return escaped.replace("\\_", f"\\_{BREAK}")


def timed(lines: list[Line]) -> list[Line]:
    """The lines with a time, fastest first."""
    found = [line for line in lines if line["probe"].startswith("time: ")]
    found = [line for line in found if line["answer"] != "no"]
    return sorted(found, key=lambda line: number(line, "answer"))


def times(lines: list[Line]) -> str:
    """Seconds of each criterion that was timed."""
    rows = [[shown(line["peer"]), line["probe"].removeprefix("time: "), *_both(line)]
            for line in timed(lines)]  # fmt: skip
    return table(["", "criterion", "of processors", "by the clock"], rows)


def _both(line: Line) -> list[str]:
    clock = line["evidence"].rpartition("; ")[2].removesuffix(" by the clock")
    return [f"{digits(number(line, 'answer'))} s", clock]


def timed_table(lines: list[Line]) -> str:
    """Description of the table that was timed."""
    found = timed(lines)
    return found[0]["evidence"].split("; ")[0] if found else ""
