"""The table that a command reads, and ``bestk select``: its features, and the reduced table."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from math import isfinite
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from bestk._memory import machine_memory
from bestk.bqp.lazy import MEMORY
from bestk.bqp.solution import SCORES, Solution
from bestk.cli._options import AUTO, TableOptions
from bestk.cli._terminal import bold, console, heading, new_table
from bestk.diagnosis.identifiers import MOST_ROWS
from bestk.errors import DataError, UnknownNameError, counted, printable
from bestk.methods.quadratic import KEPT
from bestk.methods.registry import Quadratic, get_method
from bestk.selectors.selector import select
from bestk.tables.files import Loaded, copy_columns, load, replacing
from bestk.tables.rows import rows_to_hold
from bestk.tables.sources import Source, check_names, find_columns, open_source, suffix_of
from bestk.tables.table import as_matrix

Checked = tuple[Source, list[str], int | str]  # a file, the columns to select from, k
VALUES = ("objective", "upper_bound", "gap")  # of a solution
VALUE_BYTES = 8  # of the table in memory, at most
MEASURED_BYTES = 10  # about, for each value: its scores and its codes


def check(request: TableOptions) -> Checked:
    """Open the file, and check the columns, the method and -k before it is read."""
    source = open_source(request.file)
    columns_of_options = (
        ("--include", request.include),
        ("--exclude", request.exclude),
        ("--covariates", request.covariates),
    )
    for option, given in columns_of_options:
        for name in given:
            parts = [part.strip() for part in name.split(",")]
            if name not in source.types and source.types.keys() >= set(parts):
                each = " ".join(f"{option} {part}" for part in parts)
                raise ValueError(f"{option} takes one column, not {name!r}; repeat it: {each}")
    aside = set(request.aside.values())
    check_names(source, aside)
    names = [n for n in find_columns(source, request.target, request.exclude) if n not in aside]
    for name in (*request.include, *request.covariates):
        if name not in names:
            raise UnknownNameError("feature", name, names, request.file)
    get_method(request.method)
    n, k = len(set(names).difference(request.covariates)), request.k
    if not n:
        raise ValueError("every column is a covariate; leave at least one to select from")
    if k is None:
        k = n if request.threshold is not None else max(10, len(set(request.include)))
        return source, names, min(n, k)
    if isinstance(k, float):
        k = max(1, round(k * n))
    if isinstance(k, int) and k > n:
        there = counted(n, "column")
        raise ValueError(f"k={k} is more than the {there} to select from; choose a smaller k")
    return source, names, k


def read(checked: Checked, request: TableOptions) -> tuple[Loaded, int | str, float]:
    """Read the table without columns that identify rows; return it, k, and the seconds taken."""
    start, (source, _, k) = perf_counter(), checked
    with request.messages.stage(f"reading {request.file}"):
        loaded = load(source, request.target, request.exclude, request.seed)
    for note in loaded.notes:
        request.messages.note(note)
    loaded = _set_aside(loaded, request)
    if request.correction == "none":
        loaded = _without_identifiers(loaded, request)
    if request.k is None:
        k = min(int(k), count_features(loaded, request))
    return loaded, k, perf_counter() - start


def count_features(loaded: Loaded, request: TableOptions) -> int:
    """The number of columns to select from."""
    return len(set(loaded.table.names).difference(request.covariates))


def _set_aside(loaded: Loaded, request: TableOptions) -> Loaded:
    """Take the columns that describe the rows out of the table."""
    table, names = loaded.table, list(loaded.table.names)
    places = {argument: names.index(name) for argument, name in request.aside.items()}
    if request.weights and (kind := table.kinds[places["sample_weight"]]) != "numeric":
        raise DataError(f"column {request.weights!r} of weights is {kind}; weights are numbers")
    of_rows = {
        argument: as_matrix(table.keep(np.array([place])))[0][:, 0]
        for argument, place in places.items()
    }
    kept = np.setdiff1d(np.arange(table.n_features), list(places.values()))
    return replace(loaded, table=table.keep(kept), of_rows=of_rows)


def _without_identifiers(loaded: Loaded, request: TableOptions) -> Loaded:
    """Drop text that differs in most rows, of which uncorrected estimates are far too large."""
    table, dropped = loaded.table, []
    for block in table.blocks:
        for place, levels in zip(block.columns, block.categories or [], strict=False):
            name = table.names[int(place)]
            if name in (*request.include, *request.covariates):
                continue
            if len(levels) > MOST_ROWS * table.n_samples:
                dropped.append(int(place))
                request.messages.note(
                    f"left out {name!r}: text with a different value in most rows, such as an "
                    f"identifier; --include {name!r} keeps it"
                )
    kept = np.setdiff1d(np.arange(table.n_features), dropped)
    return replace(loaded, table=table.keep(kept)) if dropped else loaded


def new_file(path: Path, source: Path) -> AbstractContextManager[Path]:
    """A temporary file that replaces ``path`` at the end; ``path`` must not be the input."""
    if path.exists() and path.samefile(source):
        raise ValueError(f"{path} is the input file; write to another file")
    return replacing(path)


def select_from_file(request: TableOptions, output: Path | None) -> dict[str, Any]:
    """Check the options, then read, select and write."""
    suffix = suffix_of(output) if output else ""
    _refuse_scoring(request)
    checked = check(request)
    with new_file(output, request.file) if output else nullcontext() as file:
        loaded, k, reading = read(checked, request)
        start = perf_counter()
        solution = select_in_memory(loaded, k, request)
        seconds = {"read": reading, "select": perf_counter() - start}
        result = as_dict(loaded, solution, request, seconds | {"solve": solution.seconds})
        if file:
            columns = [*(feature["name"] for feature in result["features"]), request.target]
            with request.messages.stage("writing the selected columns"):
                copy_columns(loaded.source, columns, file, suffix)
    return result


def _refuse_scoring(request: TableOptions) -> None:
    """Raise an error for a scorer where nothing is cross-validated."""
    if request.scoring is not None and request.k != AUTO:
        raise ValueError(
            f"--scoring {request.scoring} has no effect without -k auto, which chooses k by "
            "cross-validation; pass -k auto, or leave --scoring out"
        )


def select_in_memory(loaded: Loaded, k: int | str, request: TableOptions) -> Solution:
    """Select from a table in memory."""
    number = "features" if k == AUTO or request.threshold is not None else f"{k} features"
    with request.messages.stage(f"selecting {number}"):
        options = request.selector_options(k) | loaded.of_rows
        if k != AUTO:  # without folds, the column of groups is only left out
            options.pop("groups", None)
        return select(loaded.table, loaded.y, k, request.method, **options)


def about(loaded: Loaded, request: TableOptions) -> dict[str, Any]:
    """The table of a result in plain values."""
    table = {
        "file": str(loaded.source.path),
        "target": loaded.target,
        "rows": loaded.table.n_samples,
        "columns": count_features(loaded, request),
    }
    if request.covariates:
        table["covariates"] = list(request.covariates)
    return table


def as_dict(
    loaded: Loaded, solution: Solution, request: TableOptions, seconds: dict[str, float]
) -> dict[str, Any]:
    """A selection in plain values."""
    features = [
        {"rank": rank, "name": str(loaded.table.names[place])}
        | {name: float(solution.details[name][rank - 1]) for name in SCORES}
        for rank, place in enumerate(solution.support.tolist(), 1)
    ]
    return (
        about(loaded, request)
        | {
            "k": solution.k,
            "method": request.method,
            **{each: float(getattr(solution, each)) for each in VALUES},
            "quality": solution.quality,
            "features": features,
            "warnings": list(solution.warnings),
            "seconds": seconds,
        }
        | {name: solution.details[name] for name in ("k_errors",) if name in solution.details}
    )


def print_selection(result: dict[str, Any]) -> None:
    """Print a table of the features, and lines on the whole selection."""
    heads = tuple(name.replace("_", " ") for name in SCORES)
    table = new_table(("feature",), heads, first="rank")
    for feature in result["features"]:
        numbers = [f"{feature[name]:.4f}" for name in SCORES]
        table.add_row(str(feature["rank"]), printable(feature["name"]), *numbers)
    out, seconds = console(), result["seconds"]
    out.print(heading(result, f"method: {result['method']}, {result['rows']} rows"))
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


def dry_run(request: TableOptions) -> dict[str, Any]:
    """Estimate the memory of a selection; one column of the file is read."""
    _refuse_scoring(request)
    source, names, k = check(request)
    columns = len(names)
    with request.messages.stage(f"counting the rows of {request.file}"):
        rows = sum(batch.num_rows for batch in source.as_text([request.target]))
    used = min(rows, rows_to_hold(columns, VALUE_BYTES))
    pairs = 8 * columns**2  # of all pairs, or of the columns of pairs that are kept
    if not isinstance(get_method(request.method), Quadratic) or pairs > MEMORY:
        pairs = min(8 * columns * (k if isinstance(k, int) else columns), KEPT)
    return {
        "file": str(request.file),
        "target": request.target,
        "method": request.method,
        "k": k,
        "rows": rows,
        "columns": columns,
        "rows_used": used,
        "memory": {
            "needed": (VALUE_BYTES + MEASURED_BYTES) * used * columns + pairs,
            "available": machine_memory(),
        },
    }


def print_dry_run(result: dict[str, Any]) -> None:
    """Print an estimate in a few lines."""
    from rich.filesize import decimal

    out, memory, rows = console(), result["memory"], result["rows"]
    k = "a number of features chosen by cross-validation" if result["k"] == AUTO else result["k"]
    out.print(bold(f"Would select {k} of {result['columns']:,} features"), end="")
    out.print(f" for {printable(repr(result['target']))} (method: {result['method']})")
    out.print(f"size    {rows:,} rows x {result['columns']:,} columns")
    if (used := result["rows_used"]) < rows:
        out.print(f"used    a random sample of {used:,} rows")
    needed, available = decimal(memory["needed"]), decimal(int(memory["available"]))
    out.print(f"memory  about {needed} of {available}")
