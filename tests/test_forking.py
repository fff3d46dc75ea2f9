"""A process that is forked while another thread computes does not wait for that thread."""

import os
import signal
import sys
import threading
import time
from functools import cached_property as locked_property

import numpy as np
import pytest

from bestk import SelectBestK
from bestk._cached import cached_property
from bestk.bqp.lazy import CachedColumns
from bestk.bqp.problem import BQP

LONGEST = 30.0  # seconds for a child that takes milliseconds: a machine may be busy
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


def ends_in_time(work):
    """Whether a forked child that does some work ends without an error."""
    child = os.fork()
    if not child:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    deadline = time.monotonic() + LONGEST
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status == 0
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def lazy_problem(row_sums):
    return BQP(
        CachedColumns(lambda items: np.ones((3, len(items))), np.ones(3), row_sums=row_sums), 1
    )


@pytest.fixture
def busy_thread():
    """A thread that is computing the row sums of a problem until the test ends."""
    started, may_end = threading.Event(), threading.Event()

    def slow_sums():
        started.set()
        may_end.wait()
        return np.zeros(3)

    thread = threading.Thread(target=lazy_problem(slow_sums).row_sums)
    thread.start()
    started.wait()
    yield thread
    may_end.set()
    thread.join()


def test_one_object_does_not_wait_for_an_attribute_of_another(busy_thread):
    answers = []
    other = lazy_problem(lambda: np.zeros(3))
    thread = threading.Thread(target=lambda: answers.append(other.row_sums()), daemon=True)
    thread.start()
    thread.join(LONGEST)
    assert len(answers) == 1
    assert busy_thread.is_alive()


@forks
def test_a_child_does_not_wait_for_a_thread_of_its_parent(busy_thread):
    assert ends_in_time(lazy_problem(lambda: np.zeros(3)).row_sums)


@forks
@pytest.mark.parametrize("method", ["mrmr", "tpower"])
def test_children_that_are_forked_during_a_fit_fit_as_well(method):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (200, 12)), rng.integers(0, 2, 200)

    def fit():
        SelectBestK(3, method, n_jobs=1).fit(X, y)

    def fit_until_told():
        while not stopped.is_set():
            fit()

    fit()  # imports are done: a thread that imports holds a lock, too
    stopped = threading.Event()
    thread = threading.Thread(target=fit_until_told)
    thread.start()
    try:
        assert all(ends_in_time(fit) for _ in range(15))
    finally:
        stopped.set()
        thread.join()


def test_an_attribute_is_computed_once_for_each_object():
    calls = []

    class Square:
        def __init__(self, side):
            self.side = side

        @cached_property
        def area(self):
            """The area."""
            calls.append(self.side)
            return self.side**2

    small, large = Square(2), Square(3)
    assert [small.area, large.area, small.area] == [4, 9, 4]
    assert calls == [2, 3]
    assert Square.area.__doc__ == "The area."


def test_no_module_takes_attributes_with_a_lock():
    modules = [module for name, module in sys.modules.items() if name.startswith("bestk.")]
    users = [
        module.__name__
        for module in modules
        if any(value is locked_property for value in vars(module).values())
    ]
    assert users == []
