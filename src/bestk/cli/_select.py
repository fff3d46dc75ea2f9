"""``bestk select`` and ``bestk relevant``: the features of a table, and the reduced table."""

from contextlib import ExitStack
from importlib.util import find_spec
from math import ceil, isfinite
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from bestk._memory import machine_memory, memory_to_use
from bestk.cli._options import AUTO, TableOptions, shown
from bestk.cli._table import CheckedFile, check, new_file, read
from bestk.cli._terminal import Messages, bold, console, heading, new_table
from bestk.data.files import Loaded, copy_columns, suffix_of
from bestk.data.table import Table
from bestk.errors import printable
from bestk.problem.solution import TOLD, Solution
from bestk.selection.choose_k import refuse_auto
from bestk.selection.methods import Quadratic, get_method
from bestk.selection.objectives import KEPT, MEMORY
from bestk.selection.selector import SelectBestK, select

IMAGES = (".png", ".svg", ".pdf")


def select_from_file(
    request: TableOptions, messages: Messages, output: Path | None, plot: Path | None, stream: bool
) -> dict[str, Any]:
    """Check the options, then read, select and write."""
    suffix = suffix_of(output) if output else ""
    if plot:
        _check_image(plot)
    checked = check(request)
    with ExitStack() as files:
        table, image = (
            files.enter_context(new_file(path, request.file)) if path else None
            for path in (output, plot)
        )
        get_method(request.method)  # an unknown name is an error before the file is read
        if stream or is_long(request.file):
            refuse_auto(request.k)
            loaded, solution, seconds = _select_in_blocks(checked, request, messages)
        else:
            loaded, k, reading = read(checked, request, messages)
            start = perf_counter()
            solution = select_in_memory(loaded, k, request, messages)
            seconds = {"read": reading, "select": perf_counter() - start}
        result = as_dict(loaded, solution, request, seconds | {"solve": solution.seconds})
        if table:
            columns = [*(feature["name"] for feature in result["features"]), loaded.target]
            with messages.stage("writing the selected columns") as progress:
                copy_columns(loaded.source, columns, table, suffix, progress)
        if plot and image:
            with messages.stage("writing the plot"):
                _draw(solution, image, plot.suffix.lower())
    return result


def is_long(path: Path) -> bool:
    """Whether a file is too large to be read into memory."""
    return path.stat().st_size > memory_to_use()


def select_in_memory(
    loaded: Loaded, k: int | str, request: TableOptions, messages: Messages
) -> Solution:
    """Select from a table in memory."""
    number = "features" if k == AUTO or request.threshold is not None else f"{k} features"
    with messages.stage(f"selecting {number}"):
        options = request.options() | loaded.of_rows
        return select(loaded.table, loaded.y, k, request.method, **options)


def _select_in_blocks(
    checked: CheckedFile, request: TableOptions, messages: Messages
) -> tuple[Loaded, Solution, dict[str, float]]:
    """Select from a file in blocks of rows; return the columns, the solution and the seconds."""
    start = perf_counter()
    if request.weights is not None:
        raise ValueError("--weights is not supported for a file that is read in blocks of rows")
    options = request.options() | {"exclude": [*request.exclude, *request.aside.values()]}
    selector = SelectBestK(checked.k, request.method, **options)
    with messages.stage(f"reading {shown(request.file)} in blocks of rows"):
        selector.fit(request.file, request.target)
    solution, seconds = selector.solution_, perf_counter() - start
    if selector._in_blocks:
        sample = "numeric columns are binned by a sample of 100,000 rows"
        messages.note(f"read in blocks of rows; {sample}")
    table = Table(selector.n_samples_seen_, solution.names or (), ())
    loaded = Loaded(checked.source, table, np.empty(0), request.target, ())
    return loaded, solution, {"read": seconds - solution.seconds, "select": solution.seconds}


def about(loaded: Loaded) -> dict[str, Any]:
    """The table of a result in plain values."""
    return {
        "file": shown(loaded.source.path),
        "target": loaded.target,
        "rows": loaded.table.n_samples,
        "columns": loaded.table.n_features,
    }


def as_dict(
    loaded: Loaded, solution: Solution, request: TableOptions, seconds: dict[str, float]
) -> dict[str, Any]:
    """A selection in plain values."""
    features = [
        {"rank": rank, "name": str(loaded.table.names[place])}
        | {name: float(solution.details[name][rank - 1]) for name in TOLD}
        for rank, place in enumerate(solution.support.tolist(), 1)
    ]
    return (
        about(loaded)
        | {
            "k": solution.k,
            "method": request.method,
            "objective": float(solution.objective),
            "upper_bound": float(solution.upper_bound),
            "gap": float(solution.gap),
            "quality": solution.quality,
            "features": features,
            "warnings": list(solution.warnings),
            "seconds": seconds,
        }
        | {name: solution.details[name] for name in ("k_errors",) if name in solution.details}
    )


def print_selection(result: dict[str, Any]) -> None:
    """Print a table of the features, and lines on the whole selection."""
    names = ("relevance", "contribution", "new_information")
    heads = tuple(name.replace("_", " ") for name in names)
    table = new_table(("feature",), heads, first="rank")
    for feature in result["features"]:
        numbers = [f"{feature[name]:.4f}" for name in names]
        table.add_row(str(feature["rank"]), printable(feature["name"]), *numbers)
    out, seconds = console(), result["seconds"]
    out.print(heading(result, f"method: {result['method']}, {result['rows']} rows"), end="\n\n")
    out.print(table)
    out.print(f"objective  {result['objective']:.6g}")
    if isfinite(result["upper_bound"]):
        out.print(f"bound      {result['upper_bound']:.6g}")
    out.print("quality    ", bold(result["quality"]), sep="")
    if errors := result.get("k_errors"):
        curve = ", ".join(f"{k}: {error:.3f}" for k, error in errors.items())
        out.print(f"errors     cross-validation error by number of features: {curve}")
    out.print(
        f"time       {seconds['read']:.2f} s to read, {seconds['select']:.2f} s to select "
        f"({seconds['solve']:.2f} s of it to solve)"
    )


