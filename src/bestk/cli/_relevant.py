"""``bestk relevant``: every feature that carries information about the target."""

from time import perf_counter
from typing import Any

import numpy as np

from bestk.cli._options import TableOptions, shown
from bestk.cli._output import Messages, console, new_table
from bestk.cli._select import print_names
from bestk.cli._table import check, read
from bestk.data.printable import printable
from bestk.selection.relevant import SelectRelevant

__all__ = ["find_relevant", "print_names", "print_relevant"]


def find_relevant(
    request: TableOptions, messages: Messages, fdr: float, pairs: bool
) -> dict[str, Any]:
    """Read the file, and test its columns."""
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
    return {
        "file": shown(loaded.source.path),
        "target": loaded.target,
        "rows": loaded.table.n_samples,
        "columns": loaded.table.n_features,
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
    text = (
        f"{found} of {result['columns']} columns carry information about {result['target']!r} "
        f"(FDR {100 * result['fdr']:g}%, {result['rows']} rows)"
    )
    out.print(printable(text), style="bold", end="\n\n", highlight=False)
    if found:
        out.print(table)
    correction = f"corrected by {result['permutations']} permutations of the target"
    exact = correction if result["permutations"] else "from chi-square and beta distributions"
    out.print(f"p-values  {exact}")
