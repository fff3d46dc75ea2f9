"""The checks, one function each."""

import pickle
from collections.abc import Callable
from importlib.metadata import files, metadata
from typing import Any

import numpy as np

from benchmarks.peers import tables
from benchmarks.peers.answers import Answer, K, judge, no, yes
from benchmarks.peers.peer import LacksError, Peer, Picks

# parameters that mean the number of columns
COUNTS = ("k", "n_features_to_select", "max_features", "n_features", "num_features")


def _plain(peer: Peer) -> Any:
    return tables.codes() if peer.needs == "codes" else tables.numbers()


def newest(peer: Peer) -> Answer:
    """It runs at all, beside the newest releases of what it needs."""
    peer.pick(peer.prepare(_plain(peer)), tables.classes(), K)
    return yes("runs")


def finds(peer: Peer) -> Answer:
    """Both telling columns of the plain table are picked."""
    return judge(peer.pick(peer.prepare(_plain(peer)), tables.classes(), K))


def pandas(peer: Peer) -> Answer:
    """A pandas frame is taken."""
    import pandas as pd

    frame = pd.DataFrame(_plain(peer), columns=tables.NAMES)
    return judge(peer.pick(frame, pd.Series(tables.classes()), K))


def polars(peer: Peer) -> Answer:
    """A polars frame is taken."""
    import polars as pl

    frame = pl.DataFrame(_plain(peer), schema=tables.NAMES)
    return judge((peer.polars or peer.pick)(frame, tables.classes(), K))


def sparse(peer: Peer) -> Answer:
    """A sparse matrix is taken; of few values, as sparse tables are."""
    from scipy.sparse import csr_matrix

    return judge(peer.pick(csr_matrix(tables.codes()), tables.classes(), K))


def missing(peer: Peer) -> Answer:
    """Missing values are taken, as they are."""
    return judge(peer.pick(peer.prepare(tables.with_gaps(_plain(peer))), tables.classes(), K))


def strings(peer: Peer) -> Answer:
    """Columns of strings beside numbers are taken, without encoding."""
    import pandas as pd

    frame = pd.DataFrame(_plain(peer), columns=tables.NAMES)
    columns = (*tables.TELLING, tables.NOISE)
    for column in columns:
        frame[tables.NAMES[column]] = np.array(list("abcd"))[tables.codes()[:, column]]
    if peer.strings is not None:
        names = [tables.NAMES[column] for column in columns]
        return judge(peer.strings(frame, tables.classes(), K, names), "where they are named")
    return judge(peer.pick(_like(peer, frame), tables.classes(), K))


def _like(peer: Peer, frame: Any) -> Any:
    """The frame as it is, or of polars for those that read nothing else."""
    if type(peer.prepare(tables.codes())).__module__.startswith("polars"):
        import polars as pl

        return pl.from_pandas(frame)
    return frame


def continuous(peer: Peer) -> Answer:
    """A number is the target."""
    return judge(peer.regress(peer.prepare(_plain(peer)), tables.continuous(), K))


def weights(peer: Peer) -> Answer:
    """Rows have weights: whole numbers, and any."""
    if peer.weigh is None:
        return no("fit takes no sample_weight" if peer.make else "no parameter for it")
    X, y, first = tables.halves()
    for part, column in zip((first, ~first), tables.TELLING, strict=True):
        _judge_weighted(peer.weigh(X, y, 1, np.where(part, 100, 1)), column)
    try:
        _judge_weighted(peer.weigh(X, y, 1, np.where(first, 0.9, 0.01)), tables.TELLING[0])
    except Exception as error:
        return Answer("partly", f"whole numbers only: {error}")
    return yes("picks follow the weights")


def _judge_weighted(picks: Picks, column: int) -> None:
    if not {column, tables.NAMES[column]} & set(picks):
        raise LacksError(f"it takes weights, but picked {picks} where only {column} tells")


def several(peer: Peer) -> Answer:
    """Two targets, each known from one column: both columns are picked."""
    Y = (tables.codes()[:, list(tables.TELLING)] > 1).astype(int)
    return judge((peer.several or peer.pick)(peer.prepare(_plain(peer)), Y, K))


