import math
import os

import pytest

from experiments.jobs import Job, work
from experiments.store import Store


def test_results_of_jobs_are_arguments_of_those_that_need_them(tmp_path, capsys):
    store, before = Store(tmp_path / "rows.jsonl"), dict(os.environ)
    jobs = [
        Job(("sum",), sum, (), (("a",), ("b",))),
        Job(("a",), math.factorial, (3,)),
        Job(("b",), math.factorial, (4,)),
        Job(("threads",), os.getenv, ("OMP_NUM_THREADS",)),
        Job(("wrong",), math.factorial, (-1,)),
        Job(("never",), sum, (), (("wrong",),)),
    ]
    with pytest.raises(SystemExit, match="1 jobs failed and 1 need them; the first: wrong: Value"):
        work(jobs, store, processes=2)
    assert store[("sum",)] == 6 + 24
    assert store[("threads",)] == "1"
    assert ("wrong",) not in store
    assert os.environ.get("OMP_NUM_THREADS") == before.get("OMP_NUM_THREADS")
    assert "failed: wrong" in capsys.readouterr().out
    work(jobs[:4], store)  # all is done: no process is started
