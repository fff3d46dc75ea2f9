"""The same bits from threads, forked and spawned workers at once: ``python -m hardening.crowds``.

A new process measures one table from several Python threads, from processes that it forks and
from joblib's workers, all at the same time, again and again.
"""

import argparse
import multiprocessing
import os
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
from joblib import Parallel, delayed

from bestk import CAIM, SelectBestK, cmi_matrix
from hardening.record import keep

EACH = 3  # threads, forked workers, joblib's workers


def answer(number: int) -> bytes:
    """The bits of all pairs and of a selection; the same for every number."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 60)), rng.integers(0, 3, 500)
    pairs = cmi_matrix(CAIM().fit_transform(X, y), y)
    support = SelectBestK(8, random_state=0).fit(X, y).get_support(indices=True)
    return pairs.tobytes() + support.tobytes()


def crowd(rounds: int) -> list[bytes]:
    """The answers of all, and those from before they were started."""
    answers = [answer(0)]  # kernels and their threads are there when others come
    team = [
        *(threading.Thread(target=lambda: answers.append(answer(0))) for _ in range(EACH)),
        threading.Thread(target=_fork, args=(answers, rounds)),
        threading.Thread(target=_spawn, args=(answers, rounds)),
    ]
    for each in team:
        each.start()
    for each in team:
        each.join()
    return answers


def _fork(answers: list[bytes], rounds: int) -> None:
    with multiprocessing.get_context("fork").Pool(EACH) as pool:
        answers.extend(pool.map_async(answer, range(EACH * rounds)).get(timeout=600))


def _spawn(answers: list[bytes], rounds: int) -> None:
    answers.extend(Parallel(EACH, backend="loky")(delayed(answer)(i) for i in range(EACH * rounds)))


def main() -> int:
    """Run a crowd in a new process, or be it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--one", action="store_true", help="in this process")
    options = parser.parse_args()
    if options.one:
        warnings.simplefilter("ignore")  # Python warns of forks where there are threads
        answers = crowd(options.rounds)
        print(len(answers), sum(each != answers[0] for each in answers))
        return 0
    return int(_run(options.rounds) > 0)


def _run(rounds: int) -> int:
    start = time.perf_counter()
    words = [sys.executable, "-m", "hardening.crowds", "--one", "--rounds", str(rounds)]
    done = subprocess.run(
        words, capture_output=True, text=True, timeout=1800,
        env=os.environ | {"OMP_NUM_THREADS": "3"},
    )  # fmt: skip
    said = done.stdout.split()[-2:] if done.returncode == 0 else ()
    tried, failed = map(int, said or (1, 1))
    if not said:
        print(done.stderr[-2000:])
    keep(
        "crowds",
        "threads, forked and spawned workers at once",
        tried,
        failed,
        time.perf_counter() - start,
    )
    return failed


if __name__ == "__main__":
    sys.exit(main())