def grouped(peer: Peer) -> Answer:
    """Columns that are selected together or not at all."""
    if peer.grouped is None:
        return no("no parameter for it")
    labels = np.where(np.isin(np.arange(tables.COLUMNS), tables.TELLING), -1, np.arange(12))
    picks = peer.grouped(peer.prepare(_plain(peer)), tables.classes(), 1, labels)
    whole = np.flatnonzero(np.isin(labels, labels[list(picks)])).tolist()
    return judge(picks) if sorted(picks) == whole else no(f"picked parts: {picks}")


def stability(peer: Peer) -> Answer:
    """How often each column is selected from subsamples."""
    if peer.frequencies is None:
        return no("no parameter for it")
    shares = np.asarray(peer.frequencies(peer.prepare(_plain(peer)), tables.classes(), K))
    return judge(np.argsort(-shares)[:K].tolist(), "frequencies of columns")


def forced(peer: Peer) -> Answer:
    """A column that must be selected."""
    picks = peer.force(peer.prepare(_plain(peer)), tables.classes(), K, tables.NOISE)
    return yes(f"picked {sorted(picks)}") if tables.NOISE in picks else no(f"picked {picks}")


def pipeline(peer: Peer) -> Answer:
    """It is cloned, fitted in a pipeline, pickled, and predicts the same."""
    from sklearn.base import clone
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    if peer.make is None:
        return no("a function, not an estimator")
    X, y = peer.prepare(_plain(peer)), tables.classes()
    model = make_pipeline(clone(peer.make(K)), LogisticRegression()).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    same = bool((again.predict(X) == model.predict(X)).all())
    return yes("clone, Pipeline, pickle") if same else no("the pickled one predicts otherwise")


def limited(peer: Peer) -> Answer:
    """In a pipeline, a model that takes few columns gets no more of them."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    if peer.make is None:
        return no("a function, not an estimator")
    X, y = peer.prepare(_plain(peer)), tables.classes()
    for limit in (1, K):
        model = make_pipeline(peer.make(limit), LogisticRegression()).fit(X, y)
        if (given := model[-1].n_features_in_) > limit:
            return no(f"a model of at most {limit} columns gets {given}")
    return yes(f"accuracy {model.score(X, y):.2f} with {given} columns")


def scorer(peer: Peer) -> Answer:
    """The number of columns is chosen by a scorer of one's own, and groups stay together."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV, GroupKFold
    from sklearn.pipeline import Pipeline

    X, y, groups = peer.prepare(_plain(peer)), tables.classes(), np.arange(tables.ROWS) // 4
    called = list[int]()

    def own(model: Any, X: Any, y: Any) -> float:
        called.append(len(y))
        return float(model.score(X, y))

    if peer.choose is not None:
        k = peer.choose(X, y, own, groups)
        return yes(f"chose {k} columns") if called else no("the scorer was not called")
    if peer.make is None:
        return no("a function, not an estimator")
    known = peer.make(K).get_params()
    name = next((name for name in COUNTS if name in known), None)
    if name is None:
        raise LacksError("no parameter for the number of columns")
    steps = Pipeline([("select", peer.make(K)), ("model", LogisticRegression())])
    search = GridSearchCV(steps, {f"select__{name}": [1, 2, K]}, scoring=own, cv=GroupKFold(3))
    search.fit(X, y, groups=groups)
    if not np.isfinite(search.cv_results_["mean_test_score"]).all():
        return no(f"GridSearchCV over {name} fails for some numbers")
    return Answer("partly", f"by GridSearchCV over {name}, which selects anew for every number")


