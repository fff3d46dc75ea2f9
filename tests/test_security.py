"""Nothing that is read is ever run, and nothing that is written runs elsewhere."""

import ast
from pathlib import Path

import numpy as np
import pytest

import bestk
from bestk.report import make_report

SOURCE = Path(bestk.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
UNSAFE = {"eval", "exec", "compile", "__import__"}
LOADS = {"load", "read_array"}  # of numpy


def calls(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            owner = getattr(getattr(node.func, "value", None), "id", "")
            yield name, owner, {each.arg: each.value for each in node.keywords}


def imports(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_module_neither_unpickles_nor_evaluates(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    modules = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve"}
    assert not modules & set(imports(tree))
    for name, owner, options in calls(tree):
        assert not (name in UNSAFE and owner in ("", "builtins")), f"{name} in {path}"
        if name in LOADS and owner in ("np", "numpy", "npy"):
            assert options["allow_pickle"].value is False
        assert not (name == "load" and owner in ("joblib", "torch", "yaml"))
        assert not (name in ("system", "popen") and owner == "os")
        assert not options.get("shell", ast.Constant(False)).value


def test_the_title_of_a_report_cannot_be_turned_around():
    y = np.arange(40) % 2
    X = np.column_stack([y, 1 - y, y])
    selector = bestk.SelectBestK(1, "maxrel").fit(X, y)
    page = make_report(selector, X, y, target="evil\u202egpj.exe", errors=False).html
    title = page.split("<title>")[1].split("</title>")[0]
    assert "\u202e" not in title
    assert r"\u202e" in title
