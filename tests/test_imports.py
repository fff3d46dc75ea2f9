"""Private modules are imported by their own package only; pyproject.toml has the layers."""

import ast
import re
import sys
from collections import Counter
from pathlib import Path

import grimp
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

import bestk
from bestk import SelectBestK
from bestk.report import make_report

# Modules at the top and kernels, which every package uses.
SHARED = {"bestk._cached", "bestk._checks", "bestk._compat", "bestk.errors", "bestk.native"}
# A plain fit of ten features, and a report of breast cancer; see switches_between_packages.
MAX_SWITCHES = 300
MAX_SWITCHES_OF_REPORT = 5_000


def package(module: str) -> str:
    """The top-level package of a module, such as ``bestk.bqp``."""
    return ".".join(module.split(".")[:2])


def private_imports(graph: grimp.ImportGraph) -> set[tuple[str, str]]:
    """Importer and private module, for every import from another top-level package."""
    return {
        (importer, module)
        for module in graph.modules
        if "._" in module.removeprefix("bestk.")
        for importer in graph.find_modules_that_directly_import(module)
        if package(importer) != package(module)
    }


def test_private_modules_are_imported_by_their_own_package_only():
    assert private_imports(grimp.build_graph("bestk", cache_dir=None)) == set()


def test_an_import_from_another_package_is_found():
    graph = grimp.ImportGraph()
    graph.add_import(importer="bestk.selectors.steps", imported="bestk.bqp.solvers._exact")
    graph.add_import(importer="bestk.bqp.path", imported="bestk.bqp.solvers._exact")
    graph.add_import(importer="bestk.bqp.path", imported="bestk._checks")
    assert private_imports(graph) == {("bestk.selectors.steps", "bestk.bqp.solvers._exact")}


def switches_between_packages(run):
    """How often a call enters a function of another package than the one before, of ours.

    The kernels, their threads, and small helpers of the top level belong to every package.
    """
    entered = []

    def note(frame, event, arg):
        name = frame.f_globals.get("__name__", "")
        if event != "call" or not name.startswith("bestk."):
            return
        top = package(name)
        if top not in SHARED and entered[-1:] != [top]:
            entered.append(top)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(before)
    return len(entered)


def test_a_plain_fit_goes_from_package_to_package_and_seldom_back():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 15)), columns=[f"c{i}" for i in range(15)])
    y = (X["c0"] + X["c3"] + rng.normal(size=200) > 0).astype(int)
    SelectBestK(10).fit(X, y)  # imports are done
    assert switches_between_packages(lambda: SelectBestK(10).fit(X, y)) <= MAX_SWITCHES


@pytest.mark.filterwarnings("ignore")
def test_a_report_goes_from_package_to_package_and_seldom_back():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    selector = SelectBestK(10).fit(X, y)
    make_report(selector, X, y)  # imports are done
    assert switches_between_packages(lambda: make_report(selector, X, y)) <= MAX_SWITCHES_OF_REPORT


def names_in_imports(tree: ast.AST) -> set[str]:
    """Dotted names that a module imports, those of ``bestk`` apart."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name for name in names if name.partition(".")[0] not in ("bestk", "__future__")}


def private_names(source: str) -> set[str]:
    """Private names of other packages in a module: imported, or read off an imported module."""
    tree = ast.parse(source)
    imported = names_in_imports(tree)
    packages = {name.partition(".")[0] for name in imported} | {"np", "nw", "pd", "plt"}
    used = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            dotted = ast.unparse(node)
            if re.fullmatch(r"[\w.]+", dotted) and dotted.partition(".")[0] in packages:
                used.add(dotted)
    return {name for name in imported | used if re.search(r"\._[a-z]", name)}


def test_private_names_of_other_packages_are_in_one_file_only():
    files = sorted(Path(bestk.__file__).parent.rglob("*.py"))
    assert len(files) > 50
    private = {path.name: private_names(path.read_text(encoding="utf-8")) for path in files}
    assert {name for name, names in private.items() if names} == {"_compat.py"}


@pytest.mark.parametrize(
    "source",
    [
        "from sklearn.utils import _safe_indexing",
        "from sklearn.utils._param_validation import Interval",
        "import torch\ntorch.cuda._compile_kernel('')",
        "import numpy as np\nnp._core.multiarray",
    ],
)
def test_a_private_name_of_another_package_is_found(source):
    assert private_names(source)


def test_a_class_name_exists_once():
    names = Counter(
        node.name
        for path in Path(bestk.__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, count in names.items() if count > 1] == []
