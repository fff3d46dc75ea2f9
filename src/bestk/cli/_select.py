"""The table that a command reads, and ``bestk select``: its features, and the reduced table."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
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
from bestk.errors import DataError, ParameterError, UnknownNameError, counted, printable
from bestk.methods.quadratic import KEPT
from bestk.methods.registry import Quadratic, get_method
from bestk.selectors.selector import select
from bestk.tables.files import Loaded, copy_columns, load, replacing
from bestk.tables.rows import rows_to_hold
from bestk.tables.sources import Source, check_names, find_columns, open_source, suffix_of
from bestk.tables.table import as_matrix

# The attributes of a solution that results have.
VALUES = ("objective", "upper_bound", "gap")

# Bytes of a value of the table in memory, at most.
VALUE_BYTES = 8

# Bytes of a value while it is measured, about: its scores and its codes.
MEASURED_BYTES = 10

# By default so many features are selected, or all where there are fewer.
DEFAULT_K = 10


@dataclass(frozen=True)
class Checked:
    """What the options of a command mean for its file, which is not read yet."""

    source: Source
    """The file."""

    names: list[str]
    """The columns to select from."""

    k: int | str
    """The number of features, or "auto"."""


@dataclass(frozen=True)
class ReadTable:
    """The table of a command, and what to select from it."""

    loaded: Loaded

    k: int | str
    """The number of features, or "auto"."""

    seconds: float
    """The time that it took to read."""


def check(request: TableOptions) -> Checked:
    """Open the file, and check the columns, the method and -k before it is read."""
    source = open_source(request.file)
    _refuse_lists("--include", request.include, source)
    _refuse_lists("--exclude", request.exclude, source)
    _refuse_lists("--covariates", request.covariates, source)
    aside = set(request.aside.values())
    check_names(source, aside)
    features = find_columns(source, request.target, request.exclude)
    names = [name for name in features if name not in aside]
    for name in (*request.include, *request.covariates):
        if name not in names:
            raise UnknownNameError("feature", name, names, request.file)
    get_method(request.method)
    n_features = len(set(names).difference(request.covariates))
    return Checked(source, names, _read_k(request, n_features))


def _refuse_lists(option: str, given: tuple[str, ...], source: Source) -> None:
    """Refuse several columns in one value of an option, such as "a,b"."""
    for name in given:
        listed = [item.strip() for item in name.split(",")]
        if name not in source.types and source.types.keys() >= set(listed):
            repeated = " ".join(f"{option} {item}" for item in listed)
            raise ParameterError(f"{option} takes one column, not {name!r}; repeat it: {repeated}")


def _read_k(request: TableOptions, n_features: int) -> int | str:
    """The number of features to select, or "auto"."""
    if not n_features:
        raise ParameterError("every column is a covariate; leave at least one to select from")
    k = request.k
    if k is None and request.threshold is not None:
        return n_features
    if k is None:
        return min(n_features, max(DEFAULT_K, len(set(request.include))))
    if isinstance(k, float):
        return max(1, round(k * n_features))
    if isinstance(k, int) and k > n_features:
        columns = counted(n_features, "column")
        raise ParameterError(f"k={k} is more than the {columns} to select from; choose a smaller k")
    return k


def read(checked: Checked, request: TableOptions) -> ReadTable:
    """Read the table without columns that identify rows."""
    start = perf_counter()
    with request.messages.stage(f"reading {request.file}"):
        loaded = load(checked.source, request.target, request.exclude, request.seed)
    for note in loaded.notes:
        request.messages.note(note)
    loaded = _set_aside(loaded, request)
    if request.correction == "none":
        loaded = _without_identifiers(loaded, request)
    k = checked.k
    if request.k is None:
        # Some columns may have been left out.
        k = min(int(k), count_features(loaded, request))
    return ReadTable(loaded, k, perf_counter() - start)


def count_features(loaded: Loaded, request: TableOptions) -> int:
    """The number of columns to select from."""
    return len(set(loaded.table.names).difference(request.covariates))


def _set_aside(loaded: Loaded, request: TableOptions) -> Loaded:
    """Take the columns that describe the rows out of the table."""
    table = loaded.table
    names = list(table.names)
    places = {argument: names.index(name) for argument, name in request.aside.items()}
    if request.weights:
        kind = table.kinds[places["sample_weight"]]
        if kind != "numeric":
            raise DataError(f"column {request.weights!r} of weights is {kind}; weights are numbers")
    of_rows = {}
    for argument, place in places.items():
        matrix, _ = as_matrix(table.keep(np.array([place])))
        of_rows[argument] = matrix[:, 0]
    kept = np.setdiff1d(np.arange(table.n_features), list(places.values()))
    return replace(loaded, table=table.keep(kept), of_rows=of_rows)


def _without_identifiers(loaded: Loaded, request: TableOptions) -> Loaded:
    """Drop text that differs in most rows, of which uncorrected estimates are far too large."""
    table = loaded.table
    is_kept = np.ones(table.n_features, bool)
    for block in table.blocks:
        for place, levels in zip(block.columns, block.categories or [], strict=False):
            name = table.names[int(place)]
            if name in (*request.include, *request.covariates):
                continue
            if len(levels) > MOST_ROWS * table.n_samples:
                is_kept[place] = False
                request.messages.note(
                    f"left out {name!r}: text with a different value in most rows, such as an "
                    f"identifier; --include {name!r} keeps it"
                )
    if is_kept.all():
        return loaded
    return replace(loaded, table=table.keep(np.flatnonzero(is_kept)))


def new_file(path: Path, source: Path) -> AbstractContextManager[Path]:
    """A temporary file that replaces ``path`` at the end; ``path`` must not be the input."""
    if path.exists() and path.samefile(source):
        raise ParameterError(f"{path} is the input file; write to another file")
    return replacing(path)


def select_from_file(request: TableOptions, output: Path | None) -> dict[str, Any]:
    """Check the options, then read, select and write."""
    suffix = suffix_of(output) if output else ""
    _refuse_scoring(request)
    checked = check(request)
    with new_file(output, request.file) if output else nullcontext() as file:
        table = read(checked, request)
        loaded = table.loaded
        start = perf_counter()
        solution = select_in_memory(loaded, table.k, request)
        seconds = {
            "read": table.seconds,
            "select": perf_counter() - start,
            "solve": solution.seconds,
        }
        result = as_dict(loaded, solution, request, seconds)
        if file:
            columns = [*(feature["name"] for feature in result["features"]), request.target]
            with request.messages.stage("writing the selected columns"):
                copy_columns(loaded.source, columns, file, suffix)
    return result


def _refuse_scoring(request: TableOptions) -> None:
    """Raise an error for a scorer where nothing is cross-validated."""
    if request.scoring is not None and request.k != AUTO:
        raise ParameterError(
            f"--scoring {request.scoring} has no effect without -k auto, which chooses k by "
            "cross-validation; pass -k auto, or leave --scoring out"
        )


def select_in_memory(loaded: Loaded, k: int | str, request: TableOptions) -> Solution:
    """Select from a table in memory."""
    number = "features" if k == AUTO or request.threshold is not None else f"{k} features"
    with request.messages.stage(f"selecting {number}"):
        options = request.selector_options(k) | loaded.of_rows
        if k != AUTO:
            # Without folds, the column of groups is only left out of the table.
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
    features: list[dict[str, Any]] = []
    for rank, place in enumerate(solution.support.tolist(), 1):
        feature = {"rank": rank, "name": str(loaded.table.names[place])}
        for name in SCORES:
            feature[name] = float(solution.details[name][rank - 1])
        features.append(feature)
    result = about(loaded, request)
    result["k"] = solution.k
    result["method"] = request.method
    for name in VALUES:
        result[name] = float(getattr(solution, name))
    result["quality"] = solution.quality
    result["features"] = features
    result["warnings"] = list(solution.warnings)
    result["seconds"] = seconds
    if "k_errors" in solution.details:
        result["k_errors"] = solution.details["k_errors"]
    return result


def print_selection(result: dict[str, Any]) -> None:
    """Print a table of the features, and lines on the whole selection."""
    heads = tuple(name.replace("_", " ") for name in SCORES)
    table = new_table(("feature",), heads, first="rank")
    for feature in result["features"]:
        numbers = [f"{feature[name]:.4f}" for name in SCORES]
        table.add_row(str(feature["rank"]), printable(feature["name"]), *numbers)
    out = console()
    out.print(heading(result, f"method: {result['method']}, {result['rows']} rows"))
    out.print(table)
    out.print(f"objective  {result['objective']:.6g}")
    if isfinite(result["upper_bound"]):
        out.print(f"bound      {result['upper_bound']:.6g}")
    out.print("quality    ", bold(result["quality"]), sep="")
    errors = result.get("k_errors")
    if errors:
        curve = ", ".join(f"{k}: {error:.3f}" for k, error in errors.items())
        out.print(f"errors     cross-validation error by number of features: {curve}")
    seconds = result["seconds"]
    out.print(
        f"time       {seconds['read']:.2f} s to read, {seconds['select']:.2f} s to select "
        f"({seconds['solve']:.2f} s of it to solve)"
    )


def dry_run(request: TableOptions) -> dict[str, Any]:
    """Estimate the memory of a selection; one column of the file is read."""
    _refuse_scoring(request)
    checked = check(request)
    n_columns = len(checked.names)
    with request.messages.stage(f"counting the rows of {request.file}"):
        n_rows = sum(batch.num_rows for batch in checked.source.as_text([request.target]))
    n_used = min(n_rows, rows_to_hold(n_columns, VALUE_BYTES))
    table_bytes = (VALUE_BYTES + MEASURED_BYTES) * n_used * n_columns
    all_pairs_bytes = 8 * n_columns**2
    if isinstance(get_method(request.method), Quadratic) and all_pairs_bytes <= MEMORY:
        pairs_bytes = all_pairs_bytes
    else:
        # Of the columns of pairs that are kept, one for each selected feature.
        n_selected = checked.k if isinstance(checked.k, int) else n_columns
        pairs_bytes = min(8 * n_columns * n_selected, KEPT)
    return {
        "file": str(request.file),
        "target": request.target,
        "method": request.method,
        "k": checked.k,
        "rows": n_rows,
        "columns": n_columns,
        "rows_used": n_used,
        "memory": {"needed": table_bytes + pairs_bytes, "available": machine_memory()},
    }


def print_dry_run(result: dict[str, Any]) -> None:
    """Print an estimate in a few lines."""
    from rich.filesize import decimal

    out = console()
    k = "a number of features chosen by cross-validation" if result["k"] == AUTO else result["k"]
    out.print(bold(f"Would select {k} of {result['columns']:,} features"), end="")
    out.print(f" for {printable(repr(result['target']))} (method: {result['method']})")
    out.print(f"size    {result['rows']:,} rows x {result['columns']:,} columns")
    if result["rows_used"] < result["rows"]:
        out.print(f"used    a random sample of {result['rows_used']:,} rows")
    needed = decimal(result["memory"]["needed"])
    available = decimal(int(result["memory"]["available"]))
    out.print(f"memory  about {needed} of {available}")