def export(peer: Peer) -> Answer:
    """A fitted pipeline is stored by skops and exported to ONNX, and predicts the same."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    if peer.make is None:
        return no("a function, not an estimator")
    X, y = np.asarray(peer.prepare(_plain(peer)), np.float32), tables.classes()
    model = make_pipeline(peer.make(K), LogisticRegression()).fit(X, y)
    done, failed = list[str](), list[str]()
    for name, way in {"skops": _by_skops, "ONNX": _by_onnx}.items():
        try:
            same = np.array_equal(way(model, X), model.predict(X))
            (done if same else failed).append(name if same else f"{name}: other predictions")
        except Exception as error:
            failed.append(f"{name}: {type(error).__name__}: {error}")
    answer = "no" if not done else "partly" if failed else "yes"
    return Answer(answer, "; ".join([*done, *failed]))


def _by_skops(model: Any, X: Any) -> Any:
    from skops import io

    stored = io.dumps(model)
    return io.loads(stored, trusted=io.get_untrusted_types(data=stored)).predict(X)


def _by_onnx(model: Any, X: Any) -> Any:
    """By the converter that skl2onnx has for selectors."""
    from onnxruntime import InferenceSession
    from skl2onnx import to_onnx, update_registered_converter
    from skl2onnx.operator_converters.feature_selection import convert_sklearn_feature_selection
    from skl2onnx.shape_calculators.feature_selection import calculate_sklearn_select

    kind = type(model[0])
    if not kind.__module__.startswith("sklearn."):
        update_registered_converter(
            kind, kind.__name__, calculate_sklearn_select, convert_sklearn_feature_selection
        )
    session = InferenceSession(to_onnx(model, X[:1]).SerializeToString())
    return session.run(None, {"X": X})[0]


def checks(peer: Peer) -> Answer:
    """How many of scikit-learn's checks of estimators pass."""
    from sklearn.utils.estimator_checks import check_estimator

    if peer.make is None:
        return no("a function, not an estimator")
    estimator = peer.checked() if peer.checked is not None else peer.make(1)
    results = check_estimator(estimator, on_skip=None, on_fail=None)
    passed = sum(result["status"] == "passed" for result in results)
    failed = [result["check_name"] for result in results if result["status"] == "failed"]
    counted = f"{passed} of {passed + len(failed)}"
    return Answer(counted, ("fails " + ", ".join(failed)) if failed else "all pass")


def deterministic(peer: Peer) -> Answer:
    """Three runs pick the same, as it comes; else with random_state."""
    X, y = peer.prepare(_plain(peer)), tables.classes()
    picks = {tuple(peer.pick(X, y, 2 * K)) for _ in range(3)}
    if len(picks) == 1:
        return yes("three runs, the same picks")
    return Answer("partly", "picks differ from run to run unless a random_state is set")


def pair_matrix(peer: Peer) -> Answer:
    """What all pairs say is returned."""
    matrix, what = peer.matrix(tables.codes(), tables.classes())
    if np.shape(matrix) != (tables.COLUMNS, tables.COLUMNS):
        return no(f"{what}: an array of shape {np.shape(matrix)}")
    return Answer("partly" if "without the class" in what else "yes", what)


def bound(peer: Peer) -> Answer:
    """A proved bound on how far the picks are from the best."""
    if peer.bound is None:
        return no("returns picks, no bound")
    value = peer.bound(peer.prepare(_plain(peer)), tables.classes(), K)
    return yes(f"upper bound {value:.3g}")


def criteria(peer: Peer) -> Answer:
    """The criteria that it names and that run."""
    X, y, run, broken = peer.prepare(_plain(peer)), tables.classes(), [], []
    for name, pick in peer.criteria().items():
        try:
            pick(X, y, K)
            run.append(name)
        except Exception as error:
            broken.append(f"{name} fails ({type(error).__name__})")
    text = peer.measures or ", ".join(run)
    return Answer(str(len(run)), "; ".join([text, *broken]))


def licence(peer: Peer) -> Answer:
    """What its metadata says."""
    data = metadata(peer.package)
    kinds = [c.split(" :: ")[2] for c in data.get_all("Classifier") or [] if c.count(" :: ") == 2]
    named = [kind for kind in kinds if "License" in kind]
    words = [data.get("License-Expression"), *named, data.get("License"), _licence_file(peer)]
    said = next((word.strip().split("\n")[0] for word in words if word), "not said")
    return Answer(said, "metadata of the package")


def _licence_file(peer: Peer) -> str | None:
    """The first line of the licence, where that names it."""
    parts = [part for part in files(peer.package) or [] if part.name.startswith("LICENSE")]
    first = parts[0].read_text().strip().split("\n")[0] if parts else ""
    return first if "licen" in first.lower() else None


PROBES: dict[str, Callable[[Peer], Answer]] = {
    "licence": licence,
    "criteria": criteria,
    "newest packages": newest,
    "finds": finds,
    "pandas": pandas,
    "polars": polars,
    "sparse": sparse,
    "missing values": missing,
    "strings": strings,
    "continuous target": continuous,
    "sample weights": weights,
    "forced in": forced,
    "several targets": several,
    "column groups": grouped,
    "stability": stability,
    "pipeline": pipeline,
    "column limit": limited,
    "own scorer": scorer,
    "export": export,
    "check_estimator": checks,
    "deterministic": deterministic,
    "pair matrix": pair_matrix,
    "bound": bound,
}
