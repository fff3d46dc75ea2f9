"""A selection as one HTML file that needs nothing else: why, how good, and how to get it again."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bestk.report._facts import Facts

__all__ = ["Report", "make_report", "write_report"]


@dataclass(frozen=True)
class Report:
    """A report as text; it shows itself in a notebook.

    Attributes
    ----------
    html : str
        The page.
    facts : Facts
        What it tells, as records.
    """

    html: str
    facts: "Facts"

    def save(self, path: str | Path) -> Path:
        """Write the page to a file; what stood there before stays until all is written."""
        from bestk.data.files import replacing

        with replacing(path) as part:
            part.write_text(self.html, encoding="utf-8", newline="\n")
        return Path(path)

    def _repr_html_(self) -> str:
        frame = 'width="100%" height="700" style="border: 0" title="bestk report"'
        return f'<iframe {frame} sandbox="allow-scripts" srcdoc="{escape(self.html)}"></iframe>'

    def __repr__(self) -> str:
        return f"<Report of {len(self.facts.features)} features, {len(self.html):,} characters>"


def make_report(
    selected: Any,
    X: Any = None,
    y: Any = None,
    *,
    target: str = "y",
    errors: bool = True,
    notes: Sequence[str] = (),
    date: str = "",
    **more: Any,
) -> Report:
    """Tell all about a selection.

    Parameters
    ----------
    selected : SelectBestK, SelectBestKCV or Solution
        A fitted selector; or a solution, of which only what it holds itself is told.
    X : table of shape (n_samples, n_features), default=None
        What the selector was fitted on, in memory. Without it, or where it is a file or blocks of
        rows, the report tells what the selector holds itself. Of a table too large for memory
        some rows will do: errors, bins and warnings are then of these.
    y : array-like of shape (n_samples,), default=None
        The classes, or numbers to predict.
    target : str, default="y"
        What y is called.
    errors : bool, default=True
        Whether to measure cross-validated errors, which takes longest.
    notes : sequence of str
        What else to warn of.
    date : str, default=""
        When the report is made; without it the same input gives the same bytes.
    **more
        ``solution``, where the selector is not fitted; ``path`` of the file that was read, its
        columns that were ``dropped`` and the ``command`` that read it; ``progress``, called with
        the folds done and their number.

    Returns
    -------
    Report

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bestk import SelectBestK
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> report = make_report(SelectBestK(k=2, method="exact").fit(X, y), X, y, errors=False)
    >>> [feature.name for feature in report.facts.features]
    ['petal width (cm)', 'petal length (cm)']
    """
    from dataclasses import replace

    from bestk.data.blocks.blocks import is_stream
    from bestk.report._gather import gather, gather_fitted, gather_solution
    from bestk.report._text import shown

    if not hasattr(selected, "get_params"):
        facts = gather_solution(selected, target)
    elif X is None or is_stream(X, y):
        read = str(X) if isinstance(X, str | Path) else None
        facts = gather_fitted(selected, y if isinstance(y, str) else target, notes, read)
    elif y is None:
        raise ValueError("a report of a selector and a table needs y, too: the target of its rows")
    else:
        facts = gather(selected, X, y, target=target, errors=errors, notes=notes, **more)
    facts = replace(facts, date=shown(date) if date else "")
    return Report(render(facts), facts)


def write_report(selected: Any, X: Any, y: Any, path: str | Path, **options: Any) -> Report:
    """Write the report of a selection to an HTML file.

    Parameters
    ----------
    selected, X, y, **options
        As for :func:`make_report`.
    path : str or Path
        The file to write.

    Returns
    -------
    Report
    """
    report = make_report(selected, X, y, **options)
    report.save(path)
    return report


def render(facts: "Facts") -> str:
    """The page that tells some facts."""
    from bestk.report import _evidence, _pairs, _sections, _table
    from bestk.report._html import element, page

    parts = [("selected", "Selected", _sections.selected_section)]
    if facts.cautions is not None:
        parts.insert(0, ("warnings", "Warnings", _sections.warnings_section))
    parts += [("pairs", "Pairs", _pairs.pairs_section),
              ("certificate", "Proof", _sections.certificate_section)]  # fmt: skip
    if facts.comparison is not None:
        parts += [("errors", "Errors", _evidence.errors_section),
                  ("comparison", "Other methods", _evidence.comparison_section)]  # fmt: skip
    if facts.reading is not None:
        parts.append(("table", "Table", _table.table_section))
    parts.append(("reproduce", "Reproduce", _table.reproduce_section))
    links = (element("li", element("a", name, href=f"#{key}")) for key, name, _ in parts)
    contents = element("nav", element("ul", *links), aria_label="Contents")
    header = element("header", _sections.summary(facts))
    main = element("main", *(make(facts) for _, _, make in parts), id="main")
    title = f"bestk: {_sections.title_of(facts)}"
    return page(title, element("div", header, contents, main), _pairs.map_data(facts))
