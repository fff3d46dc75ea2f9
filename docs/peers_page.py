"""The page of peers, written from ``benchmarks/results/peers.csv``."""

from pathlib import Path

from evidence import markup, peers
from evidence.records import Line, MissingError, provenance, read

COMMAND = "python -m benchmarks.peers"
HEAD = """Peers
=====

Other packages that select features by what they say of the class. Each was tried by running it,
in the way its own documentation says, on a table of 240 rows and twelve columns of which two tell
of the class. "No" means that the documented call failed, did not find these two, or that there is
none; what was seen then is in the last table. Every answer is in
``benchmarks/results/peers.csv``, and ``python -m benchmarks.peers`` asks again.

"""
TAKES = """
*Newest*: it runs beside the newest releases of what it needs. *Finds*: the
telling columns are picked. *Pandas* to *number*: such a table, or a number as the target, is
taken as it is, and the two are found.
"""
DOES = """
*Weights*: rows have weights, and the picks follow them. *Forced in*: a column can be made to be
picked. *Pipeline*: it is cloned, fitted in a pipeline, pickled, and predicts the same. *Checks*:
how many of scikit-learn's ``check_estimator`` pass. *Same picks*: three runs pick the same. *All
pairs*: it returns what every pair of columns says, "partly" if without the class. *Bound*: it says
how far the picks can be from the best.
"""
TIMED = """
{table}; seconds of all processors, which a busy machine changes little (its load was {least:.0f}
to {most:.0f}), and by the clock, best of the rounds. Codes for those that count, numbers for the
others; compiling is left out.
"""
WHEN = """
Take another than bestk when

- **scikit-learn SelectKBest**: columns hardly overlap, or there are so many that a look at
  each alone is all there is time for. With ``f_classif`` it is the fastest, and you have it
  already.
- **mrmr_selection**: mRMR by F statistic and correlation is wanted, or the table is in Spark or
  BigQuery: it has a module for each.
- **mrmrs**: the same is wanted of a polars frame, as fast as it gets.
- **feature_engine**: the pipeline is made of its transformers anyway, or a forest is to say what
  is relevant.
- **scikit-lego**: you bring relevance and redundancy of your own, as functions.
- **fastcan**: relations are linear, there are several targets at once, or series in time.
- **fast-select**: the Relief family is wanted as well, or mRMR on CUDA without PyTorch.
- **ITMO_FS**: a criterion is wanted that bestk lacks (DCSF, CFR, MRI, IWFS), of a small table.
- **mifspy**: information is to be estimated by nearest neighbours, without levels or normality,
  and there is time.
- **Boruta**: the question is not which k, but which features matter at all.
- **arfs**: columns are of mixed kinds, a measure of association for each kind is wanted, and
  numpy and pandas may be older.
- **seleqt, dwave-scikit-learn-plugin**: the quadratic problem is to go to a quantum annealer.
- **praznik**: you work in R. Its criteria are the same, its C is fast, and it returns all pairs.
- **mRMRe**: you work in R, and the target is survival.
- **SGMI**: the matrix is to be computed on a Spark cluster.

What is said here of Spark, BigQuery, CUDA, annealers, several targets, series and R is by their
documentation. bestk itself has no survival target, no criterion beyond pairs (as JMI3 is), no
weights of rows but whole numbers, and nothing outside Python.
"""


def write(folder: Path) -> None:
    """Write ``peers.rst`` into the folder."""
    try:
        text = HEAD + body(read("peers", COMMAND))
    except MissingError as reason:
        text = f"{HEAD}{reason}\n"
    markup.write(folder / "peers.rst", text)


def body(lines: list[Line]) -> str:
    """The tables, and when to take which."""
    run = [line for line in lines if line["basis"] == "run"]
    loads = sorted(float(line["load"]) for line in run)
    return markup.paragraphs(
        [
            markup.title("Who they are"),
            peers.who(lines, "run"),
            "Days of release are those of the package index; the rest is by running.",
            markup.title("What they take"),
            TAKES,
            peers.what(lines, "run", peers.TAKES),
            _beside(run),
            markup.title("What they do"),
            DOES,
            peers.what(lines, "run", peers.DOES),
            markup.title("How long they take"),
            TIMED.format(table=peers.timed_table(lines), least=loads[0], most=loads[-1]),
            peers.times(lines),
            "On a table this small overhead weighs much; :doc:`performance` has large ones.",
            markup.title("By documentation only"),
            "Not run here; what their documentation says.",
            peers.who(lines, "documentation"),
            peers.what(lines, "documentation", peers.TAKES | peers.DOES),
            markup.title("When to take which"),
            WHEN,
            markup.title("What was seen"),
            peers.seen(lines, "run"),
            provenance(run, COMMAND, "peers"),
        ]
    )


def _beside(run: list[Line]) -> str:
    """Which packages each peer was tried with, if not all with the same."""
    groups: dict[str, dict[str, None]] = {}
    for line in run:
        if line["probe"] != "newest packages":
            groups.setdefault(line["beside"], {})[line["peer"]] = None
    most = max(groups, key=lambda beside: len(groups[beside]))
    text = f"Tried with {most}"
    for beside, names in groups.items():
        text += "" if beside == most else f"; {', '.join(names)} with {beside}"
    return text + "."
