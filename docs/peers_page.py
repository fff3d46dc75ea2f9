"""Write the page on other packages from ``benchmarks/results/peers.csv``."""

from pathlib import Path

from evidence import markup, peers
from evidence.records import Line, MissingError, provenance, read

COMMAND = "python -m benchmarks.peers"
HEAD = """Other packages
==============

Other packages for supervised feature selection. Each was run as its documentation describes, on a
table of 240 rows and twelve columns, two of which are informative. "No" means that the documented
call failed or did not select these two columns, or that there is no such call; the last table has
the details. All results are in ``benchmarks/results/peers.csv``; ``python -m benchmarks.peers``
runs the checks again.

"""
TAKES = """
*Newest*: it runs with the newest releases of its dependencies. *Finds*: the informative columns are
selected. *Pandas* to *number*: such a table, or a continuous target, is accepted without
preprocessing, and the two columns are selected.
"""
DOES = """
*Weights*: sample weights change the selection. *Forced in*: a column can be forced into the
selection. *Targets*: a y of two columns is accepted, and the column that each needs is selected.
*Groups*: columns are selected together or not at all. *Stability*: it returns how often columns are
selected from subsamples. *Pipeline*: it can be cloned, fitted in a pipeline and pickled, with equal
predictions. *Limit*: in a pipeline, a model that refuses more than three columns gets three.
*Scorer*: the number of columns is chosen by cross-validation with a scorer of your own, and groups
of rows stay together; "partly" if by scikit-learn's grid search, which selects anew for every
number. *Export*: a fitted pipeline is stored by skops and exported to ONNX by the converter that
skl2onnx has for selectors, with equal predictions; "partly" if one of both.
*Checks*: how many of scikit-learn's ``check_estimator`` pass. *Same picks*: three runs select the
same columns. *All pairs*: it returns the information of every pair of columns, "partly" if without
the target. *Bound*: it returns a bound on the distance from the optimum.
"""
TIMED = """
{table}; CPU seconds (the load of the machine was {least:.0f} to {most:.0f}) and elapsed seconds,
best of the rounds. Packages that count get integer codes, the others numbers. Compilation is
excluded.
"""
WHEN = """
Use another package when

- **scikit-learn SelectKBest**: columns are hardly redundant, or there are so many that only single
  columns can be scored. ``f_classif`` is the fastest.
- **mrmr_selection**: you want mRMR by F statistic and correlation, or the table is in Spark or
  BigQuery.
- **mrmrs**: you want the same for a polars frame, as fast as possible.
- **feature_engine**: your pipeline is made of its transformers, or relevance should come from a
  forest.
- **scikit-lego**: you have your own functions for relevance and redundancy.
- **fastcan**: relations are linear, or there are several targets or time series.
- **fast-select**: you also want the Relief family, or mRMR on CUDA without PyTorch.
- **ITMO_FS**: you want a criterion that bestk does not have (DCSF, CFR, MRI, IWFS), for a small
  table.
- **mifspy**: you want nearest-neighbor estimates, without bins or normality, and have the time.
- **Boruta**: you want all relevant features, not the best k.
- **arfs**: columns have mixed types, you want a measure of association for each type, and older
  versions of numpy and pandas are fine.
- **seleqt, dwave-scikit-learn-plugin**: you want to solve the quadratic problem on a quantum
  annealer.
- **praznik**: you work in R. It has the same criteria and fast C code, and returns all pairs.
- **mRMRe**: you work in R with survival data.
- **SGMI**: you want to compute the matrix on a Spark cluster.

Statements about Spark, BigQuery, CUDA, annealers, several targets, time series and R are from the
documentation of these packages. bestk does not support survival targets, criteria of three or more
columns (such as JMI3), or languages other than Python.
"""


def write(folder: Path) -> None:
    """Write ``peers.rst`` into the folder."""
    try:
        text = HEAD + body(read("peers", COMMAND))
    except MissingError as reason:
        text = f"{HEAD}{reason}\n"
    markup.write(folder / "peers.rst", text)


def body(lines: list[Line]) -> str:
    """The tables, and when to use which package."""
    run = [line for line in lines if line["basis"] == "run"]
    loads = sorted(float(line["load"]) for line in run)
    return markup.paragraphs(
        [
            markup.title("Packages"),
            peers.who(lines, "run"),
            "Release dates are from the package index; the rest was found by running them.",
            markup.title("Inputs"),
            TAKES,
            peers.what(lines, "run", peers.TAKES),
            _beside(run),
            markup.title("Features"),
            DOES,
            peers.what(lines, "run", peers.DOES),
            markup.title("Running time"),
            TIMED.format(table=peers.timed_table(lines), least=loads[0], most=loads[-1]),
            peers.times(lines),
            "On such a small table, overhead dominates; :doc:`performance` has large tables.",
            markup.title("From documentation only"),
            "These packages were not run.",
            peers.who(lines, "documentation"),
            peers.what(lines, "documentation", peers.TAKES | peers.DOES),
            markup.title("When to use another package"),
            WHEN,
            markup.title("Details"),
            peers.seen(lines, "run"),
            provenance(run, COMMAND, "peers"),
        ]
    )


def _beside(run: list[Line]) -> str:
    """Versions of numpy and others that each package was run with."""
    groups: dict[str, dict[str, None]] = {}
    for line in run:
        if line["probe"] != "newest packages":
            groups.setdefault(line["beside"], {})[line["peer"]] = None
    most = max(groups, key=lambda beside: len(groups[beside]))
    text = f"Run with {most}"
    for beside, names in groups.items():
        text += "" if beside == most else f"; {', '.join(names)} with {beside}"
    return text + "."
