"""Large tables: a million columns, more rows than memory, clusters and GPUs."""

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
    head = ["method", "table", "columns", "levels", "fit", "CPU", "load", "peak", "found"]
    return paragraphs(
        [
            title("A million columns"),
            "Elapsed time of the fit, CPU time, load of the machine, peak memory, and the fraction"
            " of the informative columns that was selected.",
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
    return _plain("rows", ROWS, "More rows than memory")


def cluster() -> str:
    """The section on workers."""
    return _plain("cluster", CLUSTER, "Clusters")


def _plain(name: str, command: str, heading: str) -> str:
    lines = read(name, command)
    head = ["", "columns", "rows", "time", "peak", "details"]
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
    """The section on running time by size: a plot."""
    lines = read("growth", GROWTH)
    return paragraphs(
        [
            title("Running time by size"),
            picture("growth", "running time by columns and by rows"),
            provenance(lines, GROWTH, "growth"),
        ]
    )


def gpu() -> str:
    """The section on a GPU beside two cores."""
    lines = read("gpu", GPU)
    head = ["", "columns", "rows", "levels", "classes", "time", "details"]
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
            title("GPUs"),
            table(head, body),
            picture("gpu", "running times on the GPU and on two cores"),
            provenance(lines, GPU, "gpu"),
        ]
    )
