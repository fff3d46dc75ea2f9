"""The paper's data sets through discretising and counting: ``python -m experiments``."""

import os
import sys
import tomllib
from pathlib import Path
from time import perf_counter

import numpy as np

from bestk import CAIM, cmi_matrix, encode

STAND_INS = {"gisette": "gisette_like"}
NOMINAL = {"promoter"}  # letters, not numbers: nothing to discretise


def main() -> int:
    folder = Path(os.environ.get("BESTK_DATA") or "data")
    published = tomllib.loads(Path(__file__).with_name("published.toml").read_text())["table2"]
    if not any((folder / f"{name}.npz").exists() for name in published):
        print(f"no data set of the paper in {folder}; try: make paper DATA=folder", file=sys.stderr)
        return 2
    head = ("data set", "n", "m", "c", "as in Table 2", "levels", "CAIM s", "Q s")
    print("{:14}{:>6}{:>6}{:>4}  {:14}{:>8}{:>9}{:>9}".format(*head))
    for name, expected in published.items():
        path = folder / f"{STAND_INS.get(name, name)}.npz"
        if path.exists():
            print_row(path, expected[:3])
        else:
            print(f"{name:14}  not in {folder}")
    return 0


def print_row(path: Path, expected: list[int]) -> None:
    with np.load(path, allow_pickle=False) as archive:
        X, y = archive["X"], archive["y"]
    codes, caim_seconds = timed(lambda: X if path.stem in NOMINAL else CAIM().fit_transform(X, y))
    _, matrix_seconds = timed(lambda: cmi_matrix(codes, y))
    shape = [X.shape[1], X.shape[0], len(np.unique(y))]
    verdict = (
        "yes" if shape == expected else "a stand-in" if path.stem in STAND_INS.values() else "NO"
    )
    levels = encode(codes).levels.mean()
    print(
        f"{path.stem:14}{shape[0]:6}{shape[1]:6}{shape[2]:4}  {verdict:14}"
        f"{levels:8.1f}{caim_seconds:9.3f}{matrix_seconds:9.3f}"
    )


def timed(work):
    """The result of the second call, which compiles nothing, and its seconds."""
    work()
    start = perf_counter()
    return work(), perf_counter() - start


if __name__ == "__main__":
    sys.exit(main())
