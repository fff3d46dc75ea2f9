"""What pyproject.toml says is true: bounds, extras, licences, versions."""

import ast
import re
import sys
from fnmatch import fnmatch
from importlib.metadata import PackageNotFoundError, distribution

import pytest
from packaging.requirements import Requirement

from .minimum import FILE, ROOT, constraints, lowest, project

TEXTS = [*ROOT.glob("src/**/*.py"), *ROOT.glob("docs/*.rst"), ROOT / "README.md"]


def test_the_lowest_versions_that_are_tested_are_those_that_are_admitted():
    assert FILE.read_text() == constraints(), "run: make minimum"


def test_a_requirement_without_a_lower_bound_is_refused():
    with pytest.raises(ValueError, match="'numpy' has no lower bound"):
        lowest("numpy")


def test_every_extra_that_a_reader_is_told_to_install_is_there():
    told = {extra for path in TEXTS for found in re.findall(r"bestk\[([\w,]+)\]", path.read_text())
            for extra in found.split(",")}  # fmt: skip
    assert told >= {"cli", "plots", "report", "dask", "gpu"}
    assert told <= project()["optional-dependencies"].keys()


def test_the_classifiers_name_this_python():
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert f"Programming Language :: Python :: {version}" in project()["classifiers"]


def test_the_citation_is_that_of_this_version():
    assert f"\nversion: {project()['version']}\n" in (ROOT / "CITATION.cff").read_text()


def needed(name, extras=()):
    """The packages that one brings along, as far as they are installed."""
    found, todo = {}, [(name, tuple(extras))]
    while todo:
        name, extras = todo.pop()
        if (name, extras) in found:
            continue
        try:
            found[name, extras] = package = distribution(name)
        except PackageNotFoundError:
            continue
        for entry in map(Requirement, package.requires or []):
            sides = [{"extra": extra} for extra in ("", *extras)]
            if entry.marker is None or any(map(entry.marker.evaluate, sides)):
                todo.append((entry.name, tuple(sorted(entry.extras))))
    return {package.metadata["Name"].lower(): package.metadata for package in found.values()}


def test_nothing_that_a_user_installs_is_copyleft():
    packages = needed("bestk", ["cli", "plots", "report", "dask"])
    assert packages.keys() >= {"numpy", "scikit-learn", "matplotlib", "distributed"}
    for name, told in packages.items():
        short = (
            (told.get("License") or "").strip().partition("\n")[0]
        )  # some have the whole text there
        words = [short, told.get("License-Expression") or "", *(told.get_all("Classifier") or [])]
        assert not re.search(r"\b[AL]?GPL|General Public", " ".join(words)), name


def test_modules_that_need_an_extra_are_left_alone_where_it_is_not_installed():
    found = re.search(r"^NEEDS = (\{.*?\})$", (ROOT / "conftest.py").read_text(), re.M | re.S)
    needs = ast.literal_eval(found[1])
    for path in ROOT.glob("src/**/*.py"):
        at_top = set(re.findall(r"^(?:import|from) (\w+)", path.read_text(), re.M))
        if "dask" in at_top:  # comes with distributed
            at_top.add("distributed")
        for package in at_top & needs.keys():
            assert fnmatch(str(path.relative_to(ROOT)), needs[package]), path
