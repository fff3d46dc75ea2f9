"""Kernels are plain loops: not compiled, they give the same, and stay within their arrays."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

import bestk
from bestk.discretize import DISCRETIZERS


def show_all():
    """Cuts and codes of every discretiser, on tables of as many cuts as can be and of few."""
    rng = np.random.default_rng(0)
    for m, n_classes in ((7, 7), (9, 2), (24, 3)):
        y = np.arange(m) % n_classes
        X = np.column_stack([rng.permutation(m), rng.integers(0, 3, m), np.full(m, np.nan), y])
        X[rng.integers(0, m), 1] = np.nan
        for name, kind in DISCRETIZERS.items():
            fitted = kind().fit(X, y)
            cuts = [column.tolist() for column in fitted.cut_points_]
            print(name, cuts, fitted.transform(X).tolist())


def test_without_the_compiler_cuts_and_codes_are_the_same(capsys):
    show_all()
    places = os.pathsep.join(
        [str(Path(bestk.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    )
    told = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": places}
    plain = subprocess.run(
        [sys.executable, __file__], env=told, capture_output=True, text=True, check=True
    )
    assert plain.stdout == capsys.readouterr().out


if __name__ == "__main__":
    show_all()
