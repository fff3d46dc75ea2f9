"""A study that was cut off goes on, with nothing lost, doubled or mixed up."""

import json

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.svm import LinearSVC

from bestk.evaluation import error_curves

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 6))
Y = (X[:, 0] + X[:, 1] > 0).astype(int)
OPTIONS = {"cv": 4, "random_state": 0}


def study(path, X=X, y=Y, methods=("maxrel", "jmi"), ks=(1, 2), **options):
    done = []

    def progress(count, total):
        done.append((count, total))

    curves = error_curves(X, y, methods, ks, keep=path, progress=progress, **(OPTIONS | options))
    return rows_of(curves), done


def rows_of(curves):
    return [(r.method, r.k, r.fold, r.error, r.n_test, r.support) for r in curves.rows]


@pytest.mark.parametrize("protocol", ["nested", "paper"])
def test_wherever_the_file_was_cut_the_study_is_the_same(tmp_path, protocol):
    path = tmp_path / "folds.jsonl"
    whole = rows_of(error_curves(X, Y, ["maxrel", "jmi"], [1, 2], protocol=protocol, **OPTIONS))
    assert study(path, protocol=protocol) == (whole, [(1, 4), (2, 4), (3, 4), (4, 4)])
    written = path.read_bytes()
    assert study(path, protocol=protocol) == (whole, [])
    assert path.read_bytes() == written
    ends = [i + 1 for i, byte in enumerate(written) if byte == ord("\n")]
    for cut in [0, 1, 5, *ends, *(end - 1 for end in ends), *(end + 20 for end in ends[:-1])]:
        path.write_bytes(written[:cut])
        rows, done = study(path, protocol=protocol)
        assert rows == whole
        assert len(done) == 4 - max(0, written[:cut].count(b"\n") - 1)
        folds = [json.loads(line).get("fold") for line in path.read_text().splitlines()]
        assert folds == [None, 0, 1, 2, 3]


def test_folds_of_processes_are_kept_too(tmp_path):
    path = tmp_path / "folds.jsonl"
    first, _ = study(path, n_jobs=2)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([lines[0], lines[3], lines[1]]))  # two of them, in any order
    again, done = study(path, n_jobs=2)
    assert again == first
    assert done == [(3, 4), (4, 4)]


def test_an_interrupted_study_keeps_what_is_done(tmp_path):
    path = tmp_path / "folds.jsonl"

    def stop(count, total):
        if count == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        error_curves(X, Y, ["maxrel", "jmi"], [1, 2], keep=path, progress=stop, **OPTIONS)
    assert study(path)[1] == [(3, 4), (4, 4)]


@pytest.mark.parametrize(
    "change",
    [
        {"X": X + 1e-9}, {"X": X[:, ::-1]}, {"y": 1 - Y}, {"methods": ("maxrel",)}, {"ks": (1, 3)},
        {"cv": 5}, {"random_state": 1}, {"information": "gaussian"}, {"baseline": True},
        {"protocol": "paper"}, {"include": [3]},
    ],
    ids=str,
)  # fmt: skip
def test_a_file_of_another_study_is_refused(tmp_path, change):
    path = tmp_path / "folds.jsonl"
    study(path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"folds\.jsonl holds folds of another table, other opt"):
        study(path, **change)
    assert path.read_bytes() == before


def test_text_and_objects_are_told_apart(tmp_path):
    words = np.where(X[:, :2] > 0, "high", "low").astype(object)
    encoded = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LinearSVC())
    options = {"ks": (1,), "estimator": encoded}
    y = np.where(Y, "yes", "no").astype(object)
    path = tmp_path / "folds.jsonl"
    first = study(path, words, y, **options)[0]
    assert study(path, words, y, **options) == (first, [])
    with pytest.raises(ValueError, match="holds folds of another table"):
        study(path, np.where(words == "low", "Low", words), y, **options)


def test_models_that_differ_by_their_class_alone_are_told_apart(tmp_path):
    path = tmp_path / "folds.jsonl"
    forest, trees = (
        kind(3, bootstrap=False, random_state=0)
        for kind in (RandomForestClassifier, ExtraTreesClassifier)
    )
    first = study(path, estimator=forest)[0]
    assert study(path, estimator=clone(forest)) == (first, [])
    with pytest.raises(ValueError, match="holds folds of another table, other options"):
        study(path, estimator=trees)


def test_options_are_compared_to_their_last_entry(tmp_path):
    path, wide = tmp_path / "folds.jsonl", np.hstack([X, RNG.normal(size=(60, 1500))])
    gone = np.arange(10, 1506)
    study(path, wide, exclude=gone)
    with pytest.raises(ValueError, match="holds folds of another table, other options"):
        study(path, wide, exclude=np.where(gone == 700, 5, gone))


def test_options_that_cannot_be_told_apart_are_refused(tmp_path):
    blind = make_pipeline(FunctionTransformer(lambda X: 0 * X), LinearSVC())
    with pytest.raises(ValueError, match="name functions in a module instead of lambdas"):
        study(tmp_path / "new", estimator=blind)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    "content",
    ["dear diary\n", '{"study": "mine", "x": [1,2,3]}', '{"study":"mine"}\n{"half":', "\n", "{}"],
)
def test_other_files_are_left_alone(tmp_path, content):
    path = tmp_path / "mine.txt"
    path.write_text(content)
    with pytest.raises(ValueError, match=r"mine\.txt is not a file of finished folds"):
        study(path)
    assert path.read_text() == content


def test_what_cannot_be_added_to_is_refused_at_once(tmp_path):
    for odd, said in (
        (tmp_path, "is a folder"), (3, "keep must be the path of a file, not 3"),
        (tmp_path / "no" / "folds", "there is no folder"), ("/dev/null", "is no plain file"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=said):
            study(odd)
    with pytest.raises(ValueError, match="give random_state a number"):
        study(tmp_path / "new", random_state=None)
    assert not (tmp_path / "new").exists()


def test_a_file_of_another_study_keeps_its_unfinished_line(tmp_path):
    path = tmp_path / "folds.jsonl"
    study(path)
    path.write_bytes(path.read_bytes()[:-5])
    before = path.read_bytes()
    with pytest.raises(ValueError, match="holds folds of another table"):
        study(path, ks=(2, 3))
    assert path.read_bytes() == before


def test_two_that_started_at_once_may_share_a_file(tmp_path):
    path = tmp_path / "folds.jsonl"
    first, _ = study(path)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([lines[0], lines[0], lines[1], lines[1], lines[2]]))
    assert study(path) == (first, [(3, 4), (4, 4)])


def test_a_damaged_file_is_told(tmp_path):
    path = tmp_path / "folds.jsonl"
    study(path)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text(lines[0] + lines[1].replace('"rows"', '"rose'))
    with pytest.raises(ValueError, match=r"folds\.jsonl is damaged; give another name"):
        study(path)
