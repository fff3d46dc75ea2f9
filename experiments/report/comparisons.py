"""Tables 3 and 4, and the same for our own search, beside what the paper prints."""

from typing import Any

from experiments import published
from experiments.classification.curves import compare
from experiments.classification.methods import NAMES
from experiments.datasets import DATASETS
from experiments.figures import LABELS
from experiments.report.contents import Contents
from experiments.tables import Grid
from experiments.verdicts import Agreement, agreement, beside, once, shown, totals

TITLES = {
    "paper": "features selected from all rows, as in the paper",
    "nested": "features selected inside each fold",
    "states": "the paper's protocol on the versions of three states",
}


def grid(contents: Contents, table: str, protocol: str) -> Grid:
    """Table 3 or 4: our cells, the printed ones in brackets."""
    cells = beside(table, contents.curves(protocol))
    others = list(dict.fromkeys(cell.other for cell in cells))
    rows = []
    for name in contents.curves(protocol):
        own = [cell for cell in cells if cell.name == name]
        row = [f"{shown(cell.found)} [{cell.theirs or 'N/A'}]" for cell in own]
        rows.append([name, *row])
    for decision in ("verdict", "leaning"):
        found = [[c.found for c in cells if c.other == other and c.is_real] for other in others]
        rows.append([f"W/T/L by {decision}", *(totals(own, decision) for own in found)])
    printed = published.comparison(table)
    rows.append(["W/T/L printed", *printed.totals])
    number, ours = table[-1], {"table3": "TPower", "table4": "LowRank"}[table]
    caption = f"Table {number}, {ours} against others: {TITLES[protocol]} [printed values]"
    return Grid(caption, ["data", *(LABELS[other] for other in others)], rows)


def search_grid(contents: Contents, protocol: str) -> Grid:
    """Our search against every method of the paper."""
    others = [name for name in NAMES if name != "search"]
    found = {
        name: [compare(own, "search", other) for other in others]
        for name, own in contents.curves(protocol).items()
    }
    rows = [[name, *map(shown, own)] for name, own in found.items()]
    real = [own for name, own in found.items() if DATASETS[name].stands_in_for is None]
    for decision in ("verdict", "leaning"):
        columns = [list(column) for column in zip(*real, strict=True)]
        rows.append([f"W/T/L by {decision}", *(totals(column, decision) for column in columns)])
    caption = f"search against others: {TITLES[protocol]}"
    return Grid(caption, ["data", *(LABELS[other] for other in others)], rows)


def agreement_grid(contents: Contents) -> Grid:
    """How often signs and decisions are the paper's, by protocol and size of the sets."""
    rows = []
    for protocol, title in TITLES.items():
        found = contents.real(protocol)
        many = {name: own for name, own in found.items() if DATASETS[name].m > 100}
        few = {name: own for name, own in found.items() if name not in many}
        parts = {"": found, ", m > 100": many, ", m <= 100": few}
        for words, own in parts.items():
            if own and (own is found or len(own) < len(found)):
                rows.append([title + words, str(len(own)), *_counts(agreement(own))])
    head = ["protocol", "sets", "clear printed differences", "same sign", "clearly opposed",
            "all cells", "same sign", "rank correlation", "same verdict",
            "same leaning"]  # fmt: skip
    return Grid("Agreement with Tables 3 and 4, real data sets only", head, rows)


def _counts(found: Agreement) -> list[str]:
    def share(count: int, of: int) -> str:
        return f"{count} ({100 * count / of:.0f}%)" if of else "0"

    return [
        str(found.cells), share(found.same, found.cells), share(found.opposed, found.cells),
        str(found.decided), share(found.same_of_all, found.decided), f"{found.correlation:+.2f}",
        share(found.same_verdict, found.decided), share(found.same_leaning, found.decided),
    ]  # fmt: skip


def distances(contents: Contents, protocol: str) -> tuple[list[float], list[float]]:
    """Points between our differences and the printed: sets of 1000 rows or more, and others."""
    found: tuple[list[float], list[float]] = [], []
    for cell in once(contents.real(protocol)):
        if cell.theirs is not None and cell.found is not None:
            apart = abs(100 * cell.found.mean_difference - cell.theirs.difference)
            found[DATASETS[cell.name].m < 1000].append(apart)
    return found


def by_set(contents: Contents, protocol: str) -> dict[str, tuple[int, int]]:
    """For each set: signs that agree, and clear printed differences."""
    found: dict[str, Any] = {}
    for name, own in contents.real(protocol).items():
        counted = agreement({name: own})
        found[name] = counted.same, counted.cells
    return found
