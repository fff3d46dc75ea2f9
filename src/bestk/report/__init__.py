"""A selection as one self-contained HTML page: features, errors, warnings, and how to repeat it.

jinja2 comes with ``pip install 'bestk[report]'``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

try:
    import jinja2  # noqa: F401
except ImportError as error:
    raise ImportError("reports need jinja2; run: pip install 'bestk[report]'") from error

from bestk.report.records import ReportRequest

__all__ = ["Report", "make_report"]


@dataclass(frozen=True)
class Report:
    """An HTML report, which notebooks display; ``facts`` has its solution, scores, cautions, ..."""

    html: str
    facts: SimpleNamespace

    def save(self, path: str | Path) -> Path:
        """Write the page to a file, which is replaced only when all is written."""
        from bestk.tables.files import replacing

        with replacing(path) as part:
            part.write_text(self.html, encoding="utf-8", newline="\n")
        return Path(path)

    def _repr_html_(self) -> str:
        frame = 'width="100%" height="700" style="border: 0" title="bestk report"'
        return f'<iframe {frame} sandbox="allow-scripts" srcdoc="{escape(self.html)}"></iframe>'

    def __repr__(self) -> str:
        return f"<Report of {self.facts.solution.k} features, {len(self.html):,} characters>"


def make_report(
    selected: Any,
    X: Any,
    y: Any,
    *,
    target: str = "y",
    errors: bool = True,
    stability: int | None = None,
    groups: Any = None,
    sample_weight: Any = None,
    scoring: Any = None,
    cv: Any = None,
    notes: Sequence[str] = (),
    path: str | None = None,
    dropped: Sequence[str] = (),
    group_column: str | None = None,
    command: str = "",
    progress: Callable[[int, int], Any] | None = None,
) -> Report:
    """Make an HTML report of a selection.

    Parameters
    ----------
    selected : SelectBestK or SelectBestKCV
        A fitted selector.
    X, y
        The table and the target of the fit, in memory. If they are too large for memory pass some
        of the rows: errors, bins and warnings then refer to these.
    target : str, default="y"
        The name of y.
    errors : bool, default=True
        Whether to measure cross-validated scores.
    stability : int, default=None
        The number of subsamples for the frequency of each feature, see
        :func:`bestk.stability_selection`; 0: none. By default 20, and none for large tables.
    groups : array-like of shape (n_samples,), default=None
        Groups of rows, such as those of one customer, that no fold and no subsample separates.
        They are needed if the selector was fitted with groups.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each row counts, in relevance, scores and subsamples. Needed if the selector was
        fitted with weights.
    scoring : str or callable, default=None
        A scorer of scikit-learn for the scores. None: that of the selector; else AUC for two
        classes, the error rate for more, R2 for numbers.
    cv : int, splitter or iterable, default=None
        The folds of the scores. None: those of the selector; else five, stratified for classes
        and shuffled.
    notes : sequence of str, default=()
        Further warnings to show.
    path, dropped, group_column, command : str, sequence of str, str and str
        The file that was read, its columns that were not used, its column of groups, and the
        command that selects the same: for the code that repeats the selection.
    progress : callable, default=None
        Called after each fold with the number of folds done and of all.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bestk import SelectBestK
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> report = make_report(SelectBestK(k=2, method="exact").fit(X, y), X, y, errors=False)
    >>> report.facts.names
    ['petal width (cm)', 'petal length (cm)']
    """
    from bestk.report.gather import collect_facts
    from bestk.report.page import render

    request = ReportRequest(
        selected,
        X,
        y,
        target,
        errors,
        stability,
        groups=groups,
        sample_weight=sample_weight,
        scoring=scoring,
        cv=cv,
        notes=notes,
        path=path,
        dropped=dropped,
        group_column=group_column,
        command=command,
        progress=progress,
    )
    facts = collect_facts(request)
    return Report(render(facts), SimpleNamespace(**facts))
