"""Large tables: a million columns, rows that do not fit, workers, and a GPU."""

from evidence.markup import SPACE, digits, paragraphs, picture, seconds, table, title
from evidence.records import Line, number, provenance, read

MILLION = "python -m benchmarks.scale.million"
ROWS = "python -m benchmarks.scale.rows"
GROWTH = "python -m benchmarks.scale.growth"
CLUSTER = "python -m benchmarks.scale.cluster"
GPU = "python -m benchmarks.scale.gpu"


def million() -> str:
    """The section on very wide tables."""
    lines = read("scale", MILLION)
    head = ["method", "table", "columns", "levels", "fit", "processors", "load", "peak", "found"]
    return paragraphs(
        [
            title("A million columns"),
            "Time of the fit, of all processors, how many programs wanted them, the most memory,"
            " and the share of the planted columns among the picks.",
            table(head, map(_wide, lines)),
            provenance(lines, MILLION, "scale"),
        ]
    )


def _wide(line: Line) -> list[str]:
    return [
        f"``{line['method']}``",
        line["form"],
        f"{int(line['n']):,}",
        line["levels"]
        if line["discretizer"] == "none"
        else f"{line['levels']}, by {line['discretizer']}",
        seconds(number(line, "fit_seconds")),
        seconds(number(line, "cpu_seconds")),
        digits(number(line, "load"), 2),
        f"{digits(number(line, 'peak_gib'))}{SPACE}GiB",
        digits(number(line, "found")),
    ]


def rows() -> str:
    """The section on rows in blocks."""
    return _plain("rows", ROWS, "More rows than fit in memory")


def cluster() -> str:
    """The section on workers."""
    return _plain("cluster", CLUSTER, "Workers")


def _plain(name: str, command: str, heading: str) -> str:
    lines = read(name, command)
    head = ["", "columns", "rows", "time", "peak", "seen"]
    body = [
        [
            line["what"],
            f"{int(line['n']):,}",
            f"{int(line['m']):,}",
            seconds(number(line, "seconds")),
            f"{digits(number(line, 'peak_gib'))}{SPACE}GiB",
            line["detail"],
        ]
        for line in lines
    ]
    return paragraphs([title(heading), table(head, body), provenance(lines, command, name)])


def growth() -> str:
    """The section on time against size; the picture says it all."""
    lines = read("growth", GROWTH)
    return paragraphs(
        [
            title("Time against size"),
            picture("growth", "seconds of each path against columns and rows"),
            provenance(lines, GROWTH, "growth"),
        ]
    )


def gpu() -> str:
    """The section on a GPU beside two cores."""
    lines = read("gpu", GPU)
    head = ["", "columns", "rows", "levels", "classes", "time", "seen"]
    body = [
        [
            line["what"].replace("numba", "native"),  # its earlier name
            f"{int(line['n']):,}",
            f"{int(line['m']):,}",
            line["levels"],
            line["classes"],
            seconds(number(line, "seconds")),
            line["detail"],
        ]
        for line in lines
    ]
    return paragraphs(
        [
            title("A GPU"),
            table(head, body),
            picture("gpu", "times of products, of the matrix of pairs and of two cores"),
            provenance(lines, GPU, "gpu"),
        ]
    )
