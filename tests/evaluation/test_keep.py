"""Folds that are stored in a folder are read, and only for the same table and options."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from bestk.evaluation import error_curves
from bestk.evaluation._study import Study

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 6))
Y = (X[:, 0] + X[:, 1] > 0).astype(int)
OPTIONS = {"cv": 4, "random_state": 0}


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Run a study; return its rows, and the folds that were computed."""
    computed = []
    run = Study.run
    monkeypatch.setattr(Study, "run", lambda *args: (computed.append(args[1]), run(*args))[1])

    def call(X=X, y=Y, methods=("maxrel", "jmi"), ks=(1, 2), **options):
        computed.clear()
        curves = error_curves(X, y, methods, ks, **({"keep": tmp_path} | OPTIONS | options))
        return rows_of(curves), list(computed)

    return call


def rows_of(curves):
    return [(r.method, r.k, r.fold, r.error, r.n_test, r.support) for r in curves.rows]


@pytest.mark.parametrize("protocol", ["nested", "paper"])
def test_only_the_folds_that_are_missing_are_computed(study, tmp_path, protocol):
    whole, _ = study(protocol=protocol, keep=None)
    assert study(protocol=protocol) == (whole, [0, 1, 2, 3])
    assert study(protocol=protocol) == (whole, [])
    (path,) = tmp_path.glob("*-2.json")
    path.unlink()
    assert study(protocol=protocol) == (whole, [2])
    assert not list(tmp_path.glob("*.part"))


def test_folds_of_processes_are_stored_too(study):
    first, _ = study(n_jobs=2)
    assert study() == (first, [])


def test_an_interrupted_study_keeps_what_is_done(study):
    def stop(count, total):
        if count == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study(progress=stop)
    assert study()[1] == [2, 3]


@pytest.mark.parametrize(
    "change",
    [
        {"X": X + 1e-9}, {"X": X[:, ::-1]}, {"y": 1 - Y}, {"methods": ("maxrel",)}, {"ks": (1, 3)},
        {"random_state": 1}, {"information": "gaussian"}, {"baseline": True},
        {"protocol": "paper"}, {"include": [3]},
    ],
    ids=str,
)  # fmt: skip
def test_another_study_is_computed_anew(study, change):
    study()
    assert study(**change)[1] == [0, 1, 2, 3]
    assert study()[1] == []


def test_estimators_that_differ_by_their_class_alone_are_told_apart(study):
    forest, trees = (
        kind(3, bootstrap=False, random_state=0)
        for kind in (RandomForestClassifier, ExtraTreesClassifier)
    )
    first, _ = study(estimator=forest)
    assert study(estimator=clone(forest)) == (first, [])
    assert study(estimator=trees)[1] == [0, 1, 2, 3]


def test_a_folder_that_cannot_be_used_is_refused(study, tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(OSError, match="file"):
        study(keep=tmp_path / "file")
    with pytest.raises(ValueError, match="pass a random_state"):
        study(random_state=None)