def _check_image(path: Path) -> None:
    if path.suffix.lower() not in IMAGES:
        raise ValueError(f"{path} is not an image file; use one of {', '.join(IMAGES)}")
    if find_spec("matplotlib") is None:
        raise ImportError("plots need matplotlib; run: pip install 'bestk[plots]'")


def _draw(solution: Solution, path: Path, suffix: str) -> None:
    """Draw the features and their pairs into a file."""
    from matplotlib.figure import Figure

    from bestk.plots import plot_features, plot_pairs

    side = min(15.0, max(5.0, 0.3 * solution.k))
    figure = Figure(figsize=(2 * side + 4, side + 2), layout="constrained")
    features, pairs = figure.subplots(1, 2)
    plot_features(solution, ax=features)
    plot_pairs(solution, ax=pairs)
    figure.savefig(path, format=suffix[1:], dpi=150, bbox_inches="tight")


def dry_run(request: TableOptions, messages: Messages, stream: bool) -> dict[str, Any]:
    """Estimate the memory of a selection; one column of the file is read."""
    checked = check(request)
    source, columns = checked.source, len(checked.names)
    with messages.stage(f"counting the rows of {shown(request.file)}"):
        rows = sum(batch.num_rows for batch in source.as_text([request.target]))
    blocks = 0
    if stream or is_long(request.file):
        first = next(source.batches(list(source.types)), None)
        blocks = ceil(rows / max(1, first.num_rows)) if first else 1
    pairs = 8 * columns**2  # of all pairs, or of the columns of pairs that are kept
    if not isinstance(get_method(request.method), Quadratic) or pairs > MEMORY:
        k = checked.k if isinstance(checked.k, int) else columns
        pairs = min(8 * columns * k, KEPT)
    return {
        "file": shown(request.file),
        "target": request.target,
        "method": request.method,
        "k": checked.k,
        "rows": rows,
        "columns": columns,
        "blocks": blocks,
        "memory": {
            "needed": 8 * rows // max(1, blocks) * columns + rows * columns + pairs,
            "available": machine_memory(),
        },
    }


def print_dry_run(result: dict[str, Any]) -> None:
    """Print an estimate in a few lines."""
    from rich.filesize import decimal

    out, memory, blocks = console(), result["memory"], result["blocks"]
    k = "a number of features chosen by cross-validation" if result["k"] == AUTO else result["k"]
    out.print(bold(f"Would select {k} of {result['columns']:,} features"), end="")
    out.print(f" for {printable(repr(result['target']))} (method: {result['method']})")
    out.print(f"read    {f'in {blocks:,} blocks of rows' if blocks else 'in memory'}")
    out.print(f"size    {result['rows']:,} rows x {result['columns']:,} columns")
    needed, available = decimal(memory["needed"]), decimal(int(memory["available"]))
    out.print(f"memory  about {needed} of {available}")


def find_relevant(
    request: TableOptions, messages: Messages, fdr: float, pairs: bool
) -> dict[str, Any]:
    """Read the file, and test its columns."""
    from bestk.selection.relevant import SelectRelevant

    loaded, _, reading = read(check(request), request, messages)
    selector = SelectRelevant(
        fdr, pairs=pairs, target=request.target_kind, random_state=request.seed or 0
    )
    start = perf_counter()
    with messages.stage("testing every column") as progress:
        selector.fit(loaded.table, loaded.y, progress=progress)
    names, partners = loaded.table.names, selector.partners_
    found = np.flatnonzero(selector.support_)
    order = found[np.argsort(selector.pvalues_[found], kind="stable")]
    return about(loaded) | {
        "fdr": fdr,
        "features": [
            {
                "name": str(names[i]),
                "pvalue": float(selector.pvalues_[i]),
                "qvalue": float(selector.qvalues_[i]),
                "information": float(selector.scores_[i]),
                "partner": str(names[partners[i]]) if selector.in_pair_[i] else None,
            }
            for i in order.tolist()
        ],
        "permutations": selector.n_permutations_,
        "seconds": {"read": reading, "select": perf_counter() - start},
    }


def print_relevant(result: dict[str, Any]) -> None:
    """Print the features that were found, best first."""
    table = new_table(("feature", "partner"), ("information", "p-value", "q-value"))
    for feature in result["features"]:
        names = printable(feature["name"]), printable(feature["partner"] or "")
        numbers = f"{feature['pvalue']:.2g}", f"{feature['qvalue']:.2g}"
        table.add_row(*names, f"{feature['information']:.4f}", *numbers)
    out, found = console(), len(result["features"])
    out.print(bold(
        f"{found} of {result['columns']} columns carry information about {result['target']!r} "
        f"(FDR {100 * result['fdr']:g}%, {result['rows']} rows)"
    ), end="\n\n")  # fmt: skip
    if found:
        out.print(table)
    correction = f"corrected by {result['permutations']} permutations of the target"
    exact = correction if result["permutations"] else "from chi-square and beta distributions"
    out.print(f"p-values  {exact}")
