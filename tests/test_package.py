"""The package as a whole: light to import, complete, quiet."""

import subprocess
import sys

import bestk


def run(code):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def test_importing_bestk_brings_no_heavy_library():
    heavy = "{'numba', 'sklearn', 'scipy', 'narwhals', 'pandas', 'polars', 'matplotlib', 'torch'}"
    out, _ = run(f"import sys, bestk; print(sorted({heavy} & set(sys.modules)))")
    assert out.strip() == "[]"


def test_importing_bestk_costs_little_more_than_importing_numpy():
    code = "import time; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"
    numpy, ours = (min(float(run(code.format(n))[0]) for _ in range(5)) for n in ("numpy", "bestk"))
    assert ours < 2 * numpy + 0.05


def test_every_public_name_resolves_and_is_documented():
    for name in bestk.__all__:
        assert getattr(bestk, name).__doc__
    assert set(bestk.__all__) <= set(dir(bestk))
    assert not hasattr(bestk, "no_such_name")


def test_a_first_call_prints_and_warns_of_nothing():
    code = (
        "import numpy as np, bestk;"
        "X = np.random.default_rng(0).normal(size=(50, 3)); y = np.arange(50) % 2;"
        "bestk.cmi_matrix(bestk.CAIM().fit_transform(X, y), y)"
    )
    assert run(code) == ("", "")
