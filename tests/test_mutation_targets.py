"""Mutation testing knows every package, and names tests that exist."""

from pathlib import Path

import pytest

from hardening.mutation import targets

ROOT = Path(__file__).parents[1]
LEFT_OUT = {"native", "plots", "report"}  # C code, pictures and pages


def test_every_package_has_faults_put_into_it():
    packages = {path.parent.name for path in (ROOT / "src" / "bestk").glob("*/__init__.py")}
    assert packages - LEFT_OUT == set(targets.TESTS)


@pytest.mark.parametrize("name", sorted({n for t in targets.TESTS.values() for n in t.split()}))
def test_the_tests_exist(name):
    path = ROOT / "tests" / name
    assert path.is_dir() or path.with_suffix(".py").exists()


def test_tests_named_like_the_module_come_first():
    assert targets.nearest(ROOT, "bestk/bqp/solvers/_exact.py") == ["tests/solvers/test_exact.py"]
