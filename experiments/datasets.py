"""The paper's data sets, from a folder or from OpenML, checked against its Table 2."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Table = NDArray[Any]
Labels = NDArray[np.int64]
Pair = tuple[Table, Labels]


@dataclass(frozen=True)
class Dataset:
    """A data set: ``X`` of m samples by n features, ``y`` of classes 0, 1, ..."""

    name: str
    X: Table
    y: Labels
    feature_names: tuple[str, ...]
    nominal: bool  # values are codes without an order: nothing to discretise
    source: str  # the file, or the sets of OpenML
    states: Table | None = None  # the version of three states that circulates with mRMR, if any

    @property
    def shape(self) -> tuple[int, int, int]:
        """Features, samples and classes: n, m, c."""
        return self.X.shape[1], self.X.shape[0], len(np.unique(self.y))


@dataclass(frozen=True)
class Entry:
    """What is known of a set: n, m and c, rows of each class, and where OpenML has it."""

    n: int
    m: int
    c: int
    classes: tuple[int, ...]
    openml: tuple[int, ...] = ()  # numbers of its sets, side by side
    clean: Callable[[Any], Pair] | None = None
    nominal: bool = False
    stands_in_for: str | None = None


def load(name: str, data_home: str | Path | None = None) -> Dataset:
    """Load one of the paper's data sets.

    Parameters
    ----------
    name : str
        One of :data:`DATASETS`. ``gisette_like`` is a stand-in for Gisette, made from MNIST by
        the published recipe; it is not Gisette, and is found in folders only.
    data_home : str or Path, default=None
        A folder with ``NAME.npz``, which holds arrays ``X`` and ``y``; by default the one that
        the environment variable ``BESTK_DATA`` names. Where it has no such file, the set comes
        from OpenML, if it is there; scikit-learn keeps a copy.

    Returns
    -------
    Dataset
        With the features, samples and classes of the paper's Table 2, or an error is raised.

    Examples
    --------
    >>> sorted(DATASETS)[:3]
    ['arrhythmia', 'colon', 'gisette']
    >>> load("iris")
    Traceback (most recent call last):
    ...
    ValueError: unknown data set 'iris'; choose one of arrhythmia, ...
    """
    if name not in DATASETS:
        raise ValueError(f"unknown data set {name!r}; choose one of {', '.join(DATASETS)}")
    found = _from_folder(name, data_home) or _from_openml(name, data_home)
    _check(found, DATASETS[name])
    return found


def available(name: str, data_home: str | Path | None = None) -> bool:
    """Whether a folder has the set, so that nothing needs to be fetched."""
    path = _path(name, data_home)
    return path is not None and path.exists()


def _path(name: str, data_home: str | Path | None) -> Path | None:
    folder = data_home or os.environ.get("BESTK_DATA")
    return None if not folder else Path(folder) / f"{name}.npz"


def _from_folder(name: str, data_home: str | Path | None) -> Dataset | None:
    path = _path(name, data_home)
    if path is None or not path.exists():
        return None
    with np.load(path, allow_pickle=False) as archive:
        X, y = archive["X"], archive["y"].astype(np.int64)
        names = archive["feature_names"] if "feature_names" in archive else _numbered(X)
        states = archive.get("X_disc")
    named = tuple(map(str, names))
    return Dataset(name, X, y, named, DATASETS[name].nominal, str(path), states)


def _from_openml(name: str, data_home: str | Path | None) -> Dataset:
    entry = DATASETS[name]
    looked = f"no file {_path(name, data_home)}" if _path(name, data_home) else "no folder is named"
    advice = "set BESTK_DATA, or pass data_home, to a folder that has it"
    if entry.clean is None:
        raise FileNotFoundError(f"{looked}, and OpenML does not have {name!r}; {advice}")
    try:
        parts = [_fetch(number) for number in entry.openml]
    except OSError as error:
        reason = f"OpenML could not be reached ({error})"
        raise FileNotFoundError(f"{looked}, and {reason}; {advice}") from error
    X, y = entry.clean(parts)
    source = "OpenML " + ", ".join(map(str, entry.openml))
    return Dataset(name, X, y, _numbered(X), entry.nominal, source)


def _fetch(number: int) -> Any:
    from sklearn.datasets import fetch_openml

    return fetch_openml(data_id=number, as_frame=True, parser="auto")


def _numbered(X: Table) -> tuple[str, ...]:
    return tuple(f"x{i}" for i in range(X.shape[1]))


def _check(found: Dataset, entry: Entry) -> None:
    wanted, counts = (entry.n, entry.m, entry.c), tuple(np.bincount(found.y).tolist())
    if found.shape != wanted or sorted(counts) != sorted(entry.classes):
        raise ValueError(
            f"{found.name!r} from {found.source} has (features, samples, classes) {found.shape} "
            f"with {counts} rows of each class, not {wanted} with {entry.classes}: it is another "
            "version of the data; remove it, or fetch it again"
        )


# Cleaning of what OpenML has


def _numbers(frame: Any) -> Table:
    return np.asarray(frame.astype(np.float64))


def _codes(target: Any) -> Labels:
    """Classes numbered in the order of their names."""
    return np.unique(np.asarray(target.astype(str)), return_inverse=True)[1].astype(np.int64)


def _without_constants(X: Table) -> Table:
    return X[:, X.max(axis=0) != X.min(axis=0)]


def _plain(parts: Sequence[Any]) -> Pair:
    return _numbers(parts[0].data), _codes(parts[0].target)


def _arrhythmia(parts: Sequence[Any]) -> Pair:
    """Without attribute 14, mostly missing; complete rows; normal (1) against all others."""
    X = np.delete(_numbers(parts[0].data), 13, axis=1)
    y = (np.asarray(parts[0].target.astype(str)) != "1").astype(np.int64)
    whole = ~np.isnan(X).any(axis=1)
    return _without_constants(X[whole]), y[whole]


def _gisette(parts: Sequence[Any]) -> Pair:
    """The training rows, which come first."""
    X, y = _plain(parts)
    return _without_constants(X[:6000]), y[:6000]


def _leukemia(parts: Sequence[Any]) -> Pair:
    """Without the 59 control probes that come first."""
    X, y = _plain(parts)
    return X[:, 59:], y


def _lymphoma(parts: Sequence[Any]) -> Pair:
    """Missing values at the mean of their feature."""
    X, y = _plain(parts)
    return np.where(np.isnan(X), np.nanmean(X, axis=0), X), y


def _madelon(parts: Sequence[Any]) -> Pair:
    """The training rows, which come first."""
    X, y = _plain(parts)
    return X[:2000], y[:2000]


def _multifeat(parts: Sequence[Any]) -> Pair:
    """The six views of the same numerals, side by side."""
    labels = [_codes(part.target) for part in parts]
    if any(not np.array_equal(labels[0], other) for other in labels):
        raise ValueError("the six sets of Multiple Features list their numerals in other orders")
    return np.hstack([_numbers(part.data) for part in parts]), labels[0]


def _musk2(parts: Sequence[Any]) -> Pair:
    """The 166 measurements, without names of molecules and conformations."""
    return _numbers(parts[0].data.iloc[:, -166:]), _codes(parts[0].target)


def _optdigits(parts: Sequence[Any]) -> Pair:
    """The training rows, which come first."""
    X, y = _plain(parts)
    return _without_constants(X[:3823]), y[:3823]


def _promoter(parts: Sequence[Any]) -> Pair:
    """The 57 positions, letters coded 0 to 3."""
    letters = parts[0].data.iloc[:, -57:].astype(str)
    known = np.array(list("acgt"))
    X = np.column_stack([np.searchsorted(known, letters[name].str.lower()) for name in letters])
    return X, _codes(parts[0].target)


DATASETS: dict[str, Entry] = {
    "arrhythmia": Entry(258, 420, 2, (237, 183), (5,), _arrhythmia),
    "colon": Entry(2000, 62, 2, (22, 40)),
    "gisette": Entry(4995, 6000, 2, (3000, 3000), (41026,), _gisette),
    "leukemia": Entry(7070, 72, 2, (47, 25), (1104,), _leukemia),
    "lung": Entry(325, 73, 7, (6, 5, 5, 16, 7, 13, 21)),
    "lymphoma": Entry(4026, 96, 9, (46, 10, 9, 11, 6, 6, 4, 2, 2), (1102,), _lymphoma),
    "madelon": Entry(500, 2000, 2, (1000, 1000), (1485,), _madelon),
    "multifeat": Entry(649, 2000, 10, (200,) * 10, (14, 12, 16, 20, 22, 18), _multifeat),
    "musk2": Entry(166, 6598, 2, (5581, 1017), (1116,), _musk2),
    "optdigits": Entry(62, 3823, 10, (376, 389, 380, 389, 387, 376, 377, 387, 380, 382),
                       (28,), _optdigits),
    "promoter": Entry(57, 106, 2, (53, 53), (164,), _promoter, nominal=True),
    "spambase": Entry(57, 4601, 2, (2788, 1813), (44,), _plain),
    "waveform": Entry(21, 5000, 3, (1657, 1647, 1696)),
    "gisette_like": Entry(4997, 6000, 2, (3000, 3000), stands_in_for="gisette"),
}  # fmt: skip
