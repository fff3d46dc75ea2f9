"""bestk itself: the whole call, the counting stage alone, and single columns."""

from typing import Any

import numpy as np

import bestk
from benchmarks.counting.cases import Case
from benchmarks.counting.contenders import Contender, Job, random_pairs
from benchmarks.counting.definition import CMI, entropy
from bestk.information import measures
from bestk.information.entropies import Entropies
from bestk.information.measures import Query


def _whole_call(case: Case, budget: float) -> Job:
    return _checked(case, lambda: bestk.cmi_matrix(case.X, case.y))


def _single_precision(case: Case, budget: float) -> Job:
    return _checked(case, lambda: bestk.cmi_matrix(case.X, case.y, dtype=np.float32))


def _stage(case: Case, budget: float) -> Job:
    return _checked(case, lambda: Entropies.count(case.codes, case.target).cmi())


def _pairs(case: Case, budget: float) -> Job:
    entropies = Entropies.count(case.codes, case.target)
    return _checked(case, entropies.cmi)


def _kernel(case: Case, budget: float) -> Job:
    entropies = Entropies.count(case.codes, case.target)
    out = np.ones((case.n_features, case.n_features))

    def run() -> Any:
        entropies.source.fill(Query(measures.CMI, lowest=0.0), out)
        return out

    return _checked(case, run)


def _checked(case: Case, run: Any) -> Job:
    pairs = random_pairs(case.n_features, 20)
    values = run()[pairs[:, 0], pairs[:, 1]]
    return Job(run, case.n_pairs, float(np.abs(values - CMI.of_pairs(case, pairs)).max()))


def _columns(case: Case, budget: float) -> Job:
    expected = [entropy(x) + entropy(case.y) - entropy(x, case.y) for x in case.X[:, :5].T]
    error = np.abs(bestk.mutual_information(case.X, case.y)[:5] - expected).max()
    return Job(lambda: bestk.mutual_information(case.X, case.y), case.n_features, float(error))


WHOLE_CALL = Contender("bestk", "bestk", "bestk", CMI.formula, _whole_call, threads=None)
STAGE_ONLY = Contender("bestk, counting only", "bestk", "bestk", CMI.formula, _stage, threads=None)
PAIRS_ONLY = Contender("bestk, pairs only", "bestk", "bestk", CMI.formula, _pairs, threads=None)
KERNEL = Contender(
    "bestk, pairs to memory in use", "bestk", "bestk", CMI.formula, _kernel, threads=None
)
SINGLE_COLUMNS = Contender(
    "bestk.mutual_information", "bestk", "bestk", "I(xi; y)", _columns, unit="column", threads=None
)

OURS: tuple[Contender, ...] = (
    WHOLE_CALL,
    Contender(
        "bestk, float32", "bestk", "bestk", CMI.formula, _single_precision, threads=None,
        tolerance=1e-6,
    ),
    STAGE_ONLY,
    PAIRS_ONLY,
    KERNEL,
    SINGLE_COLUMNS,
)  # fmt: skip
